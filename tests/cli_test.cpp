// The command line: the real programs, what they print, and how they end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "src/catalogue/registry.hpp"
#include "tests/scratch_folder.hpp"

namespace icobench::test {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;
using strings = std::vector<std::string>;

struct outcome {
  int status = -1;  // exit status, or minus the signal
  std::string out, err;
};

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class cli : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // Output goes to files, since two pipes could fill while we read the other.
  outcome run(const strings& command) const { return finish(start(command)); }

  pid_t start(const strings& command) const {
    const std::string out = path("out"), err = path("err");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int how = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), how, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), how, 0600);
    std::vector<char*> argv;
    for (const std::string& word : command) { argv.push_back(const_cast<char*>(word.c_str())); }
    argv.push_back(nullptr);
    pid_t child = 0;
    if (posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ) != 0) { child = 0; }
    posix_spawn_file_actions_destroy(&actions);
    return child;
  }

  outcome finish(pid_t child) const {
    outcome result;
    if (child != 0) {
      int status = 0;
      waitpid(child, &status, 0);
      result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    result.out = read_text(path("out"));
    result.err = read_text(path("err"));
    return result;
  }

  // Status 2, one line on stderr that has all the words, and nothing else.
  void refuses(strings command, const strings& words) const {
    SCOPED_TRACE(testing::PrintToString(command));
    const std::string dump = path("dump.json");
    command.insert(command.end(), {"--dump", dump});
    const outcome o = run(command);
    EXPECT_EQ(o.status, 2);
    EXPECT_EQ(o.out, "");
    const std::string program = fs::path(command[0]).filename().string();
    EXPECT_TRUE(o.err.starts_with(program + ": ")) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    for (const std::string& word : words) {
      EXPECT_NE(o.err.find(word), o.err.npos) << "'" << word << "' is not in: " << o.err;
    }
    EXPECT_FALSE(fs::exists(dump));
    expect_no_remains();
  }

  // No incomplete file of a program that had ended.
  void expect_no_remains() const {
    for (const fs::path& file : folder_.files()) {
      EXPECT_FALSE(file.filename().string().starts_with(".icobench-")) << file;
    }
  }

  // By an independent parser, which refuses NaN, and the schema.
  void expect_valid(const std::string& dump) const {
    const outcome python = run({"python3", ICOBENCH_SOURCE_DIR "/scripts/icobench/dump.py", dump});
    EXPECT_EQ(python.status, 0) << python.err;
  }

  // Runs and returns the records of the dump.
  json records_of(strings command, int status = 0) const {
    SCOPED_TRACE(testing::PrintToString(command));
    const std::string dump = path("dump.json");
    command.insert(command.end(), {"--dump", dump});
    const outcome o = run(command);
    EXPECT_EQ(o.status, status) << o.err;
    expect_valid(dump);
    const json all = json::parse(read_text(dump), nullptr, false);
    EXPECT_FALSE(all.is_discarded());
    fs::remove(dump);
    return all.is_discarded() ? json::array() : all.at("records");
  }

 private:
  scratch_folder folder_;
};

// A grid of $ICOBENCH_TEST_DATA, or "" where there are none.
std::string data_grid(const std::string& name) {
  const char* folder = std::getenv("ICOBENCH_TEST_DATA");
  return folder ? folder + ("/grids/" + name) : "";
}
#define ICOBENCH_NEEDS_DATA() \
  if (data_grid("").empty()) { GTEST_SKIP() << "ICOBENCH_TEST_DATA is not set"; }

#define ICOBENCH_NEEDS_SIMT() \
  if (!registry::instance().backends().contains("simt")) { GTEST_SKIP() << "no simt here"; }

const strings small = {"--backend", "cpu", "--grid", "torus:12x9", "--levels", "3"};

strings nabla4(strings more) {
  more.insert(more.begin(), BENCH_NABLA4);
  return more;
}
strings nabla4_small(const strings& more) {
  strings all = nabla4(small);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(cli, help) {
  const outcome o = run(nabla4({"--help"}));
  EXPECT_EQ(o.status, 0);
  for (const std::string option :
       {"--grid", "--levels", "--halo", "--precision", "--ordering", "--backend", "--variant",
        "--vertices", "--launch", "--cache", "--list", "--verify-only", "--profile-once", "--dump",
        "--benchmark_filter"}) {
    EXPECT_NE(o.out.find(option), o.out.npos) << option;
  }
  const outcome google = run(nabla4({"--benchmark_help"}));
  EXPECT_EQ(google.status, 0);
  EXPECT_NE((google.out + google.err).find("--benchmark_repetitions"), std::string::npos);
}

TEST_F(cli, bad_options) {
  refuses(nabla4_small({"--nosuch"}), {"--nosuch"});
  refuses(nabla4_small({"stray"}), {"stray"});
  refuses(nabla4_small({"--benchmark_nosuch=1"}), {"--benchmark_nosuch"});
  refuses(nabla4_small({"--variant", "nosuch"}), {"no variant", "nosuch", "--list"});
  refuses(nabla4({"--backend", "cpu", "--levels", "0"}), {"--levels", "0"});
  refuses(nabla4({"--backend", "cpu", "--levels", "-3"}), {"--levels", "-3"});
  refuses(nabla4({"--backend", "cpu", "--levels", "abc"}), {"--levels", "abc"});
  refuses(nabla4({"--backend", "cpu", "--levels", "99999999999"}), {"--levels", "99999999999"});
  refuses(nabla4_small({"--precision", "half"}), {"--precision", "half"});
  refuses(nabla4_small({"--ordering", "random"}), {"--ordering", "random"});
  refuses(nabla4_small({"--vertices", "diagonal"}), {"--vertices", "diagonal"});
  refuses(nabla4_small({"--cache", "tepid"}), {"--cache", "tepid"});
  refuses(nabla4_small({"--min-samples", "0"}), {"--min-samples", "0"});
  refuses(nabla4_small({"--budget", "-1"}), {"--budget", "-1"});
  refuses(nabla4_small({"--budget", "nan"}), {"--budget", "nan"});
  refuses(nabla4_small({"--variant", "strided,nosuch"}), {"no variant", "nosuch", "--list"});
  refuses(nabla4_small({"--benchmark_format=xyz"}), {"--benchmark_format=xyz", "json"});
  refuses(nabla4_small({"--benchmark_repetitions=0"}), {"--benchmark_repetitions=0"});
  refuses(nabla4_small({"--benchmark_out=" + path("no/file")}), {"--benchmark_out", "no folder"});
  refuses(nabla4_small({"--benchmark_out=/dev/null"}), {"--benchmark_out /dev/null", "no regular"});
  refuses(nabla4_small({"--variant", "nosuch\x1b[31m\xc2\x9b"}), {"nosuch?[31m??"});
  refuses(nabla4_small({"--variant", std::string(100000, 'x')}), {"xxx..."});
  refuses({BENCH_DEVICE, "ceilings", "--levels", "0"}, {"0 not in range 1 to 2147483647"});
  for (const char* part : {"nabla", "strid", "ded/kfirst", "kfirst/strided", "nabla4/*/*/*/*"}) {
    refuses(nabla4_small({"--variant", part}), {"no variant", part});
  }
}

// Parts of names are whole words: interpolate/ is not in nabla4_interpolate/...
TEST_F(cli, words_of_names) {
  const auto listed = [&](const std::string& parts) {
    const outcome o = run({BENCH_ALL, "--list", "--variant", parts});
    EXPECT_EQ(o.status, 0) << o.err;
    std::set<std::string> names;
    std::istringstream lines(o.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(' ')) { names.insert(line); }
    }
    return names;
  };
  const auto expected = [](const auto& is_wanted) {
    std::set<std::string> names;
    for (const variant& v : registry::instance().variants()) {
      if (is_wanted(v)) { names.insert(v.name()); }
    }
    return names;
  };
  const auto interpolates = [](const variant& v) { return v.info.chain == "interpolate"; };
  ASSERT_FALSE(expected(interpolates).empty());
  EXPECT_EQ(listed("interpolate/"), expected(interpolates));
  EXPECT_EQ(listed("interpolate"), expected(interpolates));
  EXPECT_EQ(listed("/interpolate/*/kfirst"), expected([&](const variant& v) {
              return interpolates(v) && v.info.schedule == "kfirst";
            }));
  EXPECT_EQ(listed("*interpolate"),
            expected([](const variant& v) { return v.info.chain.ends_with("interpolate"); }));
  EXPECT_EQ(listed("kfirst,nabla4/indirect"), expected([](const variant& v) {
              return v.info.schedule == "kfirst" ||
                     (v.info.chain == "nabla4" && v.access_ == access::indirect);
            }));
}

TEST_F(cli, filter_that_matches_nothing) {
  const outcome o = run(nabla4_small({"--benchmark_filter=nosuch", "--dump", path("dump.json")}));
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.err.find("bench_nabla4: no benchmark matches --benchmark_filter"), o.err.npos);
  EXPECT_FALSE(fs::exists(path("dump.json")));
}

TEST_F(cli, bad_grids) {
  const auto grid = [](const std::string& g, const strings& more = {}) {
    strings all = nabla4({"--backend", "cpu", "--levels", "3", "--grid", g});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  refuses(grid("torus:5x4"), {"5", "even"});
  refuses(grid("torus:2x3"), {"2", "4"});
  refuses(grid("torus:"), {"torus:NXxNY"});
  refuses(grid("torus:12x9", {"--halo", "5"}), {"halo of 5", "12 x 9", "largest", "is 4"});
  refuses(grid("torus:12x9", {"--halo", "-1"}), {"--halo"});
  refuses(grid("torus:4x3"), {"halo of 2", "4 x 3", "largest", "is 1", "halo 0 always does"});
  refuses(grid(path("nosuch.nc")), {path("nosuch.nc"), "no such file"});
  refuses(grid(path("")), {"not a regular file"});
  std::ofstream(path("text.nc")) << "not a grid";
  refuses(grid(path("text.nc")), {path("text.nc"), "not a netCDF file"});
}

TEST_F(cli, truncated_grid) {
  const std::string file = path("grid.nc");
  ASSERT_EQ(run({ICOBENCH_GRID, "write", "torus:12x9", file}).status, 0);
  const auto whole = fs::file_size(file);
  for (const auto bytes : {whole - 1, whole / 2, whole / 10}) {
    fs::resize_file(file, bytes);
    refuses(nabla4({"--backend", "cpu", "--levels", "3", "--grid", file}), {file});
  }
}

TEST_F(cli, bad_launches) {
  const auto launch = [](const std::string& text) {
    return nabla4({"--backend", "simt", "--grid", "torus:12x9", "--levels", "3", "--launch", text});
  };
  refuses(launch("2000x1x1"), {"--launch 2000x1x1", "2000 threads", "limit of 1024"});
  refuses(launch("1x1x65"), {"--launch 1x1x65", "65 threads along levels", "64"});
  refuses(launch("nonsense"), {"--launch nonsense", "known are"});
  refuses(launch("32x"), {"--launch 32x"});
  refuses(launch("32,persist=tables"), {"--launch 32,persist=tables", "never won", "leave it out"});
  refuses(launch("0x4"), {"--launch 0x4"});
  refuses(launch("32,order=nowhere"), {"order=nowhere", "points_first or levels_first"});
  refuses(launch("32x1x4,levels=1073741824"), {"levels=1073741824"});
  refuses(launch("32+32"), {"--launch 32+32", "2 launches", "nabla4/strided/"});
  refuses({BENCH_NABLA4_INTERPOLATE, "--backend", "cpu", "--grid", "torus:12x9", "--launch",
           "32+32+32"},
          {"--launch 32+32+32", "3 launches", "nabla4_interpolate/strided/"});
  refuses(nabla4_small({"--launch", "2147483647"}), {"--launch 2147483647"});
}

// Which kernels have compiled what differs: such a launch is skipped where it cannot run.
TEST_F(cli, launch_that_no_kernel_was_compiled_for) {
  const json records =
      records_of(nabla4({"--backend", "simt", "--grid", "torus:12x9", "--levels", "3", "--variant",
                         "strided/naive", "--launch", "32,min_blocks=77", "--launch", "32"}),
                 2);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at("status"), "skipped");
  EXPECT_NE(records[0].at("reason").get<std::string>().find("min_blocks=77"), std::string::npos);
  EXPECT_EQ(records[1].at("status"), "verified");
}

// One record for each order; a numbering that strided access cannot have is skipped.
TEST_F(cli, orders_of_vertices) {
  const json records =
      records_of(nabla4_small({"--verify-only", "--vertices", "row,hilbert,shuffled", "--variant",
                               "strided/kfirst,indirect/kfirst"}));
  ASSERT_EQ(records.size(), 6u);
  for (const json& r : records) {
    const bool possible = r.at("access") == "indirect" || r.at("vertices") == "row";
    EXPECT_EQ(r.at("status"), possible ? "verified" : "skipped") << r;
    EXPECT_EQ(r.at("name").get<std::string>().find("/shuffled") != std::string::npos,
              r.at("vertices") == "shuffled");
  }
}

TEST_F(cli, bad_backends) {
  refuses(nabla4({"--backend", "nosuch"}), {"--backend nosuch", "cpu"});
  const auto& backends = registry::instance().backends();
  for (const std::string name : {"cuda", "hip"}) {
    if (const auto found = backends.find(name); found != backends.end()) {
      try {
        found->second();
        continue;  // there is a GPU
      } catch (const gpu::device_error&) {}
    }
    refuses(nabla4({"--backend", name}), {"--backend " + name});
  }
}

TEST_F(cli, bad_dump_paths) {
  const auto refuses_path = [&](const std::string& dump) {
    const outcome o = run(nabla4_small({"--dump", dump}));
    EXPECT_EQ(o.status, 2);
    EXPECT_EQ(o.out, "") << "it measured first";
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find("--dump " + dump), o.err.npos) << o.err;
  };
  refuses_path(path("nosuch/dump.json"));
  fs::create_directory(path("folder"));
  refuses_path(path("folder"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  refuses_path(path("pipe"));
}

// What a run reads is not what it writes; a link stays one.
TEST_F(cli, outputs_replace_no_inputs) {
  const std::string grid = path("grid.nc");
  ASSERT_EQ(run({ICOBENCH_GRID, "write", "torus:12x9", grid}).status, 0);
  const std::string content = read_text(grid);
  const strings on_file =
      nabla4({"--backend", "cpu", "--levels", "3", "--verify-only", "--grid", grid});
  const auto with = [&](const strings& more) {
    strings all = on_file;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto refuses_dump = [&](const std::string& file, const strings& more) {
    strings all = with({"--dump", file});
    all.insert(all.end(), more.begin(), more.end());
    const outcome o = run(all);
    EXPECT_EQ(o.status, 2);
    EXPECT_NE(o.err.find("--dump " + file + ": is used for something else"), o.err.npos) << o.err;
  };
  refuses_dump(grid, {});
  refuses_dump(path("d.json"), {"--benchmark_out=" + path("d.json")});
  refuses(with({"--benchmark_out=" + grid}), {"--benchmark_out " + grid});
  EXPECT_EQ(run({ICOBENCH_REFERENCE, "write", "nabla4", grid, grid, "--force"}).status, 2);
  EXPECT_EQ(read_text(grid), content);
  fs::create_symlink("there.json", path("link.json"));
  EXPECT_EQ(run(with({"--dump", path("link.json")})).status, 0);
  EXPECT_TRUE(fs::is_symlink(path("link.json")));
  EXPECT_TRUE(fs::is_regular_file(path("there.json")));
}

// No name is taken that could be somebody's, and what is no file is not replaced.
TEST_F(cli, outputs_touch_nothing_else) {
  std::ofstream(path("precious")) << "precious";
  fs::create_symlink("precious", path("r.json.part"));
  EXPECT_EQ(run(nabla4_small({"--verify-only", "--dump", path("r.json")})).status, 0);
  EXPECT_EQ(read_text(path("precious")), "precious");
  EXPECT_TRUE(fs::is_symlink(path("r.json.part")));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const auto refused = [&](const strings& command, const std::string& word) {
    const outcome o = run(command);
    EXPECT_EQ(o.status, 2);
    EXPECT_NE(o.err.find(word), o.err.npos) << o.err;
  };
  for (const std::string& kept : {path("pipe"), std::string("/dev/null")}) {
    refused({ICOBENCH_GRID, "write", "torus:4x3", kept, "--force"}, "no regular file");
    refused({ICOBENCH_REFERENCE, "write", "nabla4", "torus:12x9", kept, "--force"},
            "no regular file");
    refused({ICOBENCH_REFERENCE, "info", kept}, "not a regular file");
    refused({ICOBENCH_GRID, "info", kept}, "not a regular file");
    refused(nabla4_small({"--tuning", kept}), "no regular file");
  }
  refused({ICOBENCH_GRID, "write", "torus:4x3", path("no/grid.nc")}, "there is no folder");
  EXPECT_EQ(run({ICOBENCH_GRID, "write", "torus:12x9", path("linked.nc")}).status, 0);
  fs::create_symlink("linked.nc", path("link.nc"));
  EXPECT_EQ(run({ICOBENCH_GRID, "write", "torus:4x3", path("link.nc"), "--force"}).status, 0);
  EXPECT_TRUE(fs::is_symlink(path("link.nc")));
  EXPECT_NE(run({ICOBENCH_GRID, "info", path("linked.nc")}).out.find("12"), std::string::npos);
  expect_no_remains();
}

// Here, files may not be larger than 4 KiB; a full disk is the same to a program.
TEST_F(cli, outputs_that_do_not_fit) {
  const auto limited = [&](strings command) {
    command.insert(command.begin(), {"bash", "-c", "trap '' XFSZ; ulimit -f 4; exec \"$@\"", "-"});
    const outcome o = run(command);
    EXPECT_EQ(o.status, 2) << o.out;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    return o.err;
  };
  std::ofstream(path("b.json")) << "old";
  EXPECT_NE(limited(nabla4_small({"--verify-only", "--benchmark_repetitions=3",
                                  "--benchmark_out=" + path("b.json")}))
                .find("--benchmark_out " + path("b.json") + ": cannot be written: File too large"),
            std::string::npos);
  EXPECT_EQ(read_text(path("b.json")), "old");
  const std::string said = limited({ICOBENCH_GRID, "write", "torus:40x30", path("g.nc")});
  EXPECT_NE(said.find("g.nc: cannot"), said.npos) << said;
  EXPECT_TRUE(limited({ICOBENCH_REFERENCE, "write", "nabla4", "torus:12x9", path("r.h5")})
                  .ends_with(": File too large\n"));
  EXPECT_FALSE(fs::exists(path("g.nc")) || fs::exists(path("r.h5")));
  expect_no_remains();
}

// A failing run leaves an older dump alone.
TEST_F(cli, old_dump_survives) {
  std::ofstream(path("dump.json")) << "old";
  EXPECT_EQ(run(nabla4_small({"--halo", "9", "--dump", path("dump.json")})).status, 2);
  EXPECT_EQ(read_text(path("dump.json")), "old");
  const strings refused =
      nabla4_small({"--verify-only", "--launch", "32,min_blocks=7", "--dump", path("dump.json")});
  EXPECT_EQ(run(refused).status, 2);  // the CPU has nothing of the kind
  EXPECT_EQ(read_text(path("dump.json")), "old");
}

TEST_F(cli, list) {
  const outcome o = run({BENCH_ALL, "--list"});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.err, "");
  for (const variant& v : registry::instance().variants()) {
    SCOPED_TRACE(v.name());
    const auto at = ("\n" + o.out).find("\n" + v.name() + "\n");
    ASSERT_NE(at, o.out.npos);
    std::string entry;  // to the next line that is not indented
    std::istringstream lines(o.out.substr(at));
    for (std::string line; std::getline(lines, line);) {
      if (!entry.empty() && !line.starts_with(' ')) { break; }
      entry += line + "\n";
    }
    strings words = {"chain " + v.info.chain,
                     "access " + std::string(to_string(v.access_)),
                     "schedule " + v.info.schedule,
                     "fusion " + v.info.fusion,
                     v.info.feature,
                     v.info.description};
    for (const implementation& i : v.implementations) { words.push_back(i.backend); }
    for (const std::string& word : words) {
      EXPECT_NE(entry.find(word), entry.npos) << "'" << word << "' is not in\n" << entry;
    }
  }
  const outcome some = run(nabla4({"--list"}));
  EXPECT_NE(some.out.find("nabla4/strided/naive/separate\n"), some.out.npos);
  EXPECT_EQ(some.out.find("verts2cells"), some.out.npos);
}

TEST_F(cli, verify_only) {
  for (const std::string backend : {"cpu", "simt"}) {
    const json records = records_of(
        nabla4({"--verify-only", "--backend", backend, "--grid", "torus:12x9", "--levels", "3",
                "--precision", "double,float", "--ordering", "per_vertex,per_orientation"}));
    EXPECT_GE(records.size(), 16u);
    for (const json& r : records) {
      EXPECT_EQ(r.at("status"), "verified") << r;
      EXPECT_EQ(r.at("backend"), backend);
      EXPECT_FALSE(r.contains("seconds"));
    }
  }
}

// Strict JSON that keeps to the schema, whatever bytes the path of the grid has.
TEST_F(cli, dump_keeps_to_the_schema) {
  const std::string file = path("gr\xeft.nc");
  ASSERT_EQ(run({ICOBENCH_GRID, "write", "torus:12x9", file}).status, 0);
  const outcome o = run(nabla4({"--verify-only", "--backend", "cpu,simt", "--grid", file,
                                "--levels", "1", "--dump", path("dump.json")}));
  EXPECT_EQ(o.status, 0) << o.err;
  expect_valid(path("dump.json"));
}

TEST_F(cli, ended_run_keeps_its_results) {
  const std::string dump = path("dump.json");
  // Doubles are measured first, for 3 s, then floats.
  const strings command = nabla4_small({"--budget", "1.5", "--min-samples", "1000000", "--variant",
                                        "strided", "--precision", "double,float", "--dump", dump});
  for (const int signal : {SIGINT, SIGKILL}) {
    SCOPED_TRACE(signal);
    fs::remove(dump);
    const pid_t child = start(command);
    for (int n = 0; n < 600 && read_text(dump).find("\"ok\"") == std::string::npos; ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    kill(child, signal);
    const outcome o = finish(child);
    EXPECT_EQ(o.status, signal == SIGINT ? 130 : -SIGKILL) << o.err;
    if (signal == SIGINT) { EXPECT_NE(o.err.find("stopped"), o.err.npos); }
    expect_valid(dump);
    const json all = json::parse(read_text(dump), nullptr, false);
    EXPECT_EQ(all.at("complete"), false);
    std::set<std::string> status;
    for (const json& r : all.at("records")) { status.insert(r.at("status")); }
    EXPECT_EQ(status, (std::set<std::string>{"ok", "stopped"}));
  }
}

// ---- bench_tune

strings tune(const std::string& journal, const strings& more = {}) {
  strings all = {BENCH_TUNE,
                 "--backend",
                 "simt",
                 "--grid",
                 "torus:12x9,torus:20x13",
                 "--levels",
                 "5",
                 "--variant",
                 "nabla4/strided/kloop",
                 "--finalists",
                 "2",
                 "--min-samples",
                 "9",
                 "--budget",
                 "0.05",
                 "--cache",
                 "warm",
                 "--journal",
                 journal};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_F(cli, tuning) {
  ICOBENCH_NEEDS_SIMT();
  const std::string journal = path("j.jsonl"), table = path("table.json");
  const outcome first = run(tune(journal, {"--configurations", "8", "--table", table}));
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.out.find("| nabla4/strided/kloop/separate |"), first.out.npos) << first.out;
  const outcome again = run(tune(journal, {"--configurations", "8"}));
  EXPECT_NE(again.out.find("continuing"), again.out.npos);
  EXPECT_NE(again.out.find("\n0 measurements in"), again.out.npos) << again.out;
  EXPECT_EQ(run({"python3", ICOBENCH_SOURCE_DIR "/scripts/plot", "tuning", journal, "--output",
                 path("map.svg")})
                .status,
            0);

  // A table decides the launches, --launch overrides it, --tuning refuses what is none.
  json edited = json::parse(read_text(table), nullptr, false);
  for (json& size : edited["variants"][0]["sizes"]) { size["launches"] = {"16x4x2,levels=2"}; }
  std::ofstream(table) << edited;
  const auto name_with = [&](const strings& more) {
    strings all = nabla4({"--backend", "simt", "--grid", "torus:12x9", "--levels", "5", "--variant",
                          "strided/kloop", "--tuning", table});
    all.insert(all.end(), more.begin(), more.end());
    for (const json& r : records_of(all)) {  // pairs of it are chosen, too
      if (r.at("variant") == "nabla4/strided/kloop/separate") {
        return r.at("name").get<std::string>();
      }
    }
    return std::string();
  };
  EXPECT_EQ(name_with({}), "nabla4/strided/kloop/separate/16x4x2,levels=2");
  EXPECT_EQ(name_with({"--launch", "levels=3"}), "nabla4/strided/kloop/separate/16x4x2,levels=3");
  // Launches that would have to be compiled at run time, where nothing is.
  for (json& size : edited["variants"][0]["sizes"]) { size["launches"] = {"16,min_blocks=7"}; }
  std::ofstream(table) << edited;
  EXPECT_EQ(name_with({}), "nabla4/strided/kloop/separate/32x1x4,levels=0");
  refuses(nabla4_small({"--tuning", journal}), {"--tuning " + journal, "JSON"});
  refuses(nabla4_small({"--tuning", path("absent")}), {"--tuning", "cannot be read"});
}

TEST_F(cli, tuning_continues_when_stopped) {
  ICOBENCH_NEEDS_SIMT();
  const std::string journal = path("j.jsonl");
  const auto lines = [&] {
    const std::string text = read_text(journal);
    return std::count(text.begin(), text.end(), '\n');
  };
  std::ptrdiff_t before = 0;
  for (const int signal : {SIGINT, SIGKILL}) {
    SCOPED_TRACE(signal);
    const pid_t child = start(tune(journal, {"--search", "grid"}));  // longer than we wait
    for (int n = 0; n < 600 && lines() < before + 20; ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    kill(child, signal);
    const outcome o = finish(child);
    EXPECT_EQ(o.status, signal == SIGINT ? 130 : -SIGKILL) << o.err;
    if (before > 0) { EXPECT_NE(o.out.find("continuing"), o.out.npos); }
    EXPECT_GE(lines(), before + 20);
    before = lines();
  }
}

TEST_F(cli, tuning_a_pair) {
  ICOBENCH_NEEDS_SIMT();
  const strings names{"--pair", "nabla4/strided/kloop/separate,nabla4/indirect/kloop/separate",
                      "--configurations", "4"};
  const outcome o = run(tune(path("j.jsonl"), names));
  ASSERT_EQ(o.status, 0) << o.err;
  for (const char* text : {"nabla4/strided/kloop/separate beside nabla4/indirect/kloop/separate",
                           "torus:20x13, 5 levels\n\n| | first | second |", "| defaults |",
                           "| each tuned alone |", "| tuned for the step |"}) {
    EXPECT_NE(o.out.find(text), o.out.npos) << text << " is not in\n" << o.out;
  }
}

TEST_F(cli, bad_tuning) {
  const auto refused = [&](strings command, const std::string& word) {
    const outcome o = run(command);
    EXPECT_EQ(o.status, 2);
    EXPECT_TRUE(o.err.starts_with("bench_tune: ")) << o.err;
    EXPECT_NE(o.err.find(word), o.err.npos) << o.err;
  };
  refused({BENCH_TUNE}, "--journal");
  refused({BENCH_TUNE, "--backend", "cpu", "--journal", path("j")}, "no variant of backend cpu");
  refused(tune(path("j"), {"--search", "odd"}), "odd");
  refused(tune(path("j"), {"--axes", "block,width"}), "width");
  refused(tune(path("no/folder")), "cannot be written");
  refused(tune(path("j"), {"--levels", "0"}), "--levels");
  refused(tune(path("j"), {"--pair", "nabla4/none,nabla4/strided/kloop/separate"}), "nabla4/none");
  refused(tune(path("j"), {"--pair", "nabla4/strided/kloop/separate"}), "--pair");
  refused(tune(path("j"), {"--seconds", "nan"}), "--seconds");
  refused(tune(path("j"), {"--table", path("j")}), "--table " + path("j"));
  refused(tune(path("j"), {"--table", path("no/folder")}), "--table " + path("no/folder"));
  EXPECT_FALSE(fs::exists(path("j")));
}

TEST_F(cli, stopped_search_leaves_an_old_table) {
  ICOBENCH_NEEDS_SIMT();
  std::ofstream(path("table.json")) << "old";
  const std::string journal = path("j.jsonl");
  const pid_t child = start(tune(journal, {"--search", "grid", "--table", path("table.json")}));
  for (int n = 0; n < 600 && read_text(journal).find("quick") == std::string::npos; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  kill(child, SIGINT);
  const outcome o = finish(child);
  EXPECT_EQ(o.status, 130);
  EXPECT_NE(o.err.find("--table " + path("table.json") + " is not written"), o.err.npos) << o.err;
  EXPECT_EQ(read_text(path("table.json")), "old");
}

// ---- programs that are ended at any time

class ended : public cli {
 protected:
  // Ends the program 20 times by each signal, at random times of its first `longest` seconds.
  template <class Check>
  void end_often(const strings& command, double longest, const Check& check) const {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> seconds(0, longest);
    for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
      SCOPED_TRACE(signal);
      for (int n = 0; n < 20; ++n) {
        const pid_t child = start(command);
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds(random)));
        kill(child, signal);
        const int status = finish(child).status;
        EXPECT_TRUE(status == 0 || status == 130 || status == -signal) << status;
        check();
      }
      if (signal != SIGKILL) { expect_no_remains(); }
    }
  }
};

TEST_F(ended, dump_is_the_old_or_the_new_one) {
  const std::string dump = path("dump.json");
  const strings command = nabla4_small({"--verify-only", "--variant", "kfirst", "--dump", dump});
  const auto start_time = std::chrono::steady_clock::now();
  ASSERT_EQ(run(command).status, 0);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_time;
  end_often(command, taken.count(), [&] {
    EXPECT_EQ(json::parse(read_text(dump), nullptr, false).value("schema", ""), "icobench-dump-2");
  });
  expect_valid(dump);
}

TEST_F(ended, journal_has_whole_lines) {
  ICOBENCH_NEEDS_SIMT();
  const std::string journal = path("j.jsonl");
  std::size_t least = 0;
  end_often(tune(journal, {"--search", "grid"}), 0.15, [&] {
    std::istringstream lines(read_text(journal));
    std::size_t whole = 0;
    for (std::string line; std::getline(lines, line) && !lines.eof(); ++whole) {
      EXPECT_TRUE(json::accept(line)) << line;
    }
    EXPECT_GE(whole, least);
    least = whole;
  });
  EXPECT_EQ(run(tune(journal, {"--configurations", "2"})).status, 0);
}

TEST_F(cli, profile_once) {
  const json records = records_of(nabla4_small({"--profile-once", "--variant", "strided"}));
  EXPECT_EQ(records.size(), 2u);
  for (const json& r : records) {
    EXPECT_EQ(r.at("status"), "verified");
    EXPECT_EQ(r.at("reason"), "profiled, not timed");
  }
}

// One timed run serves several questions: it takes seconds to measure the copy bandwidth.
TEST_F(cli, timed_run) {
  const std::string dump = path("dump.json");
  const strings command =
      nabla4_small({"--budget", "0.02", "--min-samples", "3", "--cache", "warm",
                    "--benchmark_filter=/strided/.*first/", "--benchmark_format=json",
                    "--benchmark_repetitions=2", "--dump", dump});
  const outcome o = run(command);
  EXPECT_EQ(o.status, 0) << o.err;

  const json printed = json::parse(o.out, nullptr, false);
  ASSERT_FALSE(printed.is_discarded()) << o.out;
  for (const json& b : printed.at("benchmarks")) {
    EXPECT_GT(b.at("real_time"), 0) << b;
    EXPECT_FALSE(b.contains("error_occurred")) << b;
  }

  const json all = json::parse(read_text(dump), nullptr, false);
  ASSERT_FALSE(all.is_discarded());
  expect_valid(dump);
  EXPECT_EQ(all.at("schema"), "icobench-dump-2");
  EXPECT_EQ(all.at("complete"), true);
  const json& context = all.at("context");
  EXPECT_EQ(context.at("levels"), 3);
  EXPECT_EQ(context.at("cache"), "warm");
  EXPECT_EQ(context.at("grid").at("name"), "torus:12x9");
  EXPECT_GT(context.at("devices").at("cpu").at("copy_bytes_per_second"), 0);
  EXPECT_EQ(context.at("arguments"), json(command));

  std::set<std::string> names;
  for (const json& r : all.at("records")) {
    names.insert(r.at("variant"));
    EXPECT_EQ(r.at("status"), "ok");
    EXPECT_TRUE(r.at("reason").is_null());
    EXPECT_TRUE(r.at("verification").at("ok"));
    EXPECT_GE(r.at("samples").size(), 6u);  // of two repetitions
    EXPECT_EQ(r.at("samples").size(), r.at("seconds").at("count"));
    for (const json& s : r.at("samples")) { EXPECT_GT(s, 0); }
    EXPECT_GT(r.at("seconds").at("median"), 0);
    EXPECT_LE(r.at("seconds").at("low"), r.at("seconds").at("median"));
    EXPECT_GE(r.at("seconds").at("high"), r.at("seconds").at("median"));
    EXPECT_GT(r.at("share_of_copy"), 0);
    EXPECT_GT(r.at("small_copy_bytes_per_second"), 0);
    // A CPU has no other ceilings than those of memory.
    EXPECT_EQ(r.at("ceiling").at("binding"), "memory");
    EXPECT_GT(r.at("ceiling").at("share"), 0);
    const json& verified = r.at("verification");
    EXPECT_TRUE(verified.at("worst").is_object());
    for (const char* norm : {"l1_error", "l2_error"}) {
      EXPECT_EQ(verified.at(norm) > 0, verified.at("max_error") > 0);
      EXPECT_LT(verified.at(norm), verified.at("tolerance"));
    }
    // 8 x 5 points, halo 2: see traffic_test.
    EXPECT_EQ(r.at("traffic").at("fused_bytes"), 8 * (40 * (8 * 3 + 30) + 2 * 3 * (9 + 18)));
  }
  EXPECT_EQ(names, (std::set<std::string>{"nabla4/strided/ifirst/separate",
                                          "nabla4/strided/kfirst/separate"}));
  const json& ceilings = all.at("context").at("devices").at("cpu").at("ceilings");
  for (const std::string name : {"read", "write", "copy", "triad"}) {
    EXPECT_GT(ceilings.at(name + "_bytes_per_second"), 0) << name;
    EXPECT_NE(ceilings.at("ways").at(name), "") << name;
  }
}

TEST_F(cli, device_facts) {
  const outcome text = run({BENCH_DEVICE, "facts"});
  EXPECT_EQ(text.status, 0);
  const outcome as_json = run({BENCH_DEVICE, "facts", "--json"});
  EXPECT_EQ(as_json.status, 0);
  const json all = json::parse(as_json.out, nullptr, false);
  ASSERT_FALSE(all.is_discarded()) << as_json.out;
  for (const auto& [backend, entry] : registry::instance().backends()) {
    const json& told = all.at(backend);
    // A device, or why there is none.
    EXPECT_NE(told.at("devices").empty(), told.at("reason").is_null()) << told;
    EXPECT_NE(text.out.find(told.at("devices").empty()
                                ? told.at("reason").get<std::string>()
                                : told.at("devices")[0].at("name").get<std::string>()),
              text.out.npos);
  }
  EXPECT_GT(all.at("simt").at("devices")[0].at("warp_size"), 0);
}

// All that bench_device measures, verified; additions of an odd length in an odd number of pieces.
TEST_F(cli, device_measurements_are_verified) {
  const std::string dump = path("dump.json");
  const outcome o = run({BENCH_DEVICE, "all", "--backend", "simt", "--elements", "1021", "--pieces",
                         "3", "--dump", dump});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  expect_valid(dump);
  const json all = json::parse(read_text(dump), nullptr, false);
  ASSERT_FALSE(all.is_discarded());
  EXPECT_EQ(all.at("complete"), true);
  EXPECT_EQ(all.at("context").at("timed"), false);
  std::set<std::string> groups;
  for (const json& r : all.at("records")) {
    const std::string name = r.at("name");
    EXPECT_TRUE(r.at("status") == "verified" || name.starts_with("streams/torus")) << r;
    groups.insert(name.substr(0, name.find('/')));
  }
  EXPECT_EQ(groups, (std::set<std::string>{"ceilings", "reductions", "transposes", "additions",
                                           "streams"}));
}

TEST_F(cli, bad_devices) {
  refuses({BENCH_DEVICE, "ceilings", "--backend", "simt", "--device", "7"},
          {"--device 7", "no such device", "there are: 0 "});
  refuses(nabla4_small({"--device", "nosuch"}), {"--device nosuch", "there are: 0 "});
  refuses({BENCH_DEVICE, "ceilings", "--backend", "cpu"}, {"--backend cpu", "simt"});
  refuses({BENCH_DEVICE, "additions", "--backend", "simt", "--pieces", "0"}, {"--pieces"});
  refuses({BENCH_DEVICE, "reductions", "--elements", "0"}, {"--elements"});
  EXPECT_EQ(run({BENCH_DEVICE}).status, 2);
  EXPECT_EQ(run({BENCH_DEVICE, "nosuch"}).status, 2);
  EXPECT_EQ(run({BENCH_DEVICE, "facts", "--device", "nosuch"}).status, 2);
  EXPECT_EQ(run({BENCH_DEVICE, "--help"}).status, 0);
}

// The tables that people read, and a dump of every chain.
TEST_F(cli, all_chains_on_a_grid_file) {
  const std::string file = path("grid.nc"), dump = path("dump.json");
  ASSERT_EQ(run({ICOBENCH_GRID, "write", "torus:20x15", file}).status, 0);
  const outcome o = run({BENCH_ALL, "--backend", "cpu", "--grid", file, "--levels", "3", "--budget",
                         "0.02", "--min-samples", "3", "--cache", "warm", "--dump", dump});
  EXPECT_EQ(o.status, 0) << o.err;
  const json all = json::parse(read_text(dump), nullptr, false);
  ASSERT_FALSE(all.is_discarded());
  EXPECT_EQ(all.at("context").at("grid").at("torus"), json({20, 15}));
  std::set<std::string> chains;
  for (const json& r : all.at("records")) {
    EXPECT_EQ(r.at("status"), "ok") << r;
    chains.insert(r.at("chain"));
    EXPECT_NE(o.out.find(r.at("name").get<std::string>()), o.out.npos);
  }
  EXPECT_EQ(chains.size(), chain_table.size());
  for (const chain& c : chain_table) {
    EXPECT_NE(o.out.find("\n" + std::string(c.name) + "\n"), o.out.npos) << c.name;
  }
}

TEST_F(cli, data_torus_with_small_halo) {
  ICOBENCH_NEEDS_DATA();
  const json records =
      records_of({BENCH_ALL, "--verify-only", "--backend", "cpu,simt", "--grid",
                  data_grid("generated_torus_12x6_1000m.nc"), "--halo", "1", "--levels", "3"});
  std::set<std::string> variants;
  for (const json& r : records) {
    EXPECT_EQ(r.at("status"), "verified") << r;
    variants.insert(r.at("variant"));
  }
  // Patched ones are left out on a torus with a halo, where they would be the strided ones.
  const auto& all = registry::instance().variants();
  EXPECT_EQ(variants.size(),
            std::size_t(std::count_if(all.begin(), all.end(), [](const variant& v) {
              return v.access_ != access::patched;
            })));
}

TEST_F(cli, data_torus_too_small_for_default_halo) {
  ICOBENCH_NEEDS_DATA();
  const std::string name = "torus_100000_100000_24576.nc";
  refuses({BENCH_NABLA4, "--backend", "cpu", "--grid", data_grid(name)},
          {name, "halo of 2", "largest", "is 1"});
  // Of the cells of a torus of 4 x 3 vertices, none is left without the outer ones' cells.
  refuses({BENCH_ALL, "--backend", "cpu", "--grid", data_grid(name), "--halo", "3"},
          {name, "halo of 3", "all chains run with --halo 0"});
}

TEST_F(cli, chains_that_cannot_run_on_a_grid_are_skipped) {
  refuses({BENCH_ALL, "--backend", "cpu", "--grid", "torus:4x3", "--halo", "3"},
          {"halo of 3", "all chains run with --halo 0"});
  const outcome some = run({BENCH_ALL, "--backend", "cpu", "--grid", "torus:4x3", "--verify-only"});
  EXPECT_EQ(some.status, 0);
  EXPECT_NE(some.err.find("all chains run with --halo 0"), std::string::npos) << some.err;
  std::set<std::string> verified, skipped;
  for (const json& r : records_of({BENCH_ALL, "--backend", "cpu", "--grid", "torus:4x3", "--halo",
                                   "1", "--levels", "2", "--verify-only"})) {
    if (r.at("status") == "verified") { verified.insert(r.at("chain")); }
    if (r.at("status") != "skipped") { continue; }
    skipped.insert(r.at("chain"));
    EXPECT_NE(r.at("reason").get<std::string>().find("halo 0 fits"), std::string::npos) << r;
  }
  EXPECT_TRUE(verified.contains("nabla4"));
  EXPECT_TRUE(skipped.contains("gradient_divergence"));
  for (const json& r : records_of({BENCH_ALL, "--backend", "cpu", "--grid", "torus:4x3", "--halo",
                                   "0", "--levels", "2", "--verify-only"})) {
    EXPECT_EQ(r.at("status"), r.at("access") == "indirect" ? "verified" : "skipped") << r;
  }
}

// Sets a limit of the address space for what it starts while it lives.
class address_space {
 public:
  explicit address_space(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~address_space() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_F(cli, problems_too_large_are_refused_at_once) {
  const auto start_of_all = std::chrono::steady_clock::now();
  refuses(nabla4({"--backend", "cpu", "--grid", "torus:10000x10000", "--levels", "100000"}),
          {"torus:10000x10000 with 100000 levels", "nabla4 needs", "GB of the host's memory",
           "GB are free", "--levels"});
  EXPECT_LT(std::chrono::steady_clock::now() - start_of_all, std::chrono::seconds(5));
#if !defined(__SANITIZE_ADDRESS__)  // which takes terabytes of addresses
  const address_space limit(rlim_t(2) << 30);
  refuses(nabla4({"--backend", "cpu", "--grid", "torus:600x500"}), {"GB are free"});
  const outcome tables = run({ICOBENCH_GRID, "tables", "torus:10000x10000"});
  EXPECT_EQ(tables.status, 2) << tables.err;
  EXPECT_NE(tables.err.find("memory"), std::string::npos) << tables.err;
  // What is measured beside a small problem fits, too.
  const json records = records_of(
      nabla4({"--backend", "cpu", "--grid", "torus:20x16", "--levels", "5", "--budget", "0.01"}));
  for (const json& r : records) { EXPECT_EQ(r.at("status"), "ok") << r; }
#endif
}

// Whatever goes on: a large problem is made, its reference computed, variants verified.
TEST_F(cli, interrupts_are_answered_within_a_second) {
  using namespace std::chrono_literals;
  for (const auto wait : {300ms, 1200ms, 3000ms}) {
    SCOPED_TRACE(wait.count());
    const pid_t child = start(nabla4({"--backend", "cpu", "--grid", "torus:700x600", "--levels",
                                      "40", "--dump", path("dump.json")}));
    std::this_thread::sleep_for(wait);
    const auto then = std::chrono::steady_clock::now();
    kill(child, SIGINT);
    const outcome o = finish(child);
    EXPECT_LT(std::chrono::steady_clock::now() - then, 2s);  // tests run side by side
    EXPECT_TRUE(o.status == 130 || o.status == -SIGINT) << o.status << o.err;
    EXPECT_FALSE(fs::exists(path("dump.json")));
  }
}

TEST_F(cli, data_grids_without_torus) {
  ICOBENCH_NEEDS_DATA();
  for (const std::string name : {"generated_R02B00.nc", "mch_ch_R19B04.nc"}) {
    // A launch of the user's does not make the grid's fault one of his.
    const json records = records_of({BENCH_ALL, "--verify-only", "--backend", "cpu", "--grid",
                                     data_grid(name), "--levels", "3", "--launch", "128"});
    std::set<std::string> verified;
    for (const json& r : records) {
      if (r.at("access") == "strided") {
        EXPECT_EQ(r.at("status"), "skipped");
        EXPECT_NE(r.at("reason").get<std::string>().find("torus"), std::string::npos) << r;
      } else {
        EXPECT_EQ(r.at("status"), "verified") << r;
        verified.insert(r.at("chain"));
      }
    }
    EXPECT_EQ(verified.size(), chain_table.size());
  }
}

}  // namespace
}  // namespace icobench::test
