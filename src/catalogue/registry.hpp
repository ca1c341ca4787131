// The variants of all chains. Tests, benchmarks and tools walk it; no other list exists.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <icobench/chain.hpp>
#include <icobench/errors.hpp>
#include <icobench/gpu/device.hpp>
#include <icobench/gpu/kernel_compiler.hpp>
#include <icobench/gpu/kernel_facts.hpp>
#include <icobench/kernel.hpp>
#include <icobench/launch_text.hpp>
#include <icobench/storage.hpp>

#include "src/catalogue/launch_space.hpp"

namespace icobench {

// What a variant says of itself: see kernel_info.
struct variant_info {
  std::string chain, schedule, fusion = "separate", feature, description;
  bool roofline = false;

  variant_info() = default;
  variant_info(const kernel_info& k)
      : chain(k.chain),
        schedule(k.schedule),
        fusion(k.fusion),
        feature(k.feature),
        description(k.description),
        roofline(k.roofline) {}
};

// A variant made ready for one storage: run() enqueues its launches.
struct plan {
  std::vector<gpu::kernel_facts> kernels;  // empty on the CPU
  std::function<void()> run;
};

// A variant compiled for one backend, precision and (strided) edge ordering.
struct implementation {
  std::string backend;
  precision precision_ = precision::float64;
  ordering ordering_ = ordering::per_orientation;
  layout layout_ = layout::ifirst;
  std::vector<launch> defaults{};                       // one for each launch
  std::function<std::vector<launch_space>()> spaces{};  // what a search may try; none on the CPU
  std::function<plan(gpu::device&, const storage&, const std::vector<launch>&)> prepare{};
  // Of these launches, what `prepare` will have compiled at run time; none on the CPU.
  std::function<std::vector<gpu::kernel_source>(const storage&, const std::vector<launch>&)>
      sources{};
  bool copies = false;       // takes copies of a rectangle
  bool needs_torus = false;  // indirect, but only for tables in the slot order of a torus
};

struct variant {
  variant_info info;
  access access_ = access::strided;
  std::vector<implementation> implementations;
  std::map<std::string, std::string> absent;  // backends that cannot have it, and why

  // chain/access/schedule/fusion[/feature]
  std::string name() const {
    return info.chain + "/" + std::string(to_string(access_)) + "/" + info.schedule + "/" +
           info.fusion + (info.feature.empty() ? "" : "/" + info.feature);
  }
  // The one for these choices, or nullptr.
  const implementation* find(std::string_view backend, precision p, ordering o) const {
    for (const implementation& i : implementations) {
      if (i.backend == backend && i.precision_ == p && i.ordering_ == o) { return &i; }
    }
    return nullptr;
  }
};

// Opens devices; both throw gpu::device_error.
struct backend_entry {
  std::unique_ptr<gpu::device> (*open)(int index) = nullptr;
  std::vector<gpu::device_facts> (*list)() = nullptr;  // its devices, without opening them

  std::unique_ptr<gpu::device> operator()(int index = 0) const { return open(index); }
};

class registry {
 public:
  // Adds an implementation to the variant of that name, which appears with its first one. Throws
  // std::logic_error where the variant has one for the same choices: it would never be found.
  void add(const variant_info& info, access a, implementation i) {
    if (!find_chain(info.chain)) {
      std::string known;
      for (const chain& c : chain_table) { known += " " + std::string(c.name); }
      throw std::logic_error("no chain is named " + info.chain + "; there are" + known);
    }
    variant& v = entry(info, a);
    if (v.find(i.backend, i.precision_, i.ordering_)) {
      throw std::logic_error("two variants are named " + v.name() + ": give one a feature");
    }
    v.implementations.push_back(std::move(i));
  }
  // Says why a backend cannot have a variant that others have.
  void add_absent(const variant_info& info, access a, std::string_view backend,
                  std::string_view reason) {
    entry(info, a).absent[std::string(backend)] = reason;
  }
  void add_backend(std::string_view name, backend_entry b) { backends_[std::string(name)] = b; }

  // What computes the seams of patches for a chain, for any numbering of edges.
  void add_seams(const std::string& chain, implementation i) {
    seams_[{chain, i.backend, i.precision_}] = std::move(i);
  }
  const implementation* seams_of(const std::string& chain, const implementation& like) const {
    const auto found = seams_.find({chain, like.backend, like.precision_});
    return found == seams_.end() ? nullptr : &found->second;
  }

  const std::deque<variant>& variants() const { return variants_; }
  const std::map<std::string, backend_entry>& backends() const { return backends_; }

  // Lets a file add its variants to `collecting`; returns true. Nobody could catch before main()
  // what is wrong with them: instance() throws it, as input_error.
  static bool collect(const std::string& file, void (*add)(registry&));

  // Where the sources that the build generates, one for each variant file and backend, register
  // before main().
  static registry& collecting();

  // All variants of this program: the registered ones, the strided ones once more as patched ones,
  // together with what computes seams, and, for each chain of several stencils, the
  // fusion `separate` put together from the variants of its stencils; for the chain of three also
  // fusions of the first two followed by the third.
  static const registry& instance();

 private:
  variant& entry(const variant_info& info, access a) {
    variant wanted{info, a, {}, {}};
    for (variant& v : variants_) {
      if (v.name() == wanted.name()) { return v; }
    }
    return variants_.emplace_back(std::move(wanted));
  }

  std::string fault_;
  std::deque<variant> variants_;
  std::map<std::string, backend_entry> backends_;
  std::map<std::tuple<std::string, std::string, precision>, implementation> seams_;
};

}  // namespace icobench
