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

// Works that may overlap, each on a stream of its own as far as streams go, between what the
// current stream had before and what it gets afterwards.
class side_by_side {
 public:
  side_by_side(gpu::device& device, std::vector<std::function<void()>> works)
      : device_(&device), works_(std::move(works)) {
    constexpr std::size_t most = 8;  // that a device runs at once without being asked to
    start_ = device.make_event();
    for (std::size_t n = 0; n < std::min(most, works_.size()); ++n) {
      lanes_.push_back({device.make_stream(), device.make_event()});
    }
  }

  void operator()() const {
    start_->record();
    for (std::size_t n = 0; n < lanes_.size(); ++n) {
      device_->on(*lanes_[n].stream, [&] {
        start_->await();
        for (std::size_t w = n; w < works_.size(); w += lanes_.size()) { works_[w](); }
        lanes_[n].end->record();
      });
    }
    for (const lane& l : lanes_) { l.end->await(); }
  }

 private:
  struct lane {
    std::unique_ptr<gpu::stream> stream;
    std::unique_ptr<gpu::event> end;
  };
  gpu::device* device_;
  std::vector<std::function<void()>> works_;
  std::unique_ptr<gpu::event> start_;
  std::vector<lane> lanes_;
};

// The storage as a strided one: of each patch in which the last stage has points. Patches of one
// size at equal distances are one for kernels that take copies.
std::vector<storage> patches_of(const storage& s, stage last, bool copies) {
  const auto n = std::size_t(last);
  std::vector<storage> result;
  for (const auto& rectangles : s.patches) {
    const rectangle& r = rectangles[n];
    if (r.ni == 0) { continue; }
    if (copies && !result.empty()) {
      rectangle& before = result.back().rectangles[n];
      const index_t distance = (r.j0 - before.j0) / before.copies;
      const bool another = r.i0 == before.i0 && r.ni == before.ni && r.nj == before.nj &&
                           distance * before.copies == r.j0 - before.j0 &&
                           (before.copies == 1 || distance == before.distance);
      if (another) {
        ++before.copies;
        before.distance = distance;
        continue;
      }
    }
    result.push_back(s);
    result.back().rectangles = rectangles;
  }
  return result;
}

// A strided variant in all patches, and what computes the seams.
plan prepare_patched(const implementation& strided, const implementation& seams, stage last,
                     gpu::device& device, const storage& s, const std::vector<launch>& launches) {
  std::vector<std::function<void()>> works;
  plan result;
  if (s.seams[std::size_t(last)].count > 0) {  // the few blocks of the seams begin first
    plan p = seams.prepare(device, s, seams.defaults);
    works.push_back(std::move(p.run));
    result.kernels = std::move(p.kernels);
  }
  bool first = true;
  for (const storage& patch : patches_of(s, last, strided.copies)) {
    plan p = strided.prepare(device, patch, launches);
    works.push_back(std::move(p.run));
    if (std::exchange(first, false)) {
      result.kernels.insert(result.kernels.begin(), p.kernels.begin(), p.kernels.end());
    }
  }
  if (first) { throw unsupported("no patch of the grid is large enough for this chain"); }
  result.run = [all = std::make_shared<side_by_side>(device, std::move(works))] { (*all)(); };
  return result;
}

// Adds to `all`, for each strided variant that was registered, the patched one.
void add_patched(registry& all) {
  std::vector<std::pair<variant_info, implementation>> found;
  for (const variant& v : all.variants()) {
    if (v.access_ != access::strided || v.info.roofline) { continue; }
    const stage last = find_chain(v.info.chain)->stages.back();
    for (const implementation& i : v.implementations) {
      const implementation* const seams = all.seams_of(v.info.chain, i);
      if (!seams) { continue; }
      implementation whole = i;
      whole.prepare = [i, seams = *seams, last](gpu::device& d, const storage& s,
                                                const std::vector<launch>& l) {
        return prepare_patched(i, seams, last, d, s, l);
      };
      whole.sources = [i, last](const storage& s, const std::vector<launch>& l) {
        if (s.patches.empty()) { return i.sources(s, l); }  // of whatever grid
        std::vector<gpu::kernel_source> result;
        for (const storage& patch : patches_of(s, last, i.copies)) {
          for (gpu::kernel_source& each : i.sources(patch, l)) {
            result.push_back(std::move(each));
          }
        }
        return result;
      };
      found.emplace_back(v.info, std::move(whole));
    }
  }
  for (auto& [info, i] : found) { all.add(info, access::patched, std::move(i)); }
}

registry completed(registry registered) {
  add_patched(registered);
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
