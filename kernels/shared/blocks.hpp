// Blocks: a thread block computes a compact block of cells (or vertices) of a grid in any order,
// with tables of its own: see mesh/blocks.hpp. Before it walks levels, it composes nabla4 and
// interpolate to one stencil of 40 weights a vertex, from weights of its edges in shared memory.
// Then the values of u, v and z that it needs are copied there, a batch of levels ahead; vertices
// take them by their places, and cells take p_u and p_v.
#pragma once

#include <algorithm>

#include <icobench/kernels/shared/composed_vertex.hpp>
#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

// What a thread has of a list: every block_vertices-th entry from its own on.
constexpr int per_thread(index_t length) {
  return int((length + block_vertices - 1) / block_vertices);
}

// Shared memory of a block: batches of u, v and z in turns; p_u and p_v of two batches. Before all
// that, the weights of the edges.
template <class T, int batch, int ahead, bool cells>
struct block_memory {
  using pair = gpu::pair<T>;
  static constexpr std::size_t z_at = block_around * sizeof(pair);  // in a level
  static constexpr std::size_t level_bytes = z_at + block_edges * sizeof(T);
  static constexpr std::size_t input_bytes = batch * level_bytes;
  static constexpr std::size_t p_at = (ahead + 1) * input_bytes;
  static constexpr std::size_t p_bytes = batch * block_vertices * sizeof(pair);
  static constexpr int edge_weights = 9;
  static constexpr std::size_t bytes =
      std::max(p_at + (cells ? 2 * p_bytes : 0), edge_weights* block_edges * sizeof(T));
};

// The cells of a thread.
template <class T>
class block_cells {
  static constexpr int count = per_thread(block_results);

 public:
  ICOBENCH_DEVICE block_cells(const block_tables& tables, const verts2cells_operands<T>& cell,
                              index_t block, index_t me) {
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < count; ++n) {
      const index_t at = block * block_results + n * block_vertices + me;
      id_[n] = gpu::load_readonly(tables.results + at);
      corners_[n] = gpu::load_readonly(tables.corners + at);
      stencil_[n] = cell.stencil(id_[n] >= 0 ? id_[n] : 0);
    }
  }

  // Results of `batch` levels; level(q) is negative where there is none.
  template <int batch, class Level>
  ICOBENCH_DEVICE void compute(const verts2cells_operands<T>& cell, const gpu::pair<T>* p,
                               Level level) const {
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < count; ++n) {
      if (id_[n] < 0) { continue; }
      const gpu::pair<T>* corner[3];
      ICOBENCH_UNROLL_ALL
      for (int m = 0; m < 3; ++m) { corner[m] = p + unpack_corner(corners_[n], m); }
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < batch; ++q) {
        neighbours<T, 3> p_u, p_v;
        ICOBENCH_UNROLL_ALL
        for (int m = 0; m < 3; ++m) {
          const gpu::pair<T> here = corner[m][q * block_vertices];
          p_u[m] = here.first;
          p_v[m] = here.second;
        }
        const T result = stencil_[n](p_u, p_v);
        if (const index_t k = level(q); k >= 0) { cell.out(id_[n], k) = result; }
      }
    }
  }

 private:
  index_t id_[count], corners_[count];
  verts2cells<T> stencil_[count];
};

// The work of one thread of a block on the operands of a kernel.
template <class Operands, class T, int batch, int ahead, bool cells, class Thread>
class block_worker {
  using memory = block_memory<T, batch, ahead, cells>;
  using pair = gpu::pair<T>;

 public:
  ICOBENCH_DEVICE block_worker(const Operands& f, const Thread& t)
      : f_(f),
        t_(t),
        block_(index_t(t.block().x)),
        me_(index_t(t.rank())),
        levels_(walk_of(t, f.levels)),
        batches_(levels_.first < levels_.end
                     ? (levels_.end - levels_.first - 1) / (levels_.step * batch) + 1
                     : 0) {}

  ICOBENCH_DEVICE void run() {
    load_lists();
    const auto own_cells = make_cells();
    write_edge_weights();
    t_.sync();
    const composed_weights<T> weights = compose();
    t_.sync();
    walk_levels(weights, own_cells);
  }

 private:
  ICOBENCH_DEVICE index_t entry(const index_t* list, index_t length, int n) const {
    const index_t at = n * block_vertices + me_;
    return at < length ? gpu::load_readonly(list + block_ * length + at) : -1;
  }

  ICOBENCH_DEVICE void load_lists() {
    const block_tables& tables = f_.mesh.blocks;
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < around_count; ++n) {
      const index_t at = (n * block_vertices + me_) / 2;
      around_[n] =
          at < block_around ? gpu::load_readonly(tables.around + block_ * block_around + at) : -1;
    }
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < edge_count; ++n) { edges_[n] = entry(tables.edges, block_edges, n); }
    // Threads without a vertex compute the first one again.
    vertex_ = entry(tables.vertices, block_vertices, 0);
    column_ = vertex_ >= 0 ? me_ : 0;
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < place_words; ++n) {
      places_[n] =
          gpu::load_readonly(tables.places + (block_ * place_words + n) * block_vertices + column_);
    }
  }
  ICOBENCH_DEVICE index_t place(int n) const { return unpack_place(places_[n / 2], n); }

  ICOBENCH_DEVICE auto make_cells() const {
    if constexpr (cells) {
      return block_cells<T>(f_.mesh.blocks, f_.cell, block_, me_);
    } else {
      return nullptr;
    }
  }

  // Each edge once, and all their coefficients, which lie side by side, are under way together.
  ICOBENCH_DEVICE void write_edge_weights() const {
    nabla4<T> stencil[edge_count];
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < edge_count; ++n) {
      stencil[n] = f_.edge.stencil(edges_[n] >= 0 ? edges_[n] : 0, 0);
    }
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < edge_count; ++n) {
      if (edges_[n] < 0) { continue; }
      const nabla4_weights<T> w = stencil[n].weights();
      T* const to = t_.template shared<T>() + n * block_vertices + me_;
      ICOBENCH_UNROLL_ALL
      for (int d = 0; d < 4; ++d) {
        to[d * block_edges] = w.u[d];
        to[(4 + d) * block_edges] = w.v[d];
      }
      to[8 * block_edges] = w.z;
    }
  }

  ICOBENCH_DEVICE composed_weights<T> compose() const {
    const block_tables& tables = f_.mesh.blocks;
    const index_t spokes = gpu::load_readonly(tables.fans + block_ * block_vertices + column_);
    const index_t v = gpu::load_readonly(tables.vertices + block_ * block_vertices + column_);
    const T* const of_edges = t_.template shared<T>();
    composed_weights<T> w{};
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < 6; ++n) {
      const fan_spoke s = unpack_spoke(spokes, n);
      const bool there = s.slot != no_spoke;
      const T c_u = there ? f_.vertex.coeff_1(v, s.slot, 0) : T(0);
      const T c_v = there ? f_.vertex.coeff_2(v, s.slot, 0) : T(0);
      const T* const from = of_edges + place(7 + n);
      const auto of_diamond = [&](int m, int d) {
        add_weights(w.of_vertices, m, c_u, c_v, from[d * block_edges], from[(4 + d) * block_edges]);
      };
      of_diamond(0, 1 - s.far);
      of_diamond(1 + n, s.far);
      of_diamond(1 + (n + 1) % 6, s.after);
      if (n > 0) {
        of_diamond(n, 5 - s.after);
      } else {
        // Before the first edge comes the last one, which need not be the sixth.
        const T* const tip = from + (5 - s.after) * block_edges;
        ICOBENCH_UNROLL_ALL
        for (int last = 2; last < 6; ++last) {
          const bool is_last = unpack_spoke(spokes, last).slot != no_spoke &&
                               (last == 5 || unpack_spoke(spokes, last + 1).slot == no_spoke);
          add_weights(w.of_vertices, 1 + last, is_last ? c_u : T(0), is_last ? c_v : T(0), tip[0],
                      tip[4 * block_edges]);
        }
      }
      const T of_z = from[8 * block_edges];
      w.of_edges[2 * n] = c_u * of_z;
      w.of_edges[2 * n + 1] = c_v * of_z;
    }
    return w;
  }

  // One round: begins to copy a later batch, and computes the vertices of this one and the cells of
  // the one before. All have buffers enough that one barrier a round will do.
  template <class Cells>
  ICOBENCH_DEVICE void walk_levels(const composed_weights<T>& weights,
                                   [[maybe_unused]] const Cells& own) const {
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < ahead; ++n) { copy(n); }
    ICOBENCH_NO_UNROLL
    for (index_t n = 0; n < batches_; ++n) {
      t_.template wait_async<ahead - 1>();
      t_.sync();
      copy(n + ahead);
      if constexpr (cells) {
        if (n > 0) { compute_cells(own, n - 1); }
      }
      compute_vertices(weights, n);
    }
    if constexpr (cells) {
      t_.sync();
      if (batches_ > 0) { compute_cells(own, batches_ - 1); }
    }
  }

  // Level q of batch n, negative beyond the last one.
  ICOBENCH_DEVICE index_t level(index_t n, int q) const {
    const index_t k = levels_.first + (n * batch + q) * levels_.step;
    return k < levels_.end ? k : -1;
  }
  ICOBENCH_DEVICE static std::size_t input_at(index_t n) {
    return std::size_t(n % (ahead + 1)) * memory::input_bytes;
  }
  ICOBENCH_DEVICE pair* p_of(index_t n) const {
    return t_.template shared<pair>(memory::p_at + std::size_t(n % 2) * memory::p_bytes);
  }

  ICOBENCH_DEVICE void copy(index_t n) const {
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < batch; ++q) {
      const index_t k = level(n, q);
      if (k < 0) { continue; }
      const T* const u_or_v = gpu::hold((me_ % 2 == 0 ? f_.edge.u : f_.edge.v).address(0, k));
      const T* const z = gpu::hold(f_.edge.z.address(0, k));
      const std::size_t at = input_at(n) + unsigned(q) * memory::level_bytes;
      T* const to_around = t_.template shared<T>(at) + me_;
      T* const to_edges = t_.template shared<T>(at + memory::z_at) + me_;
      ICOBENCH_UNROLL_ALL
      for (int i = 0; i < around_count; ++i) {
        if (around_[i] < 0) { continue; }
        t_.template copy_async<sizeof(T)>(to_around + i * block_vertices, u_or_v + around_[i]);
      }
      ICOBENCH_UNROLL_ALL
      for (int i = 0; i < edge_count; ++i) {
        if (edges_[i] < 0) { continue; }
        t_.template copy_async<sizeof(T)>(to_edges + i * block_vertices, z + edges_[i]);
      }
    }
    t_.commit_async();
  }

  // Levels that are not there are computed from what is left in shared memory, and forgotten: a
  // branch would keep the compiler from working on several levels at once.
  ICOBENCH_DEVICE void compute_vertices(const composed_weights<T>& weights, index_t n) const {
    const pair* const around = t_.template shared<pair>(input_at(n));
    const T* const edges = t_.template shared<T>(input_at(n) + memory::z_at);
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < batch; ++q) {
      neighbours<T, 7> u, v;
      neighbours<T, 6> z;
      ICOBENCH_UNROLL_ALL
      for (int m = 0; m < 7; ++m) {
        const pair here = around[place(m) + q * index_t(memory::level_bytes / sizeof(pair))];
        u[m] = here.first;
        v[m] = here.second;
      }
      ICOBENCH_UNROLL_ALL
      for (int s = 0; s < 6; ++s) {
        z[s] = edges[place(7 + s) + q * index_t(memory::level_bytes / sizeof(T))];
      }
      const vector2<T> p = weights(u, v, z);
      if constexpr (cells) {
        p_of(n)[q * block_vertices + me_] = {p.u, p.v};
      } else {
        if (const index_t k = level(n, q); k >= 0 && vertex_ >= 0) {
          f_.vertex.store(vertex_, k, p);
        }
      }
    }
  }

  template <class Cells>
  ICOBENCH_DEVICE void compute_cells(const Cells& own, index_t n) const {
    own.template compute<batch>(f_.cell, p_of(n), [&](int q) { return level(n, q); });
  }

  static_assert(memory::level_bytes % sizeof(pair) == 0 && block_vertices % 2 == 0);
  static constexpr int around_count = per_thread(2 * block_around);  // u or v of each
  static constexpr int edge_count = per_thread(block_edges);

  const Operands& f_;
  const Thread& t_;
  const index_t block_, me_;
  const walk levels_;
  const index_t batches_;
  // Neighbouring threads copy u and v of a vertex, so that they write neighbouring words.
  index_t around_[around_count], edges_[edge_count];
  index_t vertex_, column_, places_[place_words];
};

// What the variants have in common.
template <bool cells>
struct in_blocks {
  static constexpr auto threads = unsigned(block_vertices);
  using compiled = compiled_list<compiled_for_threads<threads, 2>>;
  // Levels between two barriers, and how many such batches are copied ahead.
  static constexpr int batch = cells ? 1 : 2, ahead = cells ? 2 : 1;
  static constexpr launch tuned(access, precision) {
    return {.block = {threads, 1, 1}, .levels = 0, .min_blocks = 2};
  }
  static constexpr const char* reject(const launch& l) {
    static_assert(threads == 192, "the number stands in the text");
    if (l.block == gpu::extent3{threads, 1, 1}) { return ""; }
    return "the tables are made for blocks of 192 threads";
  }
  template <class Mesh>
  static gpu::extent3 all_threads(const Mesh& mesh, const typename Mesh::domain&) {
    return {unsigned(mesh.blocks.blocks) * threads, 1, 1};
  }
  template <class T>
  static std::size_t shared_bytes(const launch&) {
    return block_memory<T, batch, ahead, cells>::bytes;
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .reject = &reject, .shared_bytes = &shared_bytes<T>, .threads = &all_threads<Mesh>};

  template <class T, class Operands, class Thread>
  ICOBENCH_DEVICE static void run(const Operands& f, const Thread& t) {
    block_worker<Operands, T, batch, ahead, cells, Thread>(f, t).run();
  }
};

}  // namespace icobench::kernels
