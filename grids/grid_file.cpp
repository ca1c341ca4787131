#include <icobench/grids/grid_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <icobench/grids/isolated.hpp>
#include <icobench/grids/netcdf_file.hpp>
#include <icobench/grids/recognise.hpp>
#include <icobench/grids/sphere.hpp>
#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

// A neighbour table as the file declares it.
struct file_table {
  std::string name;
  int id = -1;
  std::size_t rows = 0;  // entities
  std::size_t slots = 0;
  bool entity_first = false;  // (entity, slot); ICON writes (slot, entity)
  nc_type type = NC_NAT;
  std::optional<long long> fill;

  std::size_t position(std::size_t row, std::size_t slot) const {
    return entity_first ? row * slots + slot : slot * rows + row;
  }
};

[[noreturn]] void fail(const netcdf_file& file, const file_table& t, const std::string& what) {
  file.fail("variable '" + t.name + "': " + what);
}

// netCDF files start with "CDF" and a version; HDF5's signature may follow a user block.
bool looks_like_netcdf(const std::string& path) {
  constexpr std::string_view hdf5("\x89HDF\r\n\x1a\n", 8);
  std::ifstream in(path, std::ios::binary);
  std::array<char, 8> start{};
  for (std::streamoff at = 0; in.seekg(at) && in.read(start.data(), start.size());
       at = at == 0 ? 512 : 2 * at) {
    const std::string_view magic(start.data(), start.size());
    if (magic == hdf5) return true;
    if (at == 0 && magic.starts_with("CDF") && (magic[3] == 1 || magic[3] == 2 || magic[3] == 5)) {
      return true;
    }
  }
  return false;
}

// What DWD and others serve: ICON grids packed once more.
std::string unpacking_hint(const std::string& path) {
  constexpr std::pair<std::string_view, std::string_view> packers[] = {
      {"BZh", "bunzip2"}, {"\x1f\x8b", "gunzip"}, {"\x28\xb5\x2f\xfd", "unzstd"}};
  std::ifstream in(path, std::ios::binary);
  std::array<char, 4> start{};
  in.read(start.data(), start.size());
  for (const auto& [magic, tool] : packers) {
    if (std::string_view(start.data(), start.size()).starts_with(magic)) {
      return "; it is packed: unpack it with " + std::string(tool);
    }
  }
  return "";
}

// Whether the file cannot be locked for reading, which HDF5 demands and reports as "HDF error".
bool lock_is_refused(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool refused = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  ::close(descriptor);
  return refused;
}

void check_readable(const std::string& path) {
  std::error_code error;
  const auto refuse = [&](const std::string& why) { throw input_error(path + ": " + why); };
  if (!std::filesystem::exists(path, error)) refuse("no such file");
  if (!std::filesystem::is_regular_file(path, error)) refuse("not a regular file");
  if (::access(path.c_str(), R_OK) != 0) refuse("no permission to read it");
  if (!looks_like_netcdf(path)) { refuse("not a netCDF file" + unpacking_hint(path)); }
}

int open_netcdf(const std::string& path) {
  int id = -1;
  const int status = nc_open(path.c_str(), NC_NOWRITE, &id);
  if (status == NC_NOERR) return id;
  std::string why = std::string("cannot open as netCDF: ") + nc_strerror(status);
  why += lock_is_refused(path)
             ? " (the file cannot be locked; set HDF5_USE_FILE_LOCKING=FALSE if nobody writes it)"
             : " (truncated or damaged?)";
  throw input_error(path + ": " + why);
}

bool is_real(nc_type type) {
  return type == NC_FLOAT || type == NC_DOUBLE;
}

nc_type type_of(const netcdf_file& file, const file_table& t) {
  nc_type type = NC_NAT;
  file.check(nc_inq_vartype(file.id(), t.id, &type), "variable '" + t.name + "'");
  constexpr std::array integers = {NC_BYTE, NC_UBYTE, NC_SHORT, NC_USHORT,
                                   NC_INT,  NC_UINT,  NC_INT64, NC_UINT64};
  if (!is_real(type) && std::find(integers.begin(), integers.end(), type) == integers.end()) {
    fail(file, t, "expected integers");
  }
  return type;
}

// What no id can be: values that are too large for an id, or missing, become it.
constexpr long long no_id = std::numeric_limits<long long>::max();

long long id_from(unsigned long long value) {
  return value < static_cast<unsigned long long>(no_id) ? static_cast<long long>(value) : no_id;
}

// _FillValue, or missing_value where there is no other.
std::optional<long long> fill_value(const netcdf_file& file, int variable, nc_type of) {
  for (const char* name : {"_FillValue", "missing_value"}) {
    std::size_t length = 0;
    nc_type type = NC_NAT;
    if (nc_inq_att(file.id(), variable, name, &type, &length) != NC_NOERR || length != 1) {
      continue;
    }
    if (of == NC_UINT64) {
      unsigned long long value = 0;
      if (nc_get_att_ulonglong(file.id(), variable, name, &value) == NC_NOERR) {
        return id_from(value);
      }
    }
    long long value = 0;
    if (nc_get_att_longlong(file.id(), variable, name, &value) == NC_NOERR) { return value; }
  }
  return std::nullopt;
}

// A variable may claim any size in a damaged file: believe no more than compression could explain
// (deflate reaches 1032:1), before memory is asked for.
void check_size(const netcdf_file& file, const file_table& t) {
  constexpr std::uintmax_t best_compression = 2000;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file.path(), error);
  constexpr auto most = std::size_t(std::numeric_limits<index_t>::max() / 12);
  if (t.rows == 0) fail(file, t, "has no entries");
  if (t.rows > 3 * most || (!error && t.rows * t.slots / best_compression > bytes)) {
    fail(file, t,
         "claims " + std::to_string(t.rows) + " x " + std::to_string(t.slots) +
             " values, more than the file or 32-bit ids can hold");
  }
}

// `entity` is the name of the dimension in ICON files; it decides only if sizes do not.
file_table describe(const netcdf_file& file, const char* name, std::size_t slots,
                    const char* entity) {
  file_table t;
  t.name = name;
  t.slots = slots;
  if (nc_inq_varid(file.id(), name, &t.id) != NC_NOERR) {
    file.fail("variable '" + t.name + "' is missing; is this an ICON grid file?");
  }
  t.type = type_of(file, t);
  int rank = 0;
  file.check(nc_inq_varndims(file.id(), t.id, &rank), "variable '" + t.name + "'");
  if (rank != 2) fail(file, t, "expected 2 dimensions, found " + std::to_string(rank));
  std::array<int, 2> dims{};
  std::array<std::size_t, 2> length{};
  std::array<std::array<char, NC_MAX_NAME + 1>, 2> dim_name{};
  file.check(nc_inq_vardimid(file.id(), t.id, dims.data()), "variable '" + t.name + "'");
  for (std::size_t d = 0; d < 2; ++d) {
    file.check(nc_inq_dim(file.id(), dims[d], dim_name[d].data(), &length[d]),
               "dimensions of variable '" + t.name + "'");
  }
  const bool slot_first_fits = length[0] == slots, entity_first_fits = length[1] == slots;
  if (!slot_first_fits && !entity_first_fits) {
    fail(file, t,
         "expected one dimension of " + std::to_string(slots) + ", found " +
             std::to_string(length[0]) + " x " + std::to_string(length[1]));
  }
  t.entity_first =
      entity_first_fits && (!slot_first_fits || std::string_view(dim_name[0].data()) == entity);
  t.rows = length[t.entity_first ? 0 : 1];
  t.fill = fill_value(file, t.id, t.type);
  check_size(file, t);
  return t;
}

// Ids that a tool has made real numbers, as xarray does where some are missing (NaN).
long long id_from(const netcdf_file& file, const file_table& t, double value) {
  if (std::isnan(value)) { return no_id; }
  const double exact = t.type == NC_FLOAT ? 1 << 24 : 1e15;  // up to which each integer is one
  if (value != std::floor(value) || std::fabs(value) > exact) {
    fail(file, t,
         "expected integers, found " + std::to_string(value) +
             " (a tool made them real numbers? xarray keeps them with mask_and_scale=False)");
  }
  return static_cast<long long>(value);
}

std::vector<long long> read_values(const netcdf_file& file, const file_table& t) {
  const std::size_t count = t.rows * t.slots;
  const auto read = [&](auto get, auto* to) {
    file.check(get(file.id(), t.id, to), "variable '" + t.name + "' cannot be read");
  };
  std::vector<long long> values(count);
  if (t.type == NC_UINT64) {
    std::vector<unsigned long long> all(count);
    read(nc_get_var_ulonglong, all.data());
    std::transform(all.begin(), all.end(), values.begin(),
                   [](unsigned long long v) { return id_from(v); });
  } else if (is_real(t.type)) {
    std::vector<double> all(count);
    read(nc_get_var_double, all.data());
    std::transform(all.begin(), all.end(), values.begin(),
                   [&](double v) { return id_from(file, t, v); });
    for (long long& v : values) { v = v == no_id && !t.fill ? -1 : v; }
  } else {
    read(nc_get_var_longlong, values.data());
  }
  return values;
}

// Whether the file counts from 0 or 1. Ends of edges are never missing, so a 0 among them tells;
// where vertex 0 or 1 may have no edge, the last edge does, which some vertex has.
long long index_base(const netcdf_file& file, const file_table& e2v,
                     const std::vector<long long>& ends, const file_table& v2e,
                     const std::vector<long long>& edges) {
  long long lowest = no_id, last = -1;
  for (const long long v : ends) {
    if (v != e2v.fill) { lowest = std::min(lowest, v); }
  }
  for (const long long e : edges) {
    if (e != v2e.fill && e != no_id) { last = std::max(last, e); }
  }
  if (lowest == 0) { return 0; }
  const long long base = last - static_cast<long long>(e2v.rows) + 1;
  if (lowest > 0 && (base == 0 || base == 1)) { return base; }
  if (lowest == 1) { return 1; }
  fail(file, e2v, "the lowest vertex is " + std::to_string(lowest) + ", expected 0 or 1");
}

table to_table(const netcdf_file& file, const file_table& t, const std::vector<long long>& values,
               long long base, std::size_t count) {
  table result(index_t(t.rows), index_t(t.slots));
  for (std::size_t row = 0; row < t.rows; ++row) {
    for (std::size_t s = 0; s < t.slots; ++s) {
      const long long value = values[t.position(row, s)];
      if (value == t.fill || value < base) continue;
      if (value == no_id && is_real(t.type)) continue;
      if (value - base >= static_cast<long long>(count)) {
        fail(file, t,
             "index " + std::to_string(value) + " of row " + std::to_string(row) +
                 " (counted from 0) is out of range, there are " + std::to_string(count));
      }
      result(index_t(row), index_t(s)) = index_t(value - base);
    }
  }
  return result;
}

// Present neighbours first, each once: some files put the gap of a pentagon in the middle, or
// fill it by repeating an edge.
void compact(table& t) {
  for (index_t row = 0; row < t.rows(); ++row) {
    index_t kept = 0;
    for (index_t s = 0; s < t.slots; ++s) {
      const index_t id = std::exchange(t(row, s), missing);
      bool repeated = id == missing;
      for (index_t before = 0; before < kept; ++before) repeated |= t(row, before) == id;
      if (!repeated) t(row, kept++) = id;
    }
  }
}

// The text up to the first NUL, printable characters only: attributes come padded or damaged.
std::string text_attribute(const netcdf_file& file, const char* name) {
  constexpr std::size_t longest = 1024;
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(file.id(), NC_GLOBAL, name, &type, &length) != NC_NOERR) return {};
  if (type != NC_CHAR || length == 0 || length > longest) return {};
  std::string text(length, '\0');
  if (nc_get_att_text(file.id(), NC_GLOBAL, name, text.data()) != NC_NOERR) return {};
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  std::erase_if(text, [](char c) { return c < ' ' || c > '~'; });
  return text;
}

// The sizes of any triangular grid with at most six edges a vertex; a damaged size breaks them
// before memory for the tables is asked for.
void check_proportions(const netcdf_file& file, const file_table& e2v, const file_table& e2c,
                       const file_table& c2v, const file_table& v2e) {
  if (e2c.rows != e2v.rows) {
    fail(file, e2c,
         "has " + std::to_string(e2c.rows) + " edges, 'edge_vertices' has " +
             std::to_string(e2v.rows));
  }
  if (e2v.rows > 3 * v2e.rows || v2e.rows > 2 * e2v.rows || 3 * c2v.rows > 2 * e2v.rows) {
    file.fail("dimensions of variables 'edges_of_vertex', 'edge_vertices', 'vertex_of_cell': " +
              std::to_string(v2e.rows) + " vertices, " + std::to_string(e2v.rows) + " edges, " +
              std::to_string(c2v.rows) + " cells are not those of a triangular grid");
  }
}

// Generous: compressed files are read at several times 16 MB/s of what they hold, 10 000 chunks a
// second.
double seconds_to_read(const netcdf_file& file, std::initializer_list<const file_table*> tables) {
  double seconds = 0;
  for (const file_table* t : tables) {
    int storage = NC_CONTIGUOUS;
    std::array<std::size_t, 2> chunk{};
    const std::array<std::size_t, 2> all =
        t->entity_first ? std::array{t->rows, t->slots} : std::array{t->slots, t->rows};
    seconds += 8 * double(t->rows * t->slots) / 16e6;
    if (nc_inq_var_chunking(file.id(), t->id, &storage, chunk.data()) == NC_NOERR &&
        storage == NC_CHUNKED && chunk[0] > 0 && chunk[1] > 0) {
      seconds += std::ceil(double(all[0]) / double(chunk[0])) *
                 std::ceil(double(all[1]) / double(chunk[1])) / 1e4;
    }
  }
  return std::min(seconds, 3600.);
}

grid read_open_file(const netcdf_file& file) {
  const file_table e2v = describe(file, "edge_vertices", 2, "edge");
  const file_table e2c = describe(file, "adjacent_cell_of_edge", 2, "edge");
  const file_table c2v = describe(file, "vertex_of_cell", 3, "cell");
  const file_table v2e = describe(file, "edges_of_vertex", 6, "vertex");
  check_proportions(file, e2v, e2c, c2v, v2e);
  allow_cpu_seconds(seconds_to_read(file, {&e2v, &e2c, &c2v, &v2e}));
  grid g;
  g.uuid = text_attribute(file, "uuidOfHGrid");
  g.vertices = index_t(v2e.rows);
  g.edges = index_t(e2v.rows);
  g.cells = index_t(c2v.rows);
  const auto ends = read_values(file, e2v);
  const auto edges = read_values(file, v2e);
  const long long base = index_base(file, e2v, ends, v2e, edges);
  g.e2v = to_table(file, e2v, ends, base, v2e.rows);
  g.e2c = to_table(file, e2c, read_values(file, e2c), base, c2v.rows);
  g.c2v = to_table(file, c2v, read_values(file, c2v), base, v2e.rows);
  g.v2e = to_table(file, v2e, edges, base, e2v.rows);
  compact(g.v2e);
  return g;
}

// A grid or the message of an error as bytes, to cross from one process to another.
template <class T>
void append(std::string& bytes, const T* data, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(data), count * sizeof(T));
}

std::string pack(const grid& g) {
  std::string bytes = "grid";
  const std::array<index_t, 4> sizes = {g.vertices, g.edges, g.cells, index_t(g.uuid.size())};
  append(bytes, sizes.data(), sizes.size());
  bytes += g.uuid;
  for (const table* t : {&g.e2v, &g.e2c, &g.c2v, &g.v2e})
    append(bytes, t->ids.data(), t->ids.size());
  return bytes;
}

std::optional<grid> unpack(std::string_view bytes) {
  const auto take = [&bytes](void* to, std::size_t size) {
    if (bytes.size() < size) return false;
    std::memcpy(to, bytes.data(), size);
    bytes.remove_prefix(size);
    return true;
  };
  std::array<index_t, 4> sizes{};
  if (!take(sizes.data(), sizeof sizes)) return std::nullopt;
  if (*std::min_element(sizes.begin(), sizes.end()) < 0) return std::nullopt;
  const auto [vertices, edges, cells, uuid] = std::array<std::size_t, 4>{
      std::size_t(sizes[0]), std::size_t(sizes[1]), std::size_t(sizes[2]), std::size_t(sizes[3])};
  // What a damaged child made up is not believed.
  const std::size_t ids = 6 * vertices + 4 * edges + 3 * cells;
  if (bytes.size() != uuid + ids * sizeof(index_t)) return std::nullopt;
  grid g;
  g.vertices = sizes[0];
  g.edges = sizes[1];
  g.cells = sizes[2];
  g.uuid.resize(uuid);
  take(g.uuid.data(), uuid);
  g.e2v = table(g.edges, 2);
  g.e2c = table(g.edges, 2);
  g.c2v = table(g.cells, 3);
  g.v2e = table(g.vertices, 6);
  for (table* t : {&g.e2v, &g.e2c, &g.c2v, &g.v2e}) {
    take(t->ids.data(), t->ids.size() * sizeof(index_t));
  }
  return g;
}

std::string read_packed(const std::string& path) {
  try {
    const netcdf_file file(open_netcdf(path), path);
    return pack(read_open_file(file));
  } catch (const input_error& e) { return e.what(); } catch (const std::exception& e) {
    return path + ": cannot be read: " + e.what();
  }
}

}  // namespace

// libhdf5 crashes or never returns on some damaged files (seen with 1.10.8: on one changed byte in
// a hundred of small files), so the library works in a child process, and what it delivers is
// checked here.
grid read_grid_file(const std::string& path) {
  check_readable(path);
  constexpr unsigned seconds_to_open = 2;
  const auto [bytes, timed_out] =
      run_isolated([&path] { return read_packed(path); }, seconds_to_open);
  if (timed_out) {
    throw input_error(path +
                      ": reading it took too long: damaged, or in very small chunks "
                      "(nccopy rewrites it in larger ones)");
  }
  if (!bytes) throw input_error(path + ": damaged: the netCDF library crashes on it");
  if (!bytes->starts_with("grid")) throw input_error(*bytes);
  auto g = unpack(std::string_view(*bytes).substr(4));
  if (!g) throw input_error(path + ": damaged: the netCDF library lost its way in it");
  g->name = path;
  check_grid(*g);
  g->e2c2v = make_e2c2v(g->e2v, g->e2c, g->c2v);
  g->c2e = make_c2e(g->e2v, g->e2c, g->c2v);
  return *std::move(g);
}

grid load_grid(const std::string& spec) {
  if (auto made = make_named_grid(spec)) { return *std::move(made); }
  grid g = read_grid_file(spec);
  const auto embedding = recognise_torus(g);
  return embedding ? renumbered_as_torus(g, *embedding) : g;
}

}  // namespace icobench
