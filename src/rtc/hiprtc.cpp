// AMD's compiler.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include <nlohmann/json.hpp>

#include "src/rtc/vendor_compiler.hpp"

namespace icobench {
namespace {

// clang's flags that change device code.
std::vector<build_flag> device_flags() {
  using enum build_flag::form;
  return {{"-O", joined},
          {"-D", joined},
          {"-U", joined},
          {"-ffp-", joined},
          {"-fdenormal-fp-math", joined},
          {"-ffast-math", alone},
          {"-funsafe-math-optimizations", alone},
          {"-fassociative-math", alone},
          {"-freciprocal-math", alone},
          {"-ffinite-math-only", alone},
          {"-fhonor-infinities", alone},
          {"-fhonor-nans", alone},
          {"-fsigned-zeros", alone},
          {"-fapprox-func", alone},
          {"-fgpu-flush-denormals-to-zero", alone},
          {"-fgpu-approx-transcendentals", alone},
          {"-fhip-fp32-correctly-rounded-divide-sqrt", alone},
          {"-munsafe-fp-atomics", alone},
          {"-mllvm", pair},
          {"-Xarch_host", host},
          {"-Xlinker", host}};
}

template <class T>
T read(std::string_view image, std::size_t at) {
  if (at > image.size() || image.size() - at < sizeof(T)) {
    throw gpu::device_error("a code object that is cut off");
  }
  T value;
  std::memcpy(&value, image.data() + at, sizeof value);
  return value;
}

// What a code object says of its kernels, else null: see LLVM's "User Guide for AMDGPU Backend",
// code object metadata.
nlohmann::json metadata_of(std::string_view image) {
  constexpr Elf64_Word of_amd = 32;  // NT_AMDGPU_METADATA
  constexpr auto aligned = [](std::size_t size) { return (size + 3) / 4 * 4; };
  if (!image.starts_with(ELFMAG)) { return {}; }
  const auto header = read<Elf64_Ehdr>(image, 0);
  for (std::size_t n = 0; n < header.e_phnum; ++n) {
    const auto part = read<Elf64_Phdr>(image, header.e_phoff + n * header.e_phentsize);
    if (part.p_type != PT_NOTE) { continue; }
    for (std::size_t at = part.p_offset; at < part.p_offset + part.p_filesz;) {
      const auto note = read<Elf64_Nhdr>(image, at);
      at += sizeof note + aligned(note.n_namesz);
      if (note.n_type == of_amd) {
        return nlohmann::json::from_msgpack(image.substr(std::min(at, image.size()), note.n_descsz),
                                            true, false);
      }
      at += aligned(note.n_descsz);
    }
  }
  return {};
}

// Each compilation sets options of LLVM, which are of the whole process. That of ROCm 5.2 does so
// without a lock: of runs that compiled four kernels in two threads, every fourth freed memory
// twice. Later ones have a lock themselves.
std::mutex compiling;

class hiprtc final : public vendor_compiler {
 public:
  hiprtc(std::string driver, kernel_cache cache, const std::string& flags)
      : vendor_compiler({"libhiprtc",
                         "ICOBENCH_HIPRTC",
                         {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so",
                          "/opt/rocm/lib/libhiprtc.so", "libamdhip64.so.5"},
                         "hiprtc",
                         "Code",
                         &compiling},
                        std::move(driver), std::move(cache), known_flags(flags, device_flags())) {}

 private:
  // The library's own version is 9.0 whatever it is; that of its code generator says more. What
  // this one does not know must not be asked for: a library of ROCm 5.2 ends the program then.
  std::string prepare(const detail::library& l, std::pair<int, int>) override {
    if (has_generator(l)) { return read_generator(l); }
    generator_.emplace(
        std::vector<const char*>{"libamd_comgr.so.2", "libamd_comgr.so.3", "libamd_comgr.so"},
        RTLD_NODELETE);
    return generator_->loaded() && has_generator(*generator_) ? read_generator(*generator_) : "";
  }
  static bool has_generator(const detail::library& l) {
    return l.find<void()>("amd_comgr_get_isa_count") && l.find<void()>("amd_comgr_get_isa_name");
  }
  std::string read_generator(const detail::library& l) {
    const auto count_of = l.find<int(std::size_t*)>("amd_comgr_get_isa_count");
    const auto name_of = l.find<int(std::size_t, const char**)>("amd_comgr_get_isa_name");
    const auto version = l.find<void(std::size_t*, std::size_t*)>("amd_comgr_get_version");
    const std::size_t count = detail::ask<std::size_t>(count_of).value_or(0);
    for (std::size_t n = 0; n < count; ++n) {
      const std::string name = detail::ask<const char*>(name_of, n).value_or("");
      known_.insert(name.substr(name.rfind('-') + 1));  // amdgcn-amd-amdhsa--gfx90a
    }
    std::size_t major = 0, minor = 0;
    if (version) { version(&major, &minor); }
    return "code generator " + std::to_string(major) + "." + std::to_string(minor);
  }

  // gfx90a:sramecc+:xnack- is a gfx90a.
  std::string unknown(const std::string& architecture) const override {
    const std::string base = architecture.substr(0, architecture.find(':'));
    if (known_.contains(base)) { return ""; }
    return known_.empty() ? "nothing is compiled at run time: libamd_comgr, which knows what "
                            "libhiprtc can compile for, is not found"
                          : "nothing is compiled at run time: this libhiprtc does not know " + base;
  }
  // No header but those it is given: the system's are for the host.
  std::vector<std::string> options() const override { return {"-std=c++20", "-nostdinc"}; }
  void describe(gpu::compiled_kernel& k) const override {
    const nlohmann::json metadata = metadata_of({k.image.data(), k.image.size()});
    if (!metadata.is_object()) { return; }
    for (const nlohmann::json& one : metadata.value("amdhsa.kernels", nlohmann::json::array())) {
      if (one.value(".name", "") != gpu::compiled_kernel::name) { continue; }
      k.registers = one.value(".vgpr_count", 0);
      // Those spilled into accumulation registers are not in memory.
      k.spill_bytes = std::min(4 * one.value(".vgpr_spill_count", std::size_t(0)),
                               one.value(".private_segment_fixed_size", std::size_t(0)));
    }
  }

  std::optional<detail::library> generator_;
  std::set<std::string> known_;
};

}  // namespace

std::shared_ptr<gpu::kernel_compiler> make_hiprtc(std::string driver, kernel_cache cache,
                                                  const std::string& flags) {
  return std::make_shared<hiprtc>(std::move(driver), std::move(cache), flags);
}

}  // namespace icobench
