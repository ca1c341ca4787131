// NVIDIA's compiler.
#include <cstdlib>

#include "src/rtc/vendor_compiler.hpp"

namespace icobench {
namespace {

// nvcc's flags that change device code. Its -O is for the host.
std::vector<build_flag> device_flags() {
  using enum build_flag::form;
  return {{"-fmad", value},
          {"-ftz", value},
          {"-prec-div", value},
          {"-prec-sqrt", value},
          {"-use_fast_math", alone},
          {"-extra-device-vectorization", alone},
          {"-restrict", alone},
          {"-maxrregcount", value},
          {"-Xptxas", list},
          {"-ptxas-options", list},
          {"-device-debug", alone},
          {"-G", alone},
          {"-D", joined},
          {"-define-macro", value},
          {"-U", joined},
          {"-undefine-macro", value},
          {"-Xcompiler", host},
          {"-compiler-options", host},
          {"-Xlinker", host},
          {"-linker-options", host}};
}

// The number before `words` in the compiler's log, else 0.
long number_before(const std::string& log, const std::string& words) {
  const auto at = log.find(words);
  if (at == log.npos) { return 0; }
  auto begin = at;
  while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') { --begin; }
  return std::atol(log.substr(begin, at - begin).c_str());
}

class nvrtc final : public vendor_compiler {
 public:
  nvrtc(std::string driver, kernel_cache cache, const std::string& flags)
      : vendor_compiler(
            {"libnvrtc",
             "ICOBENCH_NVRTC",
             {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
              "/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12"},
             "nvrtc",
             "CUBIN"},
            std::move(driver), std::move(cache), known_flags(flags, device_flags())) {}

 private:
  // The instructions of one architecture alone (clusters, multicast) are among what kernels use.
  std::string target_of(const std::string& architecture) const override {
    const bool specific = architecture.size() > 5 || architecture >= "sm_90";
    return architecture.ends_with('a') || !specific ? architecture : architecture + "a";
  }
  // What comes from its own cache (12.9 and later) has no log, in which registers and spills are;
  // ours keeps both.
  std::string prepare(const detail::library&, std::pair<int, int> version) override {
    has_cache_ = version >= std::pair(12, 9);
    return "";
  }
  std::vector<std::string> options() const override {
    std::vector<std::string> all{
        "--std=c++20",
        "--device-as-default-execution-space",  // host functions are read, never compiled
        "--ptxas-options=-v"};
    if (has_cache_) { all.emplace_back("--no-cache"); }
    return all;
  }
  void describe(gpu::compiled_kernel& k) const override {
    k.registers = int(number_before(k.log, " registers"));
    k.spill_bytes = std::size_t(number_before(k.log, " bytes spill stores"));
  }

  bool has_cache_ = false;
};

}  // namespace

std::shared_ptr<gpu::kernel_compiler> make_nvrtc(std::string driver, kernel_cache cache,
                                                 const std::string& flags) {
  return std::make_shared<nvrtc>(std::move(driver), std::move(cache), flags);
}

}  // namespace icobench
