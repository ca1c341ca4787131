// On tables: a block computes the edges of its vertices into shared memory, each by the vertex that
// is its first end, and interpolate takes them from there.
//
// An edge is found by its number: the block keeps a window of four edges a vertex, from the first
// that its first vertex owns. Edges beyond the window, or owned by a vertex of another block, are
// computed by the thread that needs them, so that any order will do. How much is found depends on
// the order: of the six edges of a vertex on a torus in rows, with edges numbered with their
// vertices (per_vertex), three are its own, one is the neighbour's, and two belong to other rows,
// hence mostly to other blocks; with edges per_orientation only its own ones of one orientation
// are found.
//
// Trades shared memory (32 bytes a vertex and level) and two barriers for at most a sixth of the
// flops of inlined: a test of the idea, which wants vertices in the order of a space-filling curve.
//
// H200, 594x514: 1072 us with edges per_orientation, where the window holds one edge in three; the
// separate kloop takes 949.
#pragma once

#include <icobench/kernels/shared/nabla4_interpolate.hpp>

namespace icobench::kernels {

// The edges that a block keeps, for those who need them.
struct edge_window {
  index_t begin, size;  // their numbers
  range vertices;       // of the block

  // Edges that the first end of another block owns are not there, whatever their number.
  ICOBENCH_FUNCTION bool has(index_t edge, index_t owner) const {
    return edge >= begin && edge - begin < size && owner >= vertices.begin && owner < vertices.end;
  }
};

template <bool vertical>
struct inlined_cached_indirect {
  static constexpr kernel_info info{
      .chain = nabla4_interpolate_chain(vertical),
      .schedule = "kloop",
      .fusion = "inlined_cached",
      .description = "a block's edges into shared memory, found by number in a window",
      .written_for = meshes::indirect};
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<>>;
  static constexpr int batch = 4;  // levels of a thread
  static constexpr launch tuned(access, precision) {
    return {.block = {128, 1, 1}, .levels = batch};
  }
  static constexpr const char* reject(const launch& l) {
    return l.levels == batch ? "" : "a thread of this kernel computes 4 levels";
  }
  static constexpr std::size_t header = 128;  // before the window: where it begins
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return header + window(l.block.x) * l.block.z * batch * sizeof(T);
  }
  ICOBENCH_FUNCTION static constexpr unsigned window(unsigned vertices) { return 4 * vertices; }
  // The least edge of which v is the first end; if there is none nothing is found.
  template <class Mesh>
  ICOBENCH_FUNCTION static index_t first_edge(const Mesh& mesh, index_t v) {
    index_t least = 0x7fffffff;
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      const auto edge = mesh.edge_of_vertex(v, s);
      if (mesh.e2c2v(edge)[0] == v && mesh.id(edge) < least) { least = mesh.id(edge); }
    }
    return least;
  }
  ICOBENCH_FUNCTION static edge_window window_of(index_t first_edge_, index_t first_vertex,
                                                 unsigned vertices, const range& domain) {
    const index_t end = first_vertex + index_t(vertices);
    return {first_edge_,
            index_t(window(vertices)),
            {first_vertex, end < domain.end ? end : domain.end}};
  }

  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.reject = &reject,
                                              .shared_bytes = &shared_bytes<Mesh, T>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t computed = mesh.point(domain, t.x(), t.y());
      const bool has_result = computed >= 0;  // if not: along to the last barrier
      const index_t v = has_result ? computed : domain.begin;
      const index_t first = domain.begin + index_t(t.block().x * t.block_dim().x);
      const neighbours<index_t, 6> edges = v2e(mesh, v);
      neighbours<index_t, 6> owner;
      ICOBENCH_UNROLL_ALL
      for (int s = 0; s < 6; ++s) { owner[s] = mesh.e2c2v({edges[s]})[0]; }

      auto* const window_begin = t.template shared<index_t>();
      if (t.rank() == 0) { *window_begin = first_edge(mesh, v); }
      t.sync();
      const edge_window found = window_of(*window_begin, first, t.block_dim().x, domain);
      T* const cache = t.template shared<T>(header) + index_t(t.thread().z) * batch * found.size;
      const walk w = walk_of(t, levels);
      const auto level = [&](int n) {
        const index_t k = w.first + n * w.step;
        return k < w.end ? k : 0;
      };
      const auto place = [&](int n, int s) { return n * found.size + edges[s] - found.begin; };
      const auto compute = [&](int s, auto store) {
        const neighbours<index_t, 4> diamond = mesh.e2c2v({edges[s]});
        nabla4<T> stencil = edge.stencil(edges[s], 0);
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < batch; ++n) {
          if constexpr (vertical) { stencil = edge.stencil(edges[s], level(n)); }
          store(n, edge.apply(stencil, edges[s], diamond, level(n)));
        }
      };

      ICOBENCH_UNROLL_ALL
      for (int s = 0; s < 6; ++s) {
        if (has_result && found.has(edges[s], owner[s]) && owner[s] == v) {
          compute(s, [&](int n, T value) { cache[place(n, s)] = value; });
        }
      }
      t.sync();
      if (!has_result) { return; }
      neighbours<T, 6> p_e[batch];
      ICOBENCH_UNROLL_ALL
      for (int s = 0; s < 6; ++s) {
        if (found.has(edges[s], owner[s])) {
          ICOBENCH_UNROLL_ALL
          for (int n = 0; n < batch; ++n) { p_e[n][s] = cache[place(n, s)]; }
        } else {
          compute(s, [&](int n, T value) { p_e[n][s] = value; });
        }
      }
      const interpolate<T> stencil = vertex.stencil(v);
      ICOBENCH_UNROLL_ALL
      for (int n = 0; n < batch; ++n) {
        const index_t k = w.first + n * w.step;
        if (k < w.end) { vertex.store(v, k, stencil(p_e[n])); }
      }
    }
  };
};

using nabla4_interpolate_inlined_cached_indirect_variants =
    kernel_list<inlined_cached_indirect<false>, inlined_cached_indirect<true>>;

}  // namespace icobench::kernels
