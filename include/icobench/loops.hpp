// Plain loops on the CPU: a class like that of a kernel (see kernel.hpp), with
//
//   static constexpr kernel_info info{...};
//   using computes = stages<stage::nabla4>;            the stages it fuses, first to last
//   static constexpr layout memory = layout::kfirst;
//   static constexpr launch tuned();                   launch.block.x: points of a tile
//   template <class Mesh, class T>
//   static void run(const Mesh&, const typename Mesh::domain&,
//                   const nabla4_operands<T, memory>&..., index_t levels, const launch&);
//
// A caller calls `run`.
#pragma once

#include <concepts>

#include <icobench/kernel.hpp>

namespace icobench {

template <class L>
concept cpu_loops = requires {
  { L::info } -> std::convertible_to<const kernel_info&>;
  typename L::computes;
  { L::memory } -> std::convertible_to<layout>;
  { L::tuned() } -> std::same_as<launch>;
};

}  // namespace icobench
