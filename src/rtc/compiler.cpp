#include "src/rtc/compiler.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "src/support/build_info.hpp"
#include "src/support/read_json.hpp"

namespace icobench {

header_folder header_folder::find() {
  namespace fs = std::filesystem;
  const char* const chosen = std::getenv("ICOBENCH_HEADERS");
  std::vector<std::string> places{ICOBENCH_HEADERS_BUILT, ICOBENCH_HEADERS_INSTALLED};
  if (chosen) { places = {chosen}; }
  std::string looked;
  for (const fs::path place : places) {
    const fs::path library = place / "icobench";
    if (fs::exists(library / "kernel.hpp") && fs::is_directory(library / "kernels")) {
      return {place.string()};
    }
    looked += (looked.empty() ? "" : " or ") + place.string();
  }
  throw gpu::device_error("the headers of icobench are not in " + looked +
                          ": set ICOBENCH_HEADERS to the folder that has icobench/kernel.hpp");
}

std::string header_folder::hash() const {
  namespace fs = std::filesystem;
  std::set<fs::path> files;
  // Installed, `path` may be that of the whole system. In the source tree kernels/ is a link.
  for (const fs::path& folder :
       {fs::path(path) / "icobench", fs::path(path) / "icobench/kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && entry.path().extension() == ".hpp") {
        files.insert(entry.path());
      }
    }
  }
  std::uint64_t hash = hash_of("");
  for (const fs::path& file : files) {
    hash = hash_of(file.lexically_relative(path).string(), hash);
    hash = hash_of(read_text(file), hash);
  }
  return hexadecimal(hash);
}

std::shared_ptr<gpu::kernel_compiler> make_compiler(const gpu::device& d) {
  const auto make = d.backend() == "cuda"  ? &make_nvrtc
                    : d.backend() == "hip" ? &make_hiprtc
                                           : nullptr;
  if (!make) { return nullptr; }
  static const auto of_all =
      make(d.facts().driver, kernel_cache::of_user(), build_info()["gpu_flags"].get<std::string>());
  return of_all;
}

std::size_t compile_ahead(gpu::kernel_compiler& compiler,
                          const std::vector<gpu::kernel_source>& sources,
                          const std::string& architecture) {
  const std::set<gpu::kernel_source> distinct(sources.begin(), sources.end());
  const std::vector<gpu::kernel_source> all(distinct.begin(), distinct.end());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < all.size(); n = next++) {
      try {
        compiler.compile(all[n], architecture);
      } catch (const std::exception&) {  // comes again to who asks for it
      }
    }
  };
  std::vector<std::jthread> workers;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t n = 0; n < std::min(cores, all.size()); ++n) { workers.emplace_back(work); }
  workers.clear();  // waits
  return all.size();
}

}  // namespace icobench
