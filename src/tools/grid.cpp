// icobench_grid: what a grid is, and torus grid files.
#include <hdf5.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <icobench/grids/domain.hpp>
#include <icobench/grids/grid_file.hpp>
#include <icobench/grids/numbering.hpp>
#include <icobench/grids/patches.hpp>
#include <icobench/grids/recognise.hpp>
#include <icobench/grids/sphere.hpp>
#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

#include "src/support/run_tool.hpp"

namespace {

struct grid_facts {
  icobench::grid grid;
  icobench::grid_report report;
  std::string kind;
  std::optional<icobench::torus_shape> torus;
  std::optional<std::string> edge_numbering;
  std::string numbering;  // of all: "rows", "icon_generator" or "other"
};

grid_facts examine(const std::string& spec) {
  grid_facts facts;
  auto made = icobench::make_named_grid(spec);
  facts.grid = made ? *std::move(made) : icobench::read_grid_file(spec);
  facts.report = icobench::inspect(facts.grid);
  facts.kind = icobench::kind_of(facts.report);
  const bool bisected = icobench::is_numbered_by_bisection(facts.grid);
  facts.numbering = bisected ? "icon_generator" : "other";
  if (const auto embedding = icobench::recognise_torus(facts.grid)) {
    const auto& place = embedding->vertex;
    facts.numbering = std::is_sorted(place.begin(), place.end()) ? "rows" : "other";
    facts.kind = "torus";
    facts.torus = embedding->shape;
    facts.edge_numbering = icobench::edge_numbering(facts.grid, *embedding);
  }
  return facts;
}

// Valence -> number of vertices, those that occur.
std::map<std::string, icobench::index_t> valences(const icobench::grid_report& report) {
  std::map<std::string, icobench::index_t> result;
  for (std::size_t n = 0; n < report.valence.size(); ++n) {
    if (report.valence[n] > 0) result[std::to_string(n)] = report.valence[n];
  }
  return result;
}

void print_json(const grid_facts& facts) {
  const auto& r = facts.report;
  nlohmann::ordered_json out;
  out["name"] = facts.grid.name;
  out["kind"] = facts.kind;
  out["uuid"] = nullptr;
  if (!facts.grid.uuid.empty()) out["uuid"] = facts.grid.uuid;
  out["vertices"] = r.vertices;
  out["edges"] = r.edges;
  out["cells"] = r.cells;
  out["euler_number"] = r.euler;
  out["valence"] = valences(r);
  out["pentagons"] = r.boundary_edges == 0 ? r.valence[5] : 0;
  out["boundary_edges"] = r.boundary_edges;
  out["missing_neighbours"] = r.missing_neighbours;
  out["torus"] = nullptr;
  if (facts.torus) out["torus"] = {{"nx", facts.torus->nx}, {"ny", facts.torus->ny}};
  out["numbering"] = facts.numbering;
  out["edge_numbering"] = nullptr;
  if (facts.edge_numbering) out["edge_numbering"] = *facts.edge_numbering;
  // A path may hold bytes that are not UTF-8; strict parsers must still read the output.
  std::cout << out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void print_text(const grid_facts& facts) {
  const auto& r = facts.report;
  const auto line = [](const std::string& name, const auto& value) {
    std::cout << std::left << std::setw(20) << name << value << '\n';
  };
  line("name", icobench::printable(facts.grid.name));
  line("kind", facts.kind);
  line("uuid", facts.grid.uuid.empty() ? "none" : facts.grid.uuid);
  line("vertices", r.vertices);
  line("edges", r.edges);
  line("cells", r.cells);
  line("Euler number", r.euler);
  for (const auto& [valence, count] : valences(r)) {
    line("with " + valence + " edges", std::to_string(count) + " vertices");
  }
  line("boundary edges", r.boundary_edges);
  line("missing neighbours", r.missing_neighbours);
  line("numbering", facts.numbering);
  if (facts.torus) line("torus", icobench::to_string(*facts.torus));
  if (facts.edge_numbering) line("edge numbering", *facts.edge_numbering);
}

nlohmann::json rows(const icobench::table& t) {
  nlohmann::json result = nlohmann::json::array();
  for (icobench::index_t r = 0; r < t.rows(); ++r) {
    nlohmann::json& row = result.emplace_back(nlohmann::json::array());
    for (icobench::index_t n = 0; n < t.slots; ++n) { row.push_back(t(r, n)); }
  }
  return result;
}

void print_tables(const std::string& spec, const std::string& chain_name,
                  std::optional<icobench::index_t> halo) {
  const icobench::chain* const c = icobench::find_chain(chain_name);
  if (!c) { throw icobench::input_error("--chain " + chain_name + ": there is no such chain"); }
  const icobench::grid g = icobench::load_grid(spec);
  const icobench::domain computed =
      make_domain(g, *c, halo.value_or(icobench::default_halo(g, *c)));
  const icobench::table c2v2e = make_c2v2e(g).members;
  nlohmann::ordered_json out{
      {"name", g.name},         {"torus", nullptr},
      {"vertices", g.vertices}, {"edges", g.edges},
      {"cells", g.cells},       {"chain", c->name},
      {"e2v", rows(g.e2v)},     {"e2c", rows(g.e2c)},
      {"c2v", rows(g.c2v)},     {"v2e", rows(g.v2e)},
      {"e2c2v", rows(g.e2c2v)}, {"v2e2c2v", rows(make_v2e2c2v(g).members)},
      {"c2v2e", rows(c2v2e)},   {"c2v2e2c2v", rows(make_c2v2e2c2v(g, c2v2e).members)}};
  if (g.shape) { out["torus"] = {g.shape->nx, g.shape->ny}; }
  for (const icobench::stage s : c->stages) {
    out["computed"][std::string(info(s).name)] = computed[std::size_t(s)].ids;
  }
  for (const auto o : {icobench::ordering::per_vertex, icobench::ordering::per_orientation}) {
    const icobench::numbering ids =
        g.shape ? make_strided_numbering(g, o, g.shape->nx) : make_numbering(g, computed, o);
    out["edge_number"][std::string(to_string(o))] = ids.of(icobench::location::edge);
  }
  std::cout << out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

// Rectangles, and of each stage of a chain the share of its points inside them.
void print_patches(const std::string& spec, const std::string& chain_name, bool as_json) {
  const icobench::chain* const c = icobench::find_chain(chain_name);
  if (!c) { throw icobench::input_error("--chain " + chain_name + ": there is no such chain"); }
  const icobench::grid g = icobench::load_grid(spec);
  nlohmann::ordered_json out{{"name", g.name}, {"chain", c->name}};
  std::size_t covered = 0;
  const std::vector<icobench::patch> patches = icobench::find_patches(g);
  out["patches"] = nlohmann::ordered_json::array();
  for (const icobench::patch& p : patches) {
    out["patches"].push_back({{"ni", p.ni}, {"nj", p.nj}});
    covered += p.vertices.size();
  }
  out["vertices"] = {{"all", g.vertices}, {"in_patches", covered}};
  const icobench::domain computed = make_domain(g, *c, 0);
  icobench::index_t before = 0, after = 0;
  for (const icobench::stage s : c->stages) {
    before += info(s).rules.reach_before;
    after += info(s).rules.reach_after;
    std::size_t inside = 0;
    for (const icobench::patch& p : patches) {
      const icobench::rectangle r = icobench::inside({0, 0, p.ni, p.nj}, before, after);
      inside += std::size_t(r.ni) * std::size_t(r.nj);
    }
    const std::size_t all = computed[std::size_t(s)].ids.size();
    inside *= std::size_t(icobench::owned_by_vertex(info(s).on));
    out["stages"].push_back(
        {{"stencil", info(s).name}, {"points", all}, {"inside", inside}, {"seams", all - inside}});
  }
  if (as_json) {
    std::cout << out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    return;
  }
  std::cout << g.name << ": " << patches.size() << " patches with " << covered << " of "
            << g.vertices << " vertices\n";
  for (const icobench::patch& p : patches) { std::cout << "  " << p.ni << " x " << p.nj << '\n'; }
  for (const auto& s : out["stages"]) {
    const double all = s["points"], inside = s["inside"];
    std::cout << s["stencil"].get<std::string>() << ": " << s["inside"] << " of " << s["points"]
              << " points inside (" << std::fixed << std::setprecision(1) << 100 * inside / all
              << " %), the others at seams\n";
  }
}

struct options {
  std::string spec;
  std::string file;
  std::string chain = "nabla4_interpolate_verts2cells";
  std::optional<icobench::index_t> halo;
  bool json = false;
  bool force = false;
  double side = 1000;
};

void add_info(CLI::App& app, options& o) {
  auto* info = app.add_subcommand("info", "Counts, shape and numbering of a grid");
  info->add_option("GRID", o.spec, "torus:NXxNY, sphere:RnBk or a grid file")->required();
  info->add_flag("--json", o.json, "Print JSON");
  info->callback([&o] {
    const auto facts = examine(o.spec);
    o.json ? print_json(facts) : print_text(facts);
  });
}

void add_tables(CLI::App& app, options& o) {
  auto* tables = app.add_subcommand(
      "tables", "Neighbour tables (-1: none), computed entities and edge numbers, as JSON");
  tables->add_option("GRID", o.spec, "torus:NXxNY, sphere:RnBk or a grid file")->required();
  tables->add_option("--chain", o.chain, "Chain whose computed entities to show")
      ->capture_default_str();
  tables->add_option("--halo", o.halo, "As in the benchmarks")
      ->check(CLI::Range(0, std::numeric_limits<int>::max()));
  tables->callback([&o] { print_tables(o.spec, o.chain, o.halo); });
}

void add_patches(CLI::App& app, options& o) {
  auto* patches = app.add_subcommand(
      "patches", "Rectangles of the lattice, in which strided kernels compute (patched access)");
  patches->add_option("GRID", o.spec, "torus:NXxNY, sphere:RnBk or a grid file")->required();
  patches->add_option("--chain", o.chain, "Chain whose points inside to count")
      ->capture_default_str();
  patches->add_flag("--json", o.json, "Print JSON");
  patches->callback([&o] { print_patches(o.spec, o.chain, o.json); });
}

void add_write(CLI::App& app, options& o) {
  auto* write = app.add_subcommand("write", "Write the grid file of a torus");
  write->add_option("TORUS", o.spec, "torus:NXxNY")->required();
  write->add_option("FILE", o.file, "File to write")->required();
  write->add_option("--side", o.side, "Edge length in metres")->capture_default_str();
  write->add_flag("--force", o.force, "Replace an existing file");
  write->callback([&o] {
    icobench::write_torus_file(o.file, icobench::parse_torus(o.spec), o.side,
                               o.force ? icobench::overwrite::yes : icobench::overwrite::no);
  });
}

}  // namespace

int main(int argc, char** argv) {
  H5dont_atexit();  // of a file that could not be closed it crashes there (1.10)
  CLI::App app("Describe grids and write torus grid files", "icobench_grid");
  options o;
  add_info(app, o);
  add_tables(app, o);
  add_patches(app, o);
  add_write(app, o);
  return icobench::run_tool(app, argc, argv);
}
