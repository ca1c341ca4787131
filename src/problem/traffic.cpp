#include "src/problem/traffic.hpp"

namespace icobench {
namespace {

// The rows of a stage's inputs that its points `ids` read through the grid's table.
std::vector<index_t> neighbours_of(const std::vector<index_t>& ids, const table& t,
                                   index_t targets) {
  std::vector<bool> touched(std::size_t(targets), false);
  for (const index_t id : ids) {
    for (index_t s = 0; s < t.slots; ++s) {
      if (t(id, s) != missing) { touched[std::size_t(t(id, s))] = true; }
    }
  }
  std::vector<index_t> result;
  for (index_t h = 0; h < targets; ++h) {
    if (touched[std::size_t(h)]) { result.push_back(h); }
  }
  return result;
}

std::vector<index_t> read_by(const problem& p, stage s, const std::vector<index_t>& ids) {
  return neighbours_of(ids, table_of(*p.mesh, info(s).reads),
                       count(*p.mesh, info(info(s).reads).to));
}

std::size_t values(const problem& p, field f, std::size_t entities) {
  return entities * std::size_t(info(f).slots) * std::size_t(p.chain_->by_level(f) ? p.levels : 1);
}

bool is_output(const chain& c, field f) {
  for (const stage s : c.stages) {
    for (const field g : info(s).outputs) {
      if (f == g) { return true; }
    }
  }
  return false;
}

}  // namespace

traffic count_traffic(const problem& p) {
  const chain& c = *p.chain_;
  traffic result;
  std::size_t fused = 0, written = 0, separate = 0;
  // From the last stage backwards: `needed` are the points that the final outputs depend on.
  std::vector<index_t> needed = p.computed[std::size_t(c.stages.back())].ids;
  for (auto s = c.stages.rbegin(); s != c.stages.rend(); ++s) {
    const std::vector<index_t>& computed = p.computed[std::size_t(*s)].ids;
    const std::vector<index_t> needed_rows = read_by(p, *s, needed);
    const std::vector<index_t> computed_rows = read_by(p, *s, computed);
    for (const field f : info(*s).inputs) {
      const bool at_point = info(f).on == info(*s).on;
      separate += values(p, f, at_point ? computed.size() : computed_rows.size());
      if (!is_output(c, f)) {
        fused += values(p, f, at_point ? needed.size() : needed_rows.size());
      }
    }
    for (const field f : info(*s).outputs) {
      separate += values(p, f, computed.size());
      if (*s == c.stages.back()) { written += values(p, f, computed.size()); }
    }
    result.flops += computed.size() * std::size_t(p.levels) * std::size_t(info(*s).flops);
    needed = needed_rows;
  }
  result.fused_bytes = (fused + written) * size_of(p.precision_);
  result.fused_written_bytes = written * size_of(p.precision_);
  result.separate_bytes = separate * size_of(p.precision_);
  return result;
}

}  // namespace icobench
