// Launches of kernels: checked and made once, enqueued any number of times.
//
//   #include <icobench/gpu/native_launcher.hpp>
//   #include <icobench/kernels/nabla4_interpolate_verts2cells/march.hpp>
//   #include <icobench/prepare.hpp>
//
//   const icobench::gpu::current_device device;
//   const icobench::torus_mesh mesh{row, plane};        // elements from row to row, of all rows
//   const icobench::rectangle inside{3, 3, nx - 7, ny - 7};
//   const auto run = icobench::prepare<icobench::kernels::march_to_cells_multicast>(
//       device, mesh, inside, levels, edge, vertex, cell);
//   run(stream);
//
// Operands are those of the kernel's stencils, first to last: a view each for what the stencil
// reads and then for what it writes (stencil/*.hpp: which, their shapes and units), pointers to
// memory of the device. What an earlier stencil of the kernel writes and a later one reads is never
// stored and may be left out: {}.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <icobench/chain.hpp>
#include <icobench/errors.hpp>
#include <icobench/gpu/processor.hpp>
#include <icobench/kernel.hpp>
#include <icobench/launch_text.hpp>
#include <icobench/storage.hpp>

namespace icobench {

// Levels first <= k < end of all those that the fields have, as ICON's slev and elev.
struct level_range {
  constexpr level_range(index_t count) : end(count) {}
  constexpr level_range(index_t first_, index_t end_) : first(first_), end(end_) {}
  index_t first = 0, end = 0;
};

// Where a kernel computes: one or more rectangles or ranges of ids, which do not overlap.
template <class Domain>
class domain_list {
 public:
  domain_list(const Domain& one) : all_{one} {}
  domain_list(std::initializer_list<Domain> some) : all_(some) {}
  domain_list(std::vector<Domain> some) : all_(std::move(some)) {}
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<Domain> all_;
};

// ---- a kernel as host code knows it, whatever its type: launches are compiled once

namespace detail {

// The bytes of an object that a kernel is called as; those of padding are 0.
class kernel_object {
 public:
  explicit kernel_object(std::size_t bytes)
      : bytes_(::operator new(bytes, alignment), [](void* p) { ::operator delete(p, alignment); }) {
    std::memset(bytes_.get(), 0, bytes);
  }
  void* data() const { return bytes_.get(); }

 private:
  static constexpr std::align_val_t alignment{alignof(gpu::tensor_map)};  // the most that any has

  std::shared_ptr<void> bytes_;
};

}  // namespace detail

// One way in which a kernel is compiled.
struct kernel_choice {
  compiled_bounds bounds{};
  gpu::kernel_function (*function)() = nullptr;
  // What the device gets: the kernel's object as the first part of one that orders its blocks.
  std::size_t kernel_bytes = 0, object_bytes = 0;
  const std::type_info* kernel_type = nullptr;
  const std::type_info* object_type = nullptr;
  void (*set_levels_first)(void* object) = nullptr;
  std::size_t (*shared_bytes)(const launch&) = nullptr;  // of a block, if it has any
  void (*set_boxes)(void* kernel, const launch&, const gpu::processor&) = nullptr;
};

// A kernel on one mesh, in one precision.
struct kernel_description {
  kernel_info info{};
  access mesh{};
  launch tuned{};
  std::size_t value_bytes = 0;
  std::span<const stage> computes{};
  std::span<const kernel_choice> choices{};
  overlap halo{};
  int field_alignment = 1, row_alignment = 1;  // in elements
  const char* (*reject)(const launch&) = nullptr;
  gpu::extent3 (*grid)(const rectangle&, index_t levels, const launch&,
                       unsigned resident) = nullptr;
  unsigned (*cluster)(index_t levels, const launch&) = nullptr;
  bool copies = false;  // takes copies of a rectangle

  bool shaped() const { return choices.front().bounds.shaped; }
};

// A field as a stage reads or writes it.
struct bound_field {
  stage of{};
  field name{};
  bool written = false;
  raw_view memory{};
};

// A kernel, compiled in one way, with all that it works on.
struct bound_kernel {
  detail::kernel_object object{0};
  gpu::extent3 threads{};  // along x and y
  std::size_t points = 0;  // of the domain
  rectangle domain{};      // strided
  index_t levels = 0, row = 0, plane = 0;
  std::vector<bound_field> fields{};
};

namespace detail {

// Why no GPU runs such a block, else "".
inline std::string block_rejection(const gpu::extent3& block) {
  if (block.volume() > 1024) {
    return "a block of " + std::to_string(block.volume()) + " threads exceeds the limit of 1024";
  }
  if (block.z > 64) {
    return "a block of " + std::to_string(block.z) +
           " threads along levels exceeds the limit of 64";
  }
  return "";
}

inline std::string rejection(const kernel_description& d, const launch& l) {
  if (l.block.x <= d.halo.x() || l.block.y <= d.halo.y()) {
    return "blocks overlap: they need more than " + std::to_string(d.halo.x()) + " x " +
           std::to_string(d.halo.y()) + " threads";
  }
  if (const std::string reason = block_rejection(l.block); !reason.empty()) { return reason; }
  return d.reject ? d.reject(l) : "";
}

// The first choice that a launch fits, or nullptr.
inline const kernel_choice* compiled_choice(const kernel_description& d, const launch& l) {
  for (const kernel_choice& c : d.choices) {
    if (c.bounds.fit(l)) { return &c; }
  }
  return nullptr;
}

inline std::string choices_text(const kernel_description& d) {
  std::string text;
  for (const kernel_choice& c : d.choices) {
    const compiled_bounds& b = c.bounds;
    launch l = b.shaped ? b.shape : launch{.min_blocks = b.min_blocks, .tables = b.tables};
    if (l.cluster == 1) { l.cluster = 0; }
    std::string words = to_string(l);
    if (!b.shaped) { words = "min_blocks=" + std::to_string(b.min_blocks) + words.substr(1); }
    text += " " + words;
    if (!b.shaped && b.max_threads > max_block_threads) {
      text += " (blocks of up to " + std::to_string(b.max_threads) + " threads)";
    }
  }
  return text;
}

// Of entities at this location there are so many for each vertex, but for boundaries.
constexpr std::size_t per_vertex(location l) {
  return l == location::vertex ? 1 : l == location::edge ? 3 : 2;
}

// What the stages read that does not depend on the level.
inline std::size_t coefficient_bytes(const kernel_description& d, const bound_kernel& b) {
  const std::size_t vertices =
      d.mesh == access::strided ? b.points : b.points / per_vertex(info(d.computes.back()).on);
  std::size_t bytes = 0;
  for (const bound_field& f : b.fields) {
    if (f.written || f.memory.stride != 0) { continue; }
    bytes += vertices * per_vertex(info(f.of).on) * std::size_t(info(f.name).slots) * d.value_bytes;
  }
  return bytes;
}

// Blocks along levels come first where the coefficients of all points do not stay in the cache.
// H200 (60 MB of L2), `naive` at 298x257 and 594x514: with 7 MB of coefficients points first is 8
// per cent faster (interpolate), with 18 MB there is no difference (nabla4), with 29 MB levels
// first is 21 and with 73 MB 65 per cent faster.
inline bool levels_first(const kernel_description& d, const bound_kernel& b, const launch& l,
                         const gpu::extent3& grid, std::size_t cache_bytes) {
  if (d.grid) { return false; }  // it knows the order of its blocks
  if (l.order != block_order::by_size) { return l.order == block_order::levels_first; }
  // Points along y or z have a limit that those along x have not.
  return std::max(grid.x, grid.y) <= 65535 && coefficient_bytes(d, b) > cache_bytes / 4;
}

// Blocks that cover all points and levels.
inline gpu::extent3 cover(const kernel_description& d, const bound_kernel& b, const launch& l) {
  const unsigned levels =
      l.levels == 0 ? ceil_div(unsigned(b.levels), l.block.z) : unsigned(l.levels);
  return {ceil_div(b.threads.x, l.block.x - d.halo.x()),
          ceil_div(b.threads.y, l.block.y - d.halo.y()),
          ceil_div(unsigned(b.levels), l.block.z * levels)};
}

// Fields in memory as the kernel's vector accesses and bulk copies need them.
inline void check_alignment(const kernel_description& d, const bound_kernel& b) {
  const auto elements = [](int n) { return " a multiple of " + std::to_string(n) + " elements"; };
  if (b.row % d.row_alignment != 0 || b.plane % d.row_alignment != 0) {
    throw unsupported("rows and planes have to be" + elements(d.row_alignment) + ", not " +
                      std::to_string(b.row) + " and " + std::to_string(b.plane));
  }
  for (const bound_field& f : b.fields) {
    const auto address = reinterpret_cast<std::uintptr_t>(f.memory.data);
    const std::string name = "field " + std::string(info(f.name).name);
    if (address % (std::uintptr_t(d.field_alignment) * d.value_bytes) != 0) {
      throw unsupported(name + " has to begin at" + elements(d.field_alignment));
    }
    if (f.memory.data && (f.memory.stride % d.field_alignment != 0 ||
                          f.memory.slot_stride % d.field_alignment != 0)) {
      throw unsupported(name + ": its strides have to be" + elements(d.field_alignment) + ", not " +
                        std::to_string(f.memory.stride) + " and " +
                        std::to_string(f.memory.slot_stride));
    }
  }
}

inline void check_launch(const gpu::processor_limits& limits, const kernel_description& d,
                         const launch& l) {
  const auto refuse = [&l](const std::string& reason) {
    if (!reason.empty()) { throw unsupported(to_string(l) + ": " + reason); }
  };
  refuse(rejection(d, l));
  if (d.info.bulk_copies && !limits.bulk_copies) {
    throw unsupported("bulk copies need sm_90, the device is " + limits.architecture);
  }
  if (d.grid && l.order != block_order::by_size) { refuse("this kernel orders its blocks itself"); }
  if (!d.shaped() && (l.stages != 0 || l.copy_bytes != 0 || l.cluster != 0)) {
    refuse("this kernel has no stages, copies or clusters");
  }
}

// A kernel made ready: its object is complete.
struct ready_kernel {
  gpu::kernel_function function;
  gpu::kernel_launch how;
  gpu::kernel_facts facts;
  kernel_object object;
};

// `l` fits the choice or is one that `function` was compiled for at run time. Throws `unsupported`.
inline ready_kernel make_ready(const gpu::processor& p, const kernel_description& d,
                               const kernel_choice& c, const bound_kernel& b, const launch& l,
                               const gpu::kernel_function& function) {
  const gpu::processor_limits limits = p.limits();
  check_alignment(d, b);
  gpu::kernel_launch how{.block = l.block, .shared_bytes = c.shared_bytes ? c.shared_bytes(l) : 0};
  if (how.shared_bytes > limits.shared_bytes_per_block) {
    throw unsupported(to_string(l) + ": needs " + std::to_string(how.shared_bytes) +
                      " bytes of shared memory a block, the device has " +
                      std::to_string(limits.shared_bytes_per_block));
  }
  if (c.set_boxes) { c.set_boxes(b.object.data(), l, p); }
  if (d.grid) {
    how.cluster = d.cluster(b.levels, l);
    how.grid = d.grid(b.domain, b.levels, l,
                      p.resident_blocks(function, how.block, how.shared_bytes, how.cluster));
  } else {
    how.grid = cover(d, b, l);
    if (levels_first(d, b, l, how.grid, limits.cache_bytes)) {
      how.grid = {how.grid.z, how.grid.x, how.grid.y};
      c.set_levels_first(b.object.data());
    }
  }
  if (how.grid.y > 65535 || how.grid.z > 65535) {
    throw unsupported("a grid of " + std::to_string(how.grid.y) + " x " +
                      std::to_string(how.grid.z) +
                      " blocks in its second and third direction exceeds the limit of 65535");
  }
  return {function, how, p.inspect(function, how.grid, how.block, how.shared_bytes), b.object};
}

}  // namespace detail

inline gpu::tensor_map make_tensor_map(const gpu::processor& p, const gpu::tensor_box& box) {
  for (const std::int64_t stride : box.stride) {
    if (stride % 16 != 0) {
      throw unsupported("tensor maps need rows and planes of a multiple of 16 bytes, not " +
                        std::to_string(stride));
    }
  }
  return p.make_tensor_map(box);
}

// ---- kernels as types

// Whether a class describes a kernel as kernel.hpp says.
template <class K>
concept gpu_kernel = requires(access a) {
  { K::info } -> std::convertible_to<const kernel_info&>;
  typename K::computes;
  typename K::compiled;
  { K::tuned(a, precision::float64) } -> std::same_as<launch>;
};

namespace detail {

template <class Mesh>
constexpr bool is_written_for(const kernel_info& k) {
  switch (k.written_for) {
    case meshes::strided:
      return Mesh::kind == access::strided;
    case meshes::strided_per_orientation:
      return std::is_same_v<Mesh, strided_mesh<ordering::per_orientation>>;
    case meshes::indirect:
      return Mesh::kind == access::indirect;
    default:
      return true;
  }
}

template <stage s, class T>
using operands_of = decltype(std::declval<storage>().operands<s, T, layout::ifirst>());

template <class Compiled>
using object_bounds = std::conditional_t<has_shape<Compiled>, Compiled, compiled_for<>>;

// A kernel of a class on a mesh in one precision, compiled in one way.
template <class K, class Mesh, class T, class Compiled>
struct typed_kernel {
  using kernel = typename K::template kernel<Mesh, T>;
  using object = in_order<kernel, object_bounds<Compiled>>;
  static_assert(std::is_trivially_copyable_v<object>);
  static constexpr kernel_traits<Mesh> traits = K::template traits<Mesh, T>;

  static void set_levels_first(void* to) { static_cast<object*>(to)->levels_first = 1; }

  template <stage... fused>
  static bound_kernel bind(stages<fused...>, const Mesh& mesh, const typename Mesh::domain& domain,
                           index_t levels, const operands_of<fused, T>&... operands) {
    bound_kernel b{.object = kernel_object(sizeof(object)),
                   .threads = {unsigned(domain.extent_x()), unsigned(domain.extent_y()), 1},
                   .points = std::size_t(domain.extent_x()) * std::size_t(domain.extent_y()),
                   .levels = levels};
    new (b.object.data()) object{kernel{mesh, domain, operands..., levels}, 0};
    if (traits.threads != nullptr) { b.threads = traits.threads(mesh, domain); }
    if constexpr (Mesh::kind == access::strided) {
      b.domain = domain;
      b.row = mesh.row;
      b.plane = mesh.plane;
    }
    (add_fields(b, fused, operands), ...);
    return b;
  }

 private:
  // Operands are views of what the stage reads, then of what it writes.
  template <class Operands>
  static void add_fields(bound_kernel& b, stage of, const Operands& operands) {
    constexpr std::size_t count = sizeof(Operands) / sizeof(raw_view);
    const auto views = std::bit_cast<std::array<raw_view, count>>(operands);
    std::size_t n = 0;
    for (const field f : info(of).inputs) { b.fields.push_back({of, f, false, views[n++]}); }
    for (const field f : info(of).outputs) { b.fields.push_back({of, f, true, views[n++]}); }
  }
};

template <class Backend, class K, class Mesh, class T, class Compiled>
constexpr kernel_choice choice_of() {
  using typed = typed_kernel<K, Mesh, T, Compiled>;
  using object = typename typed::object;
  static_assert(alignof(object) <= alignof(gpu::tensor_map), "see kernel_object");
  return {.bounds = bounds_of<Compiled>(),
          .function = &Backend::template compiled<Compiled, object>,
          .kernel_bytes = sizeof(typename typed::kernel),
          .object_bytes = sizeof(object),
          .kernel_type = &typeid(typename typed::kernel),
          .object_type = &typeid(object),
          .set_levels_first = &typed::set_levels_first,
          .shared_bytes = typed::traits.shared_bytes,
          .set_boxes = typed::traits.set_boxes};
}

template <class T, class... Operands, stage... fused>
constexpr bool are_operands(stages<fused...>) {
  if constexpr (sizeof...(Operands) == sizeof...(fused)) {
    return (std::is_same_v<Operands, operands_of<fused, T>> && ...);
  }
  return false;
}

// Whether a choice is one for this mesh (uses of tables are for tables, whole ones) and this
// precision.
template <class Mesh, class T, class Compiled>
inline constexpr bool is_choice_of = ((Mesh::kind == access::indirect &&
                                       !std::is_same_v<Mesh, listed_mesh>) ||
                                      Compiled::tables == table_use::slots) &&
                                     is_compiled_in<T, Compiled>();

// Calls f.operator()<Compiled, Mesh that reads tables so>() for each choice.
template <class Mesh, class T, class F, class... Compiled>
constexpr void for_each_choice(compiled_list<Compiled...>, const F& f) {
  const auto call = [&]<class C>(C) {
    if constexpr (is_choice_of<Mesh, T, C>) {
      f.template operator()<C, typename mesh_reading<Mesh, C::tables>::type>();
    }
  };
  (call(Compiled{}), ...);
}
template <class Mesh, class T, class... Compiled>
constexpr std::size_t count_choices(compiled_list<Compiled...>) {
  constexpr auto count = (std::size_t(is_choice_of<Mesh, T, Compiled>) + ...);
  static_assert(count > 0, "nothing is compiled for this mesh and precision");
  return count;
}

template <class Backend, class K, class Mesh, class T>
inline constexpr auto choices = [] {
  using compiled = typename K::compiled;
  std::array<kernel_choice, count_choices<Mesh, T>(compiled{})> result{};
  std::size_t n = 0;
  for_each_choice<Mesh, T>(compiled{}, [&]<class C, class Reading>() {
    result[n++] = choice_of<Backend, K, Reading, T, C>();
  });
  return result;
}();

template <stage... fused>
inline constexpr std::array<stage, sizeof...(fused)> stage_list{fused...};
template <stage... fused>
constexpr std::span<const stage> list_of(stages<fused...>) {
  return stage_list<fused...>;
}

template <class Backend, class K, class Mesh, class T>
inline constexpr kernel_description description = [] {
  constexpr kernel_traits<Mesh> traits = K::template traits<Mesh, T>;
  kernel_description d{.info = K::info,
                       .mesh = Mesh::kind,
                       .tuned = K::tuned(Mesh::kind, precision_of<T>),
                       .value_bytes = sizeof(T),
                       .computes = list_of(typename K::computes{}),
                       .choices = choices<Backend, K, Mesh, T>,
                       .halo = traits.halo,
                       .field_alignment = traits.field_alignment,
                       .row_alignment = traits.row_alignment,
                       .reject = traits.reject};
  if constexpr (Mesh::kind == access::strided) {
    d.grid = traits.grid;
    d.cluster = traits.cluster;
    d.copies = traits.copies;
  }
  return d;
}();

// The operands from level k on: fields without levels stay.
template <class T, template <class, layout> class Operands>
Operands<T, layout::ifirst> from_level(const Operands<T, layout::ifirst>& operands, index_t k) {
  using all = Operands<T, layout::ifirst>;
  auto views = std::bit_cast<std::array<raw_view, sizeof(all) / sizeof(raw_view)>>(operands);
  for (raw_view& v : views) {
    if (v.data) { v.data = static_cast<T*>(v.data) + std::ptrdiff_t(k) * v.stride; }
  }
  return std::bit_cast<all>(views);
}

// Neighbours are computed by strides, which hold away from the seam of a torus only.
inline void check_reach(const kernel_description& d, const bound_kernel& b) {
  index_t before = 0, after = 0;
  for (const stage s : d.computes) {
    before += info(s).rules.reach_before;
    after += info(s).rules.reach_after;
  }
  const rectangle& r = b.domain;
  if (r.copies != 1 && (!d.copies || r.copies < 1 || r.distance < r.nj)) {
    throw unsupported(d.copies ? "copies of a domain overlap" : "this kernel takes one rectangle");
  }
  const index_t rows = (r.copies - 1) * r.distance + r.nj;  // from the first copy's first one on
  const auto inside = [&](index_t first, index_t count, index_t all) {
    return first >= before && first + count + after <= all;
  };
  if (b.row < 1 || !inside(r.i0, r.ni, b.row) || !inside(r.j0, rows, b.plane / b.row)) {
    const auto span = [](index_t first, index_t count) {
      return std::to_string(first) + " to " + std::to_string(first + count - 1);
    };
    throw unsupported("the domain, i " + span(r.i0, r.ni) + " and j " + span(r.j0, rows) +
                      ", is too near the edge of a mesh with rows of " + std::to_string(b.row) +
                      " in a plane of " + std::to_string(b.plane) + ": its stencils read " +
                      std::to_string(before) + " rows and columns before it and " +
                      std::to_string(after) + " after it");
  }
}

// What a caller gives: all fields but those that one stage of the kernel hands to the next.
inline void check_fields(const kernel_description& d, const bound_kernel& b) {
  if (b.levels < 1) { throw unsupported("there are no levels to compute"); }
  if (b.points == 0) { throw unsupported("a domain is empty"); }
  if (b.threads.volume() == 0) { throw unsupported("the mesh has no tables of blocks"); }
  if (d.mesh == access::strided) { check_reach(d, b); }
  for (const bound_field& f : b.fields) {
    const auto handed_on = [&](const bound_field& other) {
      return other.name == f.name && other.written != f.written;
    };
    const bool inside = std::any_of(b.fields.begin(), b.fields.end(), handed_on);
    if (!f.memory.data && !inside) {
      throw unsupported(std::string(d.info.chain) + ": field " + std::string(info(f.name).name) +
                        " of " + std::string(info(f.of).name) + " is not given");
    }
  }
}

}  // namespace detail

// A kernel made ready, on each of its domains. A call enqueues it on a stream (cudaStream_t,
// hipStream_t): it allocates nothing, does not wait and may be captured in a graph. The processor
// has to outlive it, and to be the current device.
class prepared {
 public:
  void operator()(gpu::stream_handle stream = nullptr) const {
    for (const detail::ready_kernel& part : parts_) {
      processor_->launch(part.function, part.how, part.object.data(), stream);
    }
  }
  // This, and then the other: stencils one after another, with the intermediates in memory that the
  // caller gives to both.
  prepared then(const prepared& other) const {
    prepared both = *this;
    both.parts_.insert(both.parts_.end(), other.parts_.begin(), other.parts_.end());
    return both;
  }
  // Registers, occupancy and shape of each launch.
  std::vector<gpu::kernel_facts> facts() const {
    std::vector<gpu::kernel_facts> result;
    for (const detail::ready_kernel& part : parts_) { result.push_back(part.facts); }
    return result;
  }

  prepared(const gpu::processor& p, std::vector<detail::ready_kernel> parts)
      : processor_(&p), parts_(std::move(parts)) {}

 private:
  const gpu::processor* processor_;
  std::vector<detail::ready_kernel> parts_;
};

// Prepares kernel K with a launch of those that are compiled: K::compiled. Throws `unsupported`,
// whose message says what does not fit; gpu::device_error where the runtime fails.
template <gpu_kernel K, class Backend = gpu::native_backend, class Mesh, class T,
          template <class, layout> class... Operands>
prepared prepare(const gpu::processor& p, const launch& l, const Mesh& mesh,
                 const domain_list<typename Mesh::domain>& domains, level_range levels,
                 const Operands<T, layout::ifirst>&... operands) {
  static_assert(detail::is_written_for<Mesh>(K::info), "the kernel is not written for this mesh");
  static_assert(detail::are_operands<T, Operands<T, layout::ifirst>...>(typename K::computes{}),
                "the operands are those of the kernel's stencils, first to last");
  constexpr const kernel_description& d = detail::description<Backend, K, Mesh, T>;
  detail::check_launch(p.limits(), d, l);
  const kernel_choice* const fits = detail::compiled_choice(d, l);
  if (!fits) {
    throw unsupported(to_string(l) + ": not compiled; there are" + detail::choices_text(d));
  }
  const launch whole = fits->bounds.with_cluster(l);
  std::vector<detail::ready_kernel> parts;
  for (const auto& domain : domains) {
    detail::for_each_choice<Mesh, T>(typename K::compiled{}, [&]<class C, class Reading>() {
      if constexpr (std::is_same_v<Reading, Mesh>) {
        using typed = detail::typed_kernel<K, Mesh, T, C>;
        if (bounds_of<C>() != fits->bounds) { return; }
        const bound_kernel b =
            typed::bind(typename K::computes{}, mesh, domain, levels.end - levels.first,
                        detail::from_level(operands, levels.first)...);
        detail::check_fields(d, b);
        parts.push_back(detail::make_ready(p, d, *fits, b, whole, fits->function()));
      }
    });
  }
  return {p, std::move(parts)};
}

// The same with the kernel's tuned launch.
template <gpu_kernel K, class Backend = gpu::native_backend, class Mesh, class T,
          template <class, layout> class... Operands>
prepared prepare(const gpu::processor& p, const Mesh& mesh,
                 const domain_list<typename Mesh::domain>& domains, level_range levels,
                 const Operands<T, layout::ifirst>&... operands) {
  return prepare<K, Backend>(p, K::tuned(Mesh::kind, precision_of<T>), mesh, domains, levels,
                             operands...);
}

}  // namespace icobench
