#include "src/catalogue/source.hpp"

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace icobench {
namespace {

// A type as C++ writes it.
std::string type_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), &std::free);
  return text ? text.get() : type.name();
}

// The words of the kernel's object; those of padding are 0.
std::vector<std::uint32_t> words_of(const gpu_variant& v, const kernel_choice& c,
                                    const storage& s) {
  const bound_kernel b = v.bind(c, s);
  std::vector<std::uint32_t> words(c.kernel_bytes / sizeof(std::uint32_t));
  std::memcpy(words.data(), b.object.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

// Those that do not depend on where the problem lies, with their numbers.
std::vector<std::pair<std::uint32_t, std::uint32_t>> constant_words(const gpu_variant& v,
                                                                    const kernel_choice& c,
                                                                    const storage& s) {
  const auto words = words_of(v, c, s), others = words_of(v, c, s.without_data());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  for (std::uint32_t n = 0; n < words.size(); ++n) {
    if (words[n] == others[n]) { result.emplace_back(n, words[n]); }
  }
  return result;
}

// The shape of a launch as C++ writes it: one like the choice's.
std::string shape_name(const compiled_bounds& like, const launch& l) {
  const auto list = [](auto... numbers) {
    std::string text;
    ((text += (text.empty() ? "<" : ", ") + std::to_string(numbers)), ...);
    return text + ">";
  };
  const gpu::extent3& b = l.block;
  return like.any_levels
             ? "icobench::compiled_pipeline" + list(b.x, b.y, l.stages, l.copy_bytes, l.min_blocks)
             : "icobench::compiled_shape" + list(b.x, b.y, b.z, l.levels, l.cluster, l.min_blocks);
}

}  // namespace

std::string why_not_at_run_time(const gpu_variant& v, const gpu::device& device) {
  if (v.header.empty()) {
    return "the header of this kernel is not known, so that it could be compiled at run time";
  }
  return device.compiler() ? device.compiler()->unavailable(device.limits().architecture)
                           : "nothing is compiled at run time";
}

const kernel_choice* choice_at_run_time(const kernel_description& d, const launch& l) {
  const auto differs_in_bounds = [&](const kernel_choice& c) {
    if (l.tables != c.bounds.tables) { return false; }
    if (!c.bounds.shaped) { return (l.stages | l.copy_bytes | l.cluster) == 0; }
    // Tensor maps have to be where the object is, not where its constants are.
    return (c.bounds.any_levels ? l.cluster : l.stages | l.copy_bytes) == 0 &&
           !(l.constants && c.set_boxes);
  };
  for (const kernel_choice& c : d.choices) {
    if (differs_in_bounds(c)) { return &c; }
  }
  return nullptr;
}

unsigned bound_at_run_time(const gpu::extent3& block) {
  return block.volume() <= max_block_threads ? max_block_threads
         : block.volume() <= 512             ? 512
                                             : 1024;
}

gpu::kernel_source source_of(const gpu_variant& v, const kernel_choice& c, const storage& s,
                             const launch& l) {
  gpu::kernel_source source{std::string(v.header), type_name(*c.object_type), c.object_bytes,
                            l.min_blocks, bound_at_run_time(l.block)};
  if (c.bounds.shaped) {  // the object is the same for each
    source.type = "icobench::detail::in_order<" + type_name(*c.kernel_type) + ", " +
                  shape_name(c.bounds, l) + ">";
    source.max_threads = unsigned(l.block.volume());
  }
  if (l.constants) { source.constants = constant_words(v, c, s); }
  return source;
}

}  // namespace icobench
