// icobench_reference: problems with their expected results, as files other programs can check
// against.
#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include <icobench/grids/grid_file.hpp>

#include "src/problem/reference_file.hpp"
#include "src/support/run_tool.hpp"

namespace {

struct options {
  std::string chain, grid, file, precision = "double";
  icobench::index_t levels = 80, halo = -1;
  bool force = false;
};

// Status 2: wrong input.
const icobench::chain& chain_named(const std::string& name) {
  if (const auto* c = icobench::find_chain(name)) { return *c; }
  std::string known;
  for (const auto& c : icobench::chain_table) {
    known += (known.empty() ? "" : ", ") + std::string(c.name);
  }
  throw icobench::input_error("unknown chain '" + name + "'; there are " + known);
}

void write(const options& o) {
  const icobench::chain& c = chain_named(o.chain);
  const auto existing = o.force ? icobench::overwrite::yes : icobench::overwrite::no;
  const icobench::output_file can_be_written("", o.file, {o.grid}, existing);
  const auto mesh = std::make_shared<const icobench::grid>(icobench::load_grid(o.grid));
  const auto halo = o.halo >= 0 ? o.halo : icobench::default_halo(*mesh, c);
  const auto precision =
      o.precision == "float" ? icobench::precision::float32 : icobench::precision::float64;
  auto p = icobench::make_problem(mesh, c, o.levels, halo, precision);
  icobench::compute_reference(p);
  icobench::write_reference(o.file, p, existing);
}

void print_field(const icobench::problem& p, const char* role, icobench::field f) {
  const auto& about = icobench::info(f);
  std::cout << role << ' ' << about.name << ": " << icobench::count(*p.mesh, about.on);
  if (about.slots > 1) { std::cout << " x " << about.slots; }
  if (p.chain_->by_level(f)) { std::cout << " x " << p.levels; }
  std::cout << '\n';
}

void print_info(const options& o) {
  const icobench::problem p = icobench::read_reference(o.file);
  const icobench::grid& g = *p.mesh;
  std::cout << "chain " << p.chain_->name << "\ngrid " << icobench::printable(g.name) << ": "
            << g.vertices << " vertices, " << g.edges << " edges, " << g.cells << " cells";
  if (g.shape) { std::cout << ", torus of " << g.shape->nx << " x " << g.shape->ny; }
  std::cout << "\nlevels " << p.levels << "\nhalo " << p.halo << "\nprecision "
            << icobench::to_string(p.precision_) << '\n';
  for (const icobench::stage s : p.chain_->stages) {
    std::cout << "computed by " << icobench::info(s).name << ": "
              << p.computed[std::size_t(s)].ids.size() << '\n';
  }
  for (const icobench::field f : icobench::inputs(*p.chain_)) { print_field(p, "input", f); }
  for (const icobench::stage s : p.chain_->stages) {
    for (const icobench::field f : icobench::info(s).outputs) { print_field(p, "output", f); }
  }
}

void add_write(CLI::App& app, options& o) {
  CLI::App* const command = app.add_subcommand("write", "Compute a reference and write it");
  command->add_option("chain", o.chain, "chain of stencils, such as nabla4_interpolate")
      ->required();
  command->add_option("grid", o.grid, "torus:NXxNY, sphere:RnBk or an ICON grid file")->required();
  command->add_option("file", o.file, "file to write (HDF5)")->required();
  command->add_option("--levels", o.levels, "number of levels")->capture_default_str();
  command
      ->add_option("--halo", o.halo, "rows and columns of a torus left out on each side [by chain]")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  command->add_option("--precision", o.precision, "double, or float: inputs rounded to float")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  command->add_flag("--force", o.force, "overwrite the file if it exists");
  command->callback([&o] { write(o); });
}

void add_info(CLI::App& app, options& o) {
  CLI::App* const command = app.add_subcommand("info", "Check a file and say what it holds");
  command->add_option("file", o.file, "file to read")->required();
  command->callback([&o] { print_info(o); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Write and describe reference dumps", "icobench_reference");
  options o;
  add_write(app, o);
  add_info(app, o);
  return icobench::run_tool(app, argc, argv);
}
