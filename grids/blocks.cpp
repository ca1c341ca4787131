#include <icobench/grids/blocks.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include <icobench/grids/tables.hpp>

namespace icobench {
namespace {

table identity(index_t rows) {
  table result(rows, 1);
  for (index_t row = 0; row < rows; ++row) { result(row, 0) = row; }
  return result;
}

// Calls f with each entry of a row that is there.
template <class F>
void for_entries(const table& t, index_t row, F f) {
  for (index_t s = 0; s < t.slots; ++s) {
    if (t(row, s) != missing) { f(t(row, s)); }
  }
}

class cutter {
 public:
  cutter(const grid& g, stage last, const std::vector<index_t>& computed)
      : edges_of_(g.v2e), around_(make_v2e2c2v(g).members), computed_(computed) {
    const bool cells = info(last).on == location::cell;
    vertices_of_ = cells ? g.c2v : identity(g.vertices);
    near_ = cells ? make_v2c(g.c2v, g.vertices) : make_v2v(g.v2e, g.e2v);
    free_.assign(std::size_t(vertices_of_.rows()), false);
    for (const index_t id : computed) { free_[std::size_t(id)] = true; }
    depth_.assign(free_.size(), 0);
    seen_.assign(free_.size(), missing);
    has_vertex_.assign(std::size_t(g.vertices), missing);
    has_around_.assign(std::size_t(g.vertices), missing);
    has_edge_.assign(std::size_t(g.edges), missing);
  }

  std::vector<block> cut() {
    for (const index_t first : breadth_first()) {
      if (free_[std::size_t(first)]) { grow(first); }
    }
    return std::move(blocks_);
  }

 private:
  template <class F>
  void for_neighbours(index_t point, F f) const {
    for_entries(vertices_of_, point, [&](index_t v) {
      for_entries(near_, v, [&](index_t other) {
        if (free_[std::size_t(other)]) { f(other); }
      });
    });
  }

  std::vector<index_t> breadth_first() const {
    std::vector<index_t> order;
    std::vector<bool> reached(free_.size(), false);
    const auto reach = [&](index_t point) {
      if (!reached[std::size_t(point)]) { order.push_back(point); }
      reached[std::size_t(point)] = true;
    };
    std::size_t next = 0;
    for (const index_t start : computed_) {
      for (reach(start); next < order.size(); ++next) { for_neighbours(order[next], reach); }
    }
    return order;
  }

  index_t number() const { return index_t(blocks_.size()) - 1; }

  // What a point would add to the last block.
  struct additions {
    std::vector<index_t> vertices, around, edges;
  };
  void collect(index_t point, additions& a) const {
    const auto add = [this](const std::vector<index_t>& has, std::vector<index_t>& to, index_t id) {
      if (has[std::size_t(id)] != number() && std::find(to.begin(), to.end(), id) == to.end()) {
        to.push_back(id);
      }
    };
    a.vertices.clear();
    a.around.clear();
    a.edges.clear();
    for_entries(vertices_of_, point, [&](index_t v) { add(has_vertex_, a.vertices, v); });
    for (const index_t v : a.vertices) {
      for_entries(around_, v, [&](index_t other) { add(has_around_, a.around, other); });
      for_entries(edges_of_, v, [&](index_t e) { add(has_edge_, a.edges, e); });
    }
  }

  bool has_room(const block& b, const additions& a) const {
    return b.results.size() + 1 <= std::size_t(block_results) &&
           b.vertices.size() + a.vertices.size() <= std::size_t(block_vertices) &&
           b.around.size() + a.around.size() <= std::size_t(block_around) &&
           b.edges.size() + a.edges.size() <= std::size_t(block_edges);
  }

  void take(block& b, index_t point, const additions& a) {
    const auto add = [this](std::vector<index_t>& has, std::vector<index_t>& to,
                            const std::vector<index_t>& ids) {
      to.insert(to.end(), ids.begin(), ids.end());
      for (const index_t id : ids) { has[std::size_t(id)] = number(); }
    };
    b.results.push_back(point);
    free_[std::size_t(point)] = false;
    add(has_vertex_, b.vertices, a.vertices);
    add(has_around_, b.around, a.around);
    add(has_edge_, b.edges, a.edges);
  }

  index_t new_vertices(index_t point) const {
    index_t count = 0;
    for_entries(vertices_of_, point,
                [&](index_t v) { count += has_vertex_[std::size_t(v)] != number(); });
    return count;
  }

  void grow(index_t first) {
    blocks_.emplace_back();
    block& b = blocks_.back();
    // A point comes into the queue again when it has got cheaper: the dear entry is void.
    using entry = std::tuple<index_t, index_t, index_t>;  // new vertices, depth, point
    std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
    const auto push = [&](index_t point, index_t depth) {
      if (seen_[std::size_t(point)] != number()) { depth_[std::size_t(point)] = depth; }
      seen_[std::size_t(point)] = number();
      queue.emplace(new_vertices(point), depth_[std::size_t(point)], point);
    };
    additions a;
    for (push(first, 0); !queue.empty();) {
      const auto [cost, depth, point] = queue.top();
      queue.pop();
      if (!free_[std::size_t(point)] || cost != new_vertices(point)) { continue; }
      collect(point, a);
      if (!has_room(b, a)) { return; }
      take(b, point, a);
      for_neighbours(point, [&, next = depth + 1](index_t other) { push(other, next); });
    }
  }

  const table& edges_of_;  // of a vertex
  table around_;           // of a vertex: those of the diamonds of its edges
  table vertices_of_;      // of a point
  table near_;             // points near a vertex
  const std::vector<index_t>& computed_;
  std::vector<bool> free_;             // points without a block
  std::vector<index_t> depth_, seen_;  // steps from the block's first point, and for which block
  std::vector<index_t> has_vertex_, has_around_, has_edge_;  // the last block that has it
  std::vector<block> blocks_;
};

// The order of a list in shared memory. Values that are read at once should lie in different banks;
// `reads[n]` are the reads that value n takes part in. From the order of storage, values change
// places within a run of 32, what a warp copies, whenever fewer of them meet in a bank then.
class bank_order {
 public:
  bank_order(index_t banks, std::size_t number_of_reads,
             const std::vector<std::vector<index_t>>& reads)
      : banks_(banks), reads_(reads), meeting_(number_of_reads * std::size_t(banks), 0) {
    place_.resize(reads.size());
    std::iota(place_.begin(), place_.end(), 0);
    for (std::size_t n = 0; n < place_.size(); ++n) { count(n, 1); }
  }

  std::vector<index_t> places() {
    constexpr std::size_t run = 32;
    constexpr int rounds = 2;  // more do not help
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t a = 0; a < place_.size(); ++a) {
        const std::size_t end = std::min(place_.size(), (a / run + 1) * run);
        for (std::size_t b = a + 1; b < end; ++b) { swap_if_better(a, b); }
      }
    }
    return place_;
  }

 private:
  int& meeting(index_t read, index_t place) {
    return meeting_[std::size_t(read * banks_ + place % banks_)];
  }
  void count(std::size_t n, int by) {
    for (const index_t read : reads_[n]) { meeting(read, place_[n]) += by; }
  }
  int others(std::size_t n, index_t place) {
    int sum = 0;
    for (const index_t read : reads_[n]) { sum += meeting(read, place); }
    return sum;
  }
  void swap_if_better(std::size_t a, std::size_t b) {
    if ((place_[a] - place_[b]) % banks_ == 0) { return; }
    count(a, -1);
    count(b, -1);
    const int now = others(a, place_[a]) + others(b, place_[b]);
    if (now > 0 && others(a, place_[b]) + others(b, place_[a]) < now) {
      std::swap(place_[a], place_[b]);
    }
    count(a, 1);
    count(b, 1);
  }

  index_t banks_;
  const std::vector<std::vector<index_t>>& reads_;
  std::vector<int> meeting_;  // [read][bank]: values
  std::vector<index_t> place_;
};

// One list of one block: storage ids and their places.
class list {
 public:
  // In the order of storage, so that neighbouring threads read neighbouring words.
  list(const std::vector<index_t>& of_block, const std::vector<index_t>& storage_id)
      : storage_id_(storage_id), ids_(of_block), places_(of_block.size()) {
    for (index_t& id : ids_) { id = storage_id[std::size_t(id)]; }
    std::sort(ids_.begin(), ids_.end());
    std::iota(places_.begin(), places_.end(), 0);
  }

  // Changes places so that reads at once, of as many threads as there are banks, meet less: those
  // that for_reads(f) calls f(id, thread, slot) for.
  template <class ForReads>
  void spread(index_t banks, index_t threads, index_t slots, ForReads for_reads) {
    std::vector<std::vector<index_t>> reads(ids_.size());
    for_reads([&](index_t id, index_t thread, index_t slot) {
      auto& of_id = reads[position(id)];
      const index_t read = thread / banks * slots + slot;
      if (std::find(of_id.begin(), of_id.end(), read) == of_id.end()) { of_id.push_back(read); }
    });
    places_ = bank_order(banks, std::size_t((threads / banks + 1) * slots), reads).places();
  }

  // Of an id of the grid.
  index_t place(index_t id) const { return places_[position(id)]; }
  void write(index_t* to) const {
    for (std::size_t n = 0; n < ids_.size(); ++n) { to[places_[n]] = ids_[n]; }
  }

 private:
  std::size_t position(index_t id) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), storage_id_[std::size_t(id)]);
    return std::size_t(found - ids_.begin());
  }

  const std::vector<index_t>& storage_id_;
  std::vector<index_t> ids_, places_;
};

// The edge of v, by its slot, that has this cell and is not `before`.
index_t next_slot(const grid& g, index_t v, index_t cell, index_t before) {
  for (index_t s = 0; s < g.v2e.slots; ++s) {
    const index_t e = g.v2e(v, s);
    if (e != missing && e != before && (g.e2c(e, 0) == cell || g.e2c(e, 1) == cell)) { return s; }
  }
  return missing;
}

}  // namespace

fan make_fan(const grid& g, index_t v) {
  fan result;
  index_t present = 0;
  for_entries(g.v2e, v, [&](index_t) { ++present; });
  index_t slot = 0, side = 0;  // the side of the edge where the next one is
  while (slot != missing && result.count < present) {
    const index_t e = g.v2e(v, slot);
    result.spokes[std::size_t(result.count++)] = {int(slot), g.e2c2v(e, 0) == v ? 1 : 0,
                                                  2 + int(side)};
    const index_t cell = g.e2c(e, side);
    slot = cell == missing ? missing : next_slot(g, v, cell, e);
    if (slot == 0) { break; }
    side = slot != missing && g.e2c(g.v2e(v, slot), 0) == cell ? 1 : 0;
  }
  if (result.count < 3 || result.count < present || slot != 0) {
    throw input_error(g.name + ": vertex " + std::to_string(v) +
                      " (counted from 0) is not surrounded by its cells");
  }
  return result;
}

namespace {

// The fans of all vertices of the blocks; what is not there is replaced as mesh/blocks.hpp says.
struct fan_table {
  table vertices, edges;       // vertices x 7, vertices x 6
  std::vector<index_t> words;  // packed spokes

  fan_table(const grid& g, const std::vector<block>& blocks)
      : vertices(g.vertices, 7), edges(g.vertices, 6), words(std::size_t(g.vertices), 0) {
    for (const block& b : blocks) {
      for (const index_t v : b.vertices) { add(g, v); }
    }
  }

 private:
  void add(const grid& g, index_t v) {
    const fan f = make_fan(g, v);
    vertices(v, 0) = v;
    index_t& word = words[std::size_t(v)] = 0;
    for (int n = 0; n < 6; ++n) {
      const fan_spoke& spoke = f.spokes[std::size_t(n < f.count ? n : 0)];
      const index_t e = g.v2e(v, spoke.slot);
      vertices(v, 1 + n) = g.e2c2v(e, spoke.far);
      edges(v, n) = e;
      word |= pack_spoke(n < f.count ? spoke : fan_spoke{no_spoke, 0, 2}, n);
    }
  }
};

}  // namespace

std::vector<block> make_blocks(const grid& g, stage last, const std::vector<index_t>& computed) {
  return cutter(g, last, computed).cut();
}

local_tables make_local_tables(const grid& g, stage last, const std::vector<block>& blocks,
                               const numbering& ids, index_t element_bytes) {
  const bool cells = info(last).on == location::cell;
  const auto all_missing = [&](index_t length) {
    return std::vector<index_t>(blocks.size() * std::size_t(length), missing);
  };
  local_tables t{index_t(blocks.size()),
                 all_missing(block_around),
                 all_missing(block_edges),
                 all_missing(block_vertices),
                 std::vector<index_t>(blocks.size() * place_words * block_vertices, 0),
                 std::vector<index_t>(blocks.size() * block_vertices, 0),
                 all_missing(block_results),
                 std::vector<index_t>(blocks.size() * block_results, 0)};
  const auto& vertex_id = ids.of(location::vertex);
  constexpr index_t banks = 32, bank_bytes = 4;
  const fan_table fans(g, blocks);
#pragma omp parallel for schedule(dynamic)
  for (index_t n = 0; n < t.blocks; ++n) {
    const block& b = blocks[std::size_t(n)];
    list around(b.around, vertex_id), edges(b.edges, ids.of(location::edge));
    const list vertices(b.vertices, vertex_id),
        results(b.results, cells ? ids.of(location::cell) : vertex_id);
    const auto each = [&](const table& of, auto f) {
      for (const index_t v : b.vertices) {
        for (index_t s = 0; s < of.slots; ++s) { f(of(v, s), vertices.place(v), s); }
      }
    };
    const auto spread = [&](list& l, const table& of, index_t bytes) {
      l.spread(banks * bank_bytes / bytes, block_vertices, of.slots, [&](auto f) { each(of, f); });
    };
    spread(around, fans.vertices, 2 * element_bytes);
    spread(edges, fans.edges, element_bytes);
    around.write(&t.around[std::size_t(n * block_around)]);
    edges.write(&t.edges[std::size_t(n * block_edges)]);
    vertices.write(&t.vertices[std::size_t(n * block_vertices)]);
    const auto set_place = [&](index_t v, index_t k, index_t place) {
      t.places[std::size_t((n * place_words + k / 2) * block_vertices + v)] |= pack_place(place, k);
    };
    each(fans.vertices,
         [&](index_t id, index_t v, index_t s) { set_place(v, s, around.place(id)); });
    each(fans.edges,
         [&](index_t id, index_t v, index_t s) { set_place(v, 7 + s, edges.place(id)); });
    for (const index_t v : b.vertices) {
      t.fans[std::size_t(n * block_vertices + vertices.place(v))] = fans.words[std::size_t(v)];
    }
    for (const index_t c : cells ? b.results : std::vector<index_t>()) {
      index_t& word = t.corners[std::size_t(n * block_results + results.place(c))];
      for (int m = 0; m < 3; ++m) { word |= pack_corner(vertices.place(g.c2v(c, m)), m); }
    }
    results.write(&t.results[std::size_t(n * block_results)]);
  }
  return t;
}

}  // namespace icobench
