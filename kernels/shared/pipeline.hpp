// A pipeline over levels: while a block computes nabla4 of one level from shared memory, copies
// bring the next ones, and interpolate and verts2cells do what earlier levels gave. One barrier for
// each level. A thread keeps the coefficients of its point for all its levels.
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>
#include <icobench/kernels/shared/level_tiles.hpp>

namespace icobench::kernels {

// One block's walk over levels with the operands of a kernel.
template <bool cells, bool vertical, class Shape, class T, class Tiles, class Operands,
          class Thread>
class pipeline {
  static constexpr level_tile<T> tile{Shape::shape};
  using mesh_type = decltype(Operands::mesh);
  static constexpr int depth = cells ? 2 : 1;  // stencils after nabla4
  static constexpr index_t planes = cells ? 5 : 3;

 public:
  ICOBENCH_DEVICE pipeline(const Operands& f, const Thread& t, const overlap& halo)
      : f_(f),
        t_(t),
        point_(f.mesh, f.domain, halo, t),
        results_(t.template shared<T>(tile.bytes)),
        tiles_(f, t, first_vertex(halo)) {
    if constexpr (!vertical) { load(0); }
    at_vertex_ = f.vertex.stencil(point_.id);
    if constexpr (cells) { cells_of_point<mesh_type>(f.mesh, point_.id).load(f.cell, at_cell_); }
  }

  ICOBENCH_DEVICE void run() {
    const index_t count = rounds(t_, f_.levels);
    const walk w = walk_of(t_, f_.levels);
    const auto level = [&](index_t n) { return w.first + n * w.step; };
    const auto fetch = [&](index_t n) {
      tiles_.fetch(level(n) < w.end ? level(n) : w.first, n < count);
    };
    for (index_t n = 0; n < tile.stages - 1; ++n) { fetch(n); }
    ICOBENCH_NO_UNROLL
    for (index_t n = 0; n < count + depth; ++n) {
      if (n < count) { tiles_.wait(); }
      // Who writes results of a level has passed a barrier after the last read of those two levels
      // before; the same holds for the stage of the level before.
      t_.sync();
      fetch(n + tile.stages - 1);
      if (n < count) { compute_edges(n, level(n) < w.end ? level(n) : w.first); }
      if (n >= 1 && n <= count) { compute_vertex(n - 1, level(n - 1), w.end); }
      if constexpr (cells) {
        if (n >= 2) { compute_cells(n - 2, level(n - 2), w.end); }
      }
    }
  }

 private:
  // The threads as vertices, as mesh_of_block has them.
  ICOBENCH_DEVICE static strided_mesh<ordering::per_orientation> threads() {
    return {tile.x, tile.threads};
  }

  ICOBENCH_DEVICE index_t first_vertex(const overlap& halo) const {
    const rectangle around = grown(f_.domain, halo);
    const gpu::index3 block = t_.block();
    return f_.mesh.point(around, block.x * (unsigned(tile.x) - halo.x()),
                         block.y * (unsigned(tile.y) - halo.y()));
  }
  ICOBENCH_DEVICE T* results(index_t n) const { return results_ + (n % 2) * planes * tile.threads; }
  ICOBENCH_DEVICE void load(index_t k) {
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < 3; ++c) { at_edge_[c] = f_.edge.stencil(f_.mesh.id({point_.id, c}), k); }
  }

  ICOBENCH_DEVICE void compute_edges(index_t n, index_t k) {
    const auto me = index_t(t_.rank());
    if constexpr (vertical) { load(k); }
    const diamonds<T> u = tiles_.u(), v = tiles_.v();
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < 3; ++c) {
      results(n)[c * tile.threads + me] = at_edge_[c](u(c), v(c), tiles_.z(c));
    }
    tiles_.next();
  }
  ICOBENCH_DEVICE void compute_vertex(index_t n, index_t k, index_t end) const {
    const auto me = index_t(t_.rank());
    if constexpr (cells) {
      if (has_six_edges(t_)) {
        const vector2<T> p = at_vertex_(edges_of_thread(threads(), results(n), me));
        results(n)[3 * tile.threads + me] = p.u;
        results(n)[4 * tile.threads + me] = p.v;
      }
    } else if (k < end && point_.has_result) {
      const vector2<T> p = at_vertex_(edges_of_thread(threads(), results(n), me));
      gpu::store_streaming(f_.vertex.p_u.address(point_.id, k), p.u);
      gpu::store_streaming(f_.vertex.p_v.address(point_.id, k), p.v);
    }
  }
  ICOBENCH_DEVICE void compute_cells(index_t n, index_t k, index_t end) const {
    if (k >= end || !point_.has_result) { return; }
    const auto me = index_t(t_.rank());
    const cells_of_point<strided_mesh<ordering::per_orientation>> in_block(threads(), me);
    in_block.compute(f_.cell, f_.mesh.cell_of_point(point_.id, 0), at_cell_,
                     results(n) + 3 * tile.threads, results(n) + 4 * tile.threads, k);
  }

  const Operands& f_;
  const Thread& t_;
  tile_point<mesh_type> point_;
  T* results_;
  Tiles tiles_;
  nabla4<T> at_edge_[3];
  interpolate<T> at_vertex_;
  verts2cells<T> at_cell_[2];
};

// What the variants have in common: with `cells` to verts2cells, else to interpolate; levels copied
// by the threads or as boxes of tensor maps.
template <bool cells, bool vertical, bool boxes, class... Compiled>
struct pipelined {
  using compiled = compiled_list<Compiled...>;
  ICOBENCH_FUNCTION static constexpr overlap halo() {
    return cells ? overlap{1, 1, 1, 2} : overlap{1, 0, 1, 1};
  }
  struct nothing {};
  using box_maps = std::conditional_t<boxes, level_maps, nothing>;  // of a kernel

  template <class Shape, class T, class Operands, class Thread>
  using tiles = std::conditional_t<boxes, box_tiles<Operands, Shape, T, Thread>,
                                   async_tiles<Operands, Shape, T, Thread>>;

  static constexpr const char* reject(const launch& l) {
    if (l.block.z != 1) { return "a block has threads for one level"; }
    if (l.stages < 2 || l.stages > 16) {
      return "levels in shared memory at once are from 2 to 16: stages=3";
    }
    if (boxes ? l.copy_bytes != 0 : l.copy_bytes != 8 && l.copy_bytes != 16) {
      return boxes ? "boxes are not copied by width" : "copies are of 8 or 16 bytes: copy_bytes=16";
    }
    if (boxes && (l.block.x > 248 || l.block.y > 248)) {
      return "boxes have at most 256 elements a side";
    }
    return "";
  }
  template <class T>
  static constexpr std::size_t shared_bytes(const launch& l) {
    return level_tile<T>{l}.bytes +
           2 * std::size_t(cells ? 5 : 3) * std::size_t(l.block.volume()) * sizeof(T);
  }

  template <class Kernel>
  static void set_boxes(void* object, const launch& l, const gpu::processor& processor) {
    auto& kernel = *static_cast<Kernel*>(object);
    if constexpr (boxes) {
      kernel.maps = make_level_maps(
          kernel.mesh, kernel.edge, kernel.levels, l,
          [&](const gpu::tensor_box& box) { return make_tensor_map(processor, box); });
    }
  }

  template <class Shape, class T, class Operands, class Thread>
  ICOBENCH_DEVICE static void run(const Operands& f, const Thread& t) {
    pipeline<cells, vertical, Shape, T, tiles<Shape, T, Operands, Thread>, Operands, Thread>(f, t,
                                                                                             halo())
        .run();
  }
};

}  // namespace icobench::kernels
