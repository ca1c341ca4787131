#include "src/catalogue/registry.hpp"

#include <algorithm>

namespace icobench {
namespace {

// The chain that consists of stage s of chain c.
const chain& single(const chain& c, stage s) {
  const stage_info& one = info(s);
  return *find_chain(c.vertical && one.rules.vertical ? one.rules.vertical : one.name);
}

// The variant of stage s that launches like v, or nullptr.
const variant* counterpart(const registry& r, const chain& c, stage s, const variant& v,
                           const std::string& feature) {
  for (const variant& other : r.variants()) {
    if (other.info.chain == single(c, s).name && other.access_ == v.access_ &&
        other.info.schedule == v.info.schedule && other.info.fusion == "separate" &&
        other.info.feature == feature) {
      return &other;
    }
  }
  return nullptr;
}

plan join(const std::vector<implementation>& parts, gpu::device& device, const storage& s,
          const std::vector<launch>& launches) {
  plan result;
  std::vector<std::function<void()>> runs;
  auto next = launches.begin();
  for (const implementation& part : parts) {
    const auto last = next + std::ptrdiff_t(part.defaults.size());
    plan p = part.prepare(device, s, {next, last});
    next = last;
    result.kernels.insert(result.kernels.end(), p.kernels.begin(), p.kernels.end());
    runs.push_back(std::move(p.run));
  }
  result.run = [runs = std::move(runs)] {
    for (const auto& run : runs) { run(); }
  };
  return result;
}

std::vector<gpu::kernel_source> sources(const std::vector<implementation>& parts, const storage& s,
                                        const std::vector<launch>& launches) {
  std::vector<gpu::kernel_source> result;
  auto next = launches.begin();
  for (const implementation& part : parts) {
    const auto last = next + std::ptrdiff_t(part.defaults.size());
    for (gpu::kernel_source& each : part.sources(s, {next, last})) {
      result.push_back(std::move(each));
    }
    next = last;
  }
  return result;
}

// The parts one after another, or no defaults where one lacks this implementation.
implementation joined(const std::vector<const variant*>& parts, const implementation& like) {
  implementation result = like;
  result.defaults.clear();
  std::vector<implementation> each;
  for (const variant* part : parts) {
    const implementation* i = part->find(like.backend, like.precision_, like.ordering_);
    if (!i || i->layout_ != like.layout_) { return {}; }
    each.push_back(*i);
    result.needs_torus |= i->needs_torus;
    result.defaults.insert(result.defaults.end(), i->defaults.begin(), i->defaults.end());
  }
  result.prepare = [each](gpu::device& d, const storage& s, const std::vector<launch>& l) {
    return join(each, d, s, l);
  };
  if (like.spaces) {
    result.spaces = [each] {
      std::vector<launch_space> all;
      for (const implementation& part : each) {
        for (launch_space& space : part.spaces()) { all.push_back(std::move(space)); }
      }
      return all;
    };
  }
  if (like.sources) {
    result.sources = [each](const storage& s, const std::vector<launch>& l) {
      return sources(each, s, l);
    };
  }
  return result;
}

void add_joined(registry& all, const std::vector<const variant*>& parts, const variant_info& info) {
  if (std::find(parts.begin(), parts.end(), nullptr) != parts.end()) { return; }
  for (const implementation& i : parts.front()->implementations) {
    implementation whole = joined(parts, i);
    if (!whole.defaults.empty()) { all.add(info, parts.front()->access_, std::move(whole)); }
  }
}

// Adds to `all` the fusion `separate` of chain c: stencils launched one after another, for every
// schedule that all of them have.
void add_separate(registry& all, const registry& registered, const chain& c) {
  for (const variant& first : registered.variants()) {
    if (first.info.chain != single(c, c.stages.front()).name || first.info.fusion != "separate") {
      continue;
    }
    std::vector<const variant*> parts;
    for (const stage s : c.stages) {
      parts.push_back(counterpart(registered, c, s, first, first.info.feature));
    }
    variant_info info = first.info;
    info.chain = c.name;
    info.description = "the " + info.schedule + " variants of the stencils one after another, " +
                       "intermediates in memory";
    add_joined(all, parts, info);
  }
}

// Adds to `all`, for each way to fuse all stages of a chain but the last one, the fusion of that
// name and "_separate": followed by the last one in the same schedule.
void add_last_separate(registry& all, const registry& registered, const chain& c) {
  const auto fused = c.stages.first(c.stages.size() - 1);
  if (fused.size() < 2) { return; }
  for (const variant& first : registered.variants()) {
    const chain& of = *find_chain(first.info.chain);
    if (first.info.roofline || of.vertical != c.vertical ||
        !std::equal(of.stages.begin(), of.stages.end(), fused.begin(), fused.end())) {
      continue;
    }
    variant_info info = first.info;
    info.chain = c.name;
    info.fusion += "_separate";
    info.description += "; then " + std::string(icobench::info(c.stages.back()).name);
    add_joined(all, {&first, counterpart(registered, c, c.stages.back(), first, "")}, info);
  }
}

registry completed(const registry& registered) {
  registry all = registered;
  for (const chain& c : chain_table) {
    if (c.stages.size() > 1) {
      add_separate(all, registered, c);
      add_last_separate(all, registered, c);
    }
  }
  return all;
}

}  // namespace

registry& registry::collecting() {
  static registry registered;
  return registered;
}

bool registry::collect(const std::string& file, void (*add)(registry&)) {
  try {
    add(collecting());
  } catch (const std::logic_error& error) { collecting().fault_ = file + ": " + error.what(); }
  return true;
}

const registry& registry::instance() {
  if (!collecting().fault_.empty()) { throw input_error(collecting().fault_); }
  static const registry all = completed(collecting());
  return all;
}

}  // namespace icobench
