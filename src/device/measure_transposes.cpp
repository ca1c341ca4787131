// bench_device transposes.
#include "src/device/device_bench.hpp"
#include "src/measure/ceilings.hpp"

namespace icobench {
namespace {

class transpose_work {
 public:
  transpose_work(device_bench& bench, precision p, std::string shape, const transposition& m)
      : device_(bench.device()),
        ops_(bench.ops()),
        precision_(p),
        shape_(std::move(shape)),
        matrix_(m),
        from_(device_, m.from_distance * m.matrices * size_of(p)),
        to_(device_, std::max(m.to_distance, m.from_distance) * m.matrices * size_of(p)),
        result_(device_, sizeof(located)),
        space_(device_) {
    ops_.fill_inputs(device_, p, 1, from_.data(), m.from_distance * m.matrices);
    device_.fill(to_.data(), 0xff, to_.bytes());  // NaN: what a transpose leaves out shows
  }

  measurement make(transpose_method how, unsigned tile) {
    constexpr const char* methods[] = {"copy", "naive", "tile", "padded", "column", "vector"};
    measurement m;
    m.name = "transposes/" + shape_ + "/" + methods[std::size_t(how)] +
             (tile > 0 ? std::to_string(tile) : "") + "/" + std::string(to_string(precision_));
    m.parameters = {{"rows", matrix_.rows}, {"columns", matrix_.columns}};
    m.bytes = 2 * double(matrix_.rows) * double(matrix_.columns) * matrix_.matrices *
              double(size_of(precision_));
    m.reference = "ceilings/runtime_copy";
    m.run = [=, this] {
      ops_.transpose(device_, precision_, from_.data(), to_.data(), matrix_, how, tile);
    };
    m.check = [=, this]() -> std::string {
      const bool transposed = how != transpose_method::copy;
      located worst{};
      ops_.find_transposed_error(device_, precision_, to_.data(), matrix_, transposed,
                                 result_.as<located>(), space_);
      device_.download(&worst, result_.data(), sizeof worst);
      device_.fill(to_.data(), 0xff, to_.bytes());  // for the next one
      return worst.value <= 0 ? "" : "element " + std::to_string(worst.index) + " is wrong";
    };
    return m;
  }

  std::vector<measurement> all() {
    std::vector<measurement> result{make(transpose_method::copy, 0),
                                    make(transpose_method::naive, 0)};
    for (const unsigned tile : {16u, 32u}) {
      result.push_back(make(transpose_method::tile, tile));
      result.push_back(make(transpose_method::padded, tile));
    }
    // Runs of 256 and 512 bytes (1024 were no faster); squares of 32 and 64 elements.
    const bool square = matrix_.rows == matrix_.columns;
    const auto shortest = unsigned(square ? 32 : 256 / size_of(precision_));
    for (const transpose_method how : {transpose_method::column, transpose_method::vector}) {
      for (const unsigned run : {shortest, 2 * shortest}) { result.push_back(make(how, run)); }
    }
    return result;
  }

 private:
  gpu::device& device_;
  const operations& ops_;
  precision precision_;
  std::string shape_;
  transposition matrix_;
  gpu::buffer from_, to_, result_;
  reduce_space space_;
};

// A field of edges of the default grid, with the padding of the layouts; what the library's
// conversion makes of it.
transposition field_matrix(std::size_t edges, std::size_t levels, std::size_t unit,
                           bool to_kfirst) {
  const std::size_t padded = round_up(edges, unit);
  return to_kfirst
             ? transposition{levels, edges, padded, levels, 1, padded * levels, edges * levels}
             : transposition{edges, levels, levels, padded, 1, edges * levels, padded * levels};
}

}  // namespace

void measure_transposes(device_bench& bench) {
  if (!bench.find("ceilings/runtime_copy")) {
    ceiling_work ceilings(bench.device(), bench.ops(), bench.elements(std::size_t(1) << 28));
    bench.measure({ceilings.memory(precision::float64).back()});
  }
  const std::size_t small = bench.simt() ? 67 : 4096, large = bench.simt() ? 132 : 16384;
  const std::size_t edges = bench.simt() ? 12 * 9 * 3 : 594 * 514 * 3;
  for (const precision p : {precision::float32, precision::float64}) {
    for (const std::size_t n : {small, large}) {
      const std::string shape = std::to_string(n) + "x" + std::to_string(n);
      transpose_work work(bench, p, shape, {n, n, n, n, 1, n * n, n * n});
      bench.measure(work.all());
    }
    const std::size_t unit = 128 / size_of(p);
    for (const bool to_kfirst : {true, false}) {
      transpose_work work(bench, p, to_kfirst ? "ifirst_to_kfirst" : "kfirst_to_ifirst",
                          field_matrix(edges, 80, unit, to_kfirst));
      bench.measure(work.all());
    }
  }
}

}  // namespace icobench
