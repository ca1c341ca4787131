// Compiled kernels on disk, so that a second run compiles nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <icobench/gpu/kernel_compiler.hpp>
#include <icobench/grids/hash.hpp>

namespace icobench {

std::string hexadecimal(std::uint64_t);

// Nothing that is wrong with the folder or a file is an error: the kernel is compiled again.
class kernel_cache {
 public:
  // $ICOBENCH_CACHE, else $XDG_CACHE_HOME/icobench, else ~/.cache/icobench, else none.
  static kernel_cache of_user();
  // "": keeps nothing.
  explicit kernel_cache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // What was added under this key, unless the file is damaged.
  std::optional<gpu::compiled_kernel> find(const std::string& key) const;
  // Other processes see the whole file or none.
  void add(const std::string& key, const gpu::compiled_kernel&) const;

  std::filesystem::path file_of(const std::string& key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace icobench
