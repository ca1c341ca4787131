// What NVRTC and hipRTC have in common: the latter is made after the former, with other names.
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <icobench/types.hpp>

#include "src/rtc/compiler.hpp"
#include "src/support/library.hpp"

namespace icobench {

// A flag of nvcc or clang.
struct build_flag {
  enum class form {
    alone,   // -flag; -fno-flag is the same as -fflag
    value,   // -flag=value or -flag value
    list,    // the same with several values between commas
    joined,  // -flagVALUE or -flag VALUE; also all flags that begin so
    pair,    // -flag value, which are two words to the compiler at run time, too
    host     // -flag value, and both are left out
  };
  std::string_view name;  // with one dash
  form form_;
};

// Those of a build's flags that are known, as the compiler at run time takes them.
std::vector<std::string> known_flags(const std::string& flags,
                                     const std::vector<build_flag>& known);

class vendor_compiler : public gpu::kernel_compiler {
 public:
  std::string unavailable(const std::string& architecture) final;
  std::shared_ptr<const gpu::compiled_kernel> compile(const gpu::kernel_source&,
                                                      const std::string& architecture) final;

 protected:
  struct vendor {
    std::string library;   // for people
    const char* variable;  // of the environment: names another file
    std::vector<const char*> files;
    std::string prefix, image;        // of the functions' names, and what they call an image
    std::mutex* compiling = nullptr;  // held meanwhile, where threads cannot do so at once
  };
  vendor_compiler(vendor v, std::string driver, kernel_cache cache, std::vector<std::string> flags)
      : vendor_(std::move(v)),
        driver_(std::move(driver)),
        cache_(std::move(cache)),
        flags_(std::move(flags)) {}

  // Called once, when the library is loaded. Returns what else makes its version, part of what
  // cached kernels are for.
  virtual std::string prepare(const detail::library&, std::pair<int, int> /*version*/) {
    return "";
  }
  // Why it cannot compile for this one, else "". The library is loaded.
  virtual std::string unknown(const std::string&) const { return ""; }
  virtual std::string target_of(const std::string& architecture) const { return architecture; }
  // Those of every compilation, but for the architecture, the headers and the build's flags.
  virtual std::vector<std::string> options() const = 0;
  // Registers and spills.
  virtual void describe(gpu::compiled_kernel&) const = 0;

 private:
  // What is called of the library: its functions return 0 or an error.
  struct functions {
    using program = void*;

    functions(const detail::library&, const vendor&);
    bool complete() const;

    int (*version)(int*, int*);
    const char* (*error_string)(int);
    int (*create)(program*, const char*, const char*, int, const char* const*, const char* const*);
    int (*destroy)(program*);
    int (*compile)(program, int, const char* const*);
    int (*log_size)(program, std::size_t*);
    int (*log)(program, char*);
    int (*image_size)(program, std::size_t*);
    int (*image)(program, char*);
  };
  using result = std::shared_ptr<const gpu::compiled_kernel>;

  std::string load();
  std::vector<std::string> all_options(const std::string& architecture) const;
  std::string key_of(const std::string& text, const std::string& architecture) const;
  gpu::compiled_kernel find_or_make(const gpu::kernel_source&,
                                    const std::string& architecture) const;
  gpu::compiled_kernel make(const gpu::kernel_source&, const std::string& text,
                            const std::string& architecture) const;
  void check(int status, const char* what) const;

  vendor vendor_;
  std::string driver_;
  kernel_cache cache_;
  std::vector<std::string> flags_;
  std::once_flag loaded_;
  std::string reason_;
  std::optional<detail::library> library_;
  std::optional<functions> api_;
  std::string version_;
  header_folder headers_;
  std::string headers_hash_;
  std::mutex mutex_;
  std::map<std::pair<gpu::kernel_source, std::string>, std::shared_future<result>> kernels_;
};

}  // namespace icobench
