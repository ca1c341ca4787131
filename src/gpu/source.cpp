#include "src/gpu/source.hpp"

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/gpu/kernel_object.hpp"

namespace icobench {
namespace {

// A type as C++ writes it.
std::string type_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr), &std::free);
  return text ? text.get() : type.name();
}

// The words of the kernel's object; those of padding are 0.
std::vector<std::uint32_t> words_of(const gpu_choice& c, const storage& s) {
  const kernel_object object(c.ordered_bytes);
  c.make_ordered(object.data(), s, false, 0);
  std::vector<std::uint32_t> words(c.kernel_bytes / sizeof(std::uint32_t));
  std::memcpy(words.data(), object.data(), words.size() * sizeof(std::uint32_t));
  return words;
}

// Those that compare so with what they would be with another storage.
template <class Compare>
std::vector<std::pair<std::uint32_t, std::uint32_t>> words_that(const Compare& compare,
                                                                const gpu_choice& c,
                                                                const storage& s,
                                                                const storage& other) {
  const auto words = words_of(c, s), others = words_of(c, other);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  for (std::uint32_t n = 0; n < words.size(); ++n) {
    if (compare(words[n], others[n])) { result.emplace_back(n, words[n]); }
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

std::string why_not_at_run_time(const gpu_description& d, const gpu::device& device) {
  if (d.header.empty()) {
    return "the header of this kernel is not known, so that it could be compiled at run time";
  }
  return device.compiler() ? device.compiler()->unavailable(device.facts().architecture)
                           : "nothing is compiled at run time";
}

const gpu_choice* choice_at_run_time(const gpu_description& d, const launch& l) {
  const auto differs_in_bounds = [&](const gpu_choice& c) {
    if (l.tables != c.bounds.tables) { return false; }
    if (!c.bounds.shaped) { return (l.stages | l.copy_bytes | l.cluster) == 0; }
    // Tensor maps have to be where the object is, not where its constants are.
    const bool constants = l.constants || l.loads != hint::by_kernel;
    return l.grid == 0 && (c.bounds.any_levels ? l.cluster : l.stages | l.copy_bytes) == 0 &&
           !(constants && c.set_boxes);
  };
  for (const gpu_choice& c : d.choices) {
    if (differs_in_bounds(c)) { return &c; }
  }
  return nullptr;
}

unsigned bound_at_run_time(const gpu::extent3& block) {
  return block.volume() <= max_block_threads ? max_block_threads
         : block.volume() <= 512             ? 512
                                             : 1024;
}

gpu::kernel_source source_of(const gpu_description& d, const gpu_choice& c, const storage& s,
                             const launch& l) {
  gpu::kernel_source source{std::string(d.header), type_name(*c.ordered_type), c.ordered_bytes,
                            l.min_blocks, bound_at_run_time(l.block)};
  if (c.bounds.shaped) {  // the object is the same for each
    source.type = "icobench::detail::in_order<" + type_name(*c.kernel_type) + ", " +
                  shape_name(c.bounds, l) + ">";
    source.max_threads = unsigned(l.block.volume());
  } else if (l.grid > 0) {
    source.type = type_name(*c.in_turns_type);
    source.size = c.in_turns_bytes;
  }
  if (l.constants) {
    source.constants = words_that(std::equal_to<>(), c, s, s.without_data());
  } else if (l.loads != hint::by_kernel) {
    storage other = s;
    for (raw_view& f : other.fields) { f.caching = hint(int(f.caching) + 1); }
    source.constants = words_that(std::not_equal_to<>(), c, s, other);
  }
  return source;
}

}  // namespace icobench
