// Kernels compiled at run time: what is asked for, what NVRTC and hipRTC make of it (no GPU is
// needed), the cache; and the whole way on a GPU where there is one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <set>

#include <icobench/grids/torus.hpp>

#include "src/catalogue/registry.hpp"
#include "src/problem/resident.hpp"
#include "src/rtc/vendor_compiler.hpp"
#include "tests/scratch_folder.hpp"

// The compilers keep what they allocated: no fault of ours.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libnvrtc\nleak:libamdhip64\nleak:libhiprtc\nleak:libamd_comgr\nleak:libLLVM\n";
}
// LLVM gives a thread another stack for signals, which the sanitizer would take for its own.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "use_sigaltstack=0";
}

namespace icobench {
namespace {

namespace fs = std::filesystem;

// A vendor's compiler, and what is known of it.
struct vendor {
  const char* name;
  decltype(&make_nvrtc) make;
  const char* variable;
  const char* architecture;
  const char* target;
  const char* other;   // architecture
  unsigned registers;  // of a multiprocessor
  const char* not_a_type;
  const char* host_flags;  // and what defines SIZE as 1
  const char* unfused;     // each multiplication rounds
};
constexpr vendor vendors[] = {
    {"nvrtc", &make_nvrtc, "ICOBENCH_NVRTC", "sm_90", "for sm_90a", "sm_80", 65536,
     "error: namespace \"icobench\" has no",
     "-O3 -Xcompiler=-O0 -Xcompiler '-Wall -DSIZE=2' --compiler-options -DSIZE=2 -lineinfo "
     "-I/nowhere -isystem /nowhere -D SIZE=1 -Xptxas=-v,-warn-spills -Xfatbin=-no-compress",
     "--fmad=false"},
    {"hiprtc", &make_hiprtc, "ICOBENCH_HIPRTC", "gfx90a:sramecc+:xnack-",
     "for gfx90a:sramecc+:xnack-", "gfx908", 131072,
     "error: no type named 'no_such_kernel' in namespace 'icobench'",
     "-O3 --rocm-path=/nowhere --rocm-device-lib-path=/nowhere -Xarch_host -DSIZE=2 -march=native "
     "-I/nowhere -isystem /nowhere -D SIZE=1 -Wall -g -mllvm -amdgpu-early-inline-all=true",
     "-ffp-contract=off"}};
void PrintTo(const vendor& v, std::ostream* stream) {
  *stream << v.name;
}

struct compilers : testing::TestWithParam<vendor> {
  std::string architecture = GetParam().architecture;
  std::shared_ptr<gpu::kernel_compiler> make(const char* driver = "",
                                             kernel_cache cache = kernel_cache(""),
                                             const std::string& flags = "") const {
    return GetParam().make(driver, std::move(cache), flags);
  }
};
INSTANTIATE_TEST_SUITE_P(run_time, compilers, testing::ValuesIn(vendors),
                         [](const auto& each) { return std::string(each.param.name); });

// A variable of the environment for the length of a test.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~variable() { unsetenv(name_); }

 private:
  const char* name_;
};

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A backend of GPU kernels, or nullptr: that of a GPU, else the CPU's.
const implementation* gpu_implementation(const std::string& name, precision p,
                                         ordering o = ordering::per_orientation) {
  for (const variant& v : registry::instance().variants()) {
    if (v.name() != name) { continue; }
    for (const char* backend : {"cuda", "hip", "simt"}) {
      if (const implementation* i = v.find(backend, p, o)) { return i; }
    }
  }
  return nullptr;
}

std::vector<gpu::kernel_source> sources(const implementation& i, const std::string& text) {
  return i.sources({}, {parse_launch(text, i.defaults.front())});
}

TEST(sources, only_what_is_not_compiled_with_the_program) {
  const implementation* i = gpu_implementation("nabla4/strided/kloop/separate", precision::float64);
  if (!i) { GTEST_SKIP() << "this build has no GPU kernels"; }
  EXPECT_TRUE(i->sources({}, i->defaults).empty());
  const auto asked = sources(*i, "32x1x4,min_blocks=5");
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].header, "icobench/kernels/nabla4/kloop.hpp");
  EXPECT_NE(asked[0].type.find("nabla4_kloop<false>::kernel<"), std::string::npos) << asked[0].type;
  EXPECT_EQ(asked[0].min_blocks, 5);
  EXPECT_EQ(asked[0].max_threads, 256u);
  EXPECT_EQ(sources(*i, "64x8")[0].max_threads, 512u);
  EXPECT_TRUE(sources(*i, "64x8,stages=3").empty());
  EXPECT_TRUE(sources(*i, "64x8,tables=rows").empty());  // a mesh without tables
}

TEST(sources, launches_that_differ_in_the_block_alone_share_a_kernel) {
  const implementation* i = gpu_implementation("nabla4/strided/kloop/separate", precision::float64);
  if (!i) { GTEST_SKIP() << "this build has no GPU kernels"; }
  EXPECT_EQ(sources(*i, "32x1x4,min_blocks=5"), sources(*i, "64x2,levels=7,min_blocks=5"));
  EXPECT_NE(sources(*i, "32x1x4,min_blocks=5"), sources(*i, "32x1x4,min_blocks=6"));
}

TEST(spaces, launches_at_run_time_are_those_that_can_be_compiled) {
  const implementation* i = gpu_implementation("nabla4/strided/kloop/separate", precision::float64);
  if (!i) { GTEST_SKIP() << "this build has no GPU kernels"; }
  const std::vector<launch> compiled = i->spaces()[0].all(), all = i->spaces()[0].all(true);
  ASSERT_GT(all.size(), compiled.size());
  for (std::size_t n = 0; n < all.size(); n += 97) {
    EXPECT_EQ(i->sources({}, {all[n]}).empty(), n < compiled.size()) << to_string(all[n]);
  }
}

// Names of kernels that are compiled for shapes.
constexpr const char* shaped[] = {
    "nabla4/strided/march/separate",
    "nabla4_interpolate_verts2cells/strided/march/inlined_cached",
    "nabla4_interpolate_verts2cells/strided/march/inlined_cached/bulk",
    "nabla4_interpolate_verts2cells/strided/march/inlined_cached/multicast",
    "nabla4_interpolate/strided/kloop/inlined_cached/pipeline",
    "nabla4_interpolate_verts2cells/strided/kloop/inlined_cached/pipeline",
    "nabla4_interpolate_verts2cells/strided/kloop/inlined_cached/tensor"};

TEST(sources, name_the_shape) {
  const implementation* march = gpu_implementation(shaped[3], precision::float64);
  const implementation* pipeline = gpu_implementation(shaped[5], precision::float64);
  const implementation* tensor = gpu_implementation(shaped[6], precision::float64);
  if (!march || !pipeline || !tensor) { GTEST_SKIP() << "this build has not these kernels"; }
  const auto expect = [](const implementation& i, const char* text, const std::string& shape,
                         unsigned threads) {
    const auto asked = sources(i, text);
    ASSERT_EQ(asked.size(), 1u) << text;
    EXPECT_TRUE(asked[0].type.ends_with(", icobench::" + shape + ">")) << asked[0].type;
    EXPECT_EQ(asked[0].max_threads, threads) << text;
  };
  expect(*march, "128x1x3,levels=4", "compiled_shape<128, 1, 3, 4, 4, 1>", 384);
  expect(*march, "64x1x4,cluster=2", "compiled_shape<64, 1, 4, 5, 2, 1>", 256);
  expect(*march, "96x1x2,cluster=1,min_blocks=2", "compiled_shape<96, 1, 2, 5, 1, 2>", 192);
  expect(*march, "64x1x4,constants=problem", "compiled_shape<64, 1, 4, 5, 4, 1>", 256);
  expect(*pipeline, "32x12,stages=5,copy_bytes=8", "compiled_pipeline<32, 12, 5, 8, 1>", 384);
  expect(*tensor, "64x4,stages=4,min_blocks=2", "compiled_pipeline<64, 4, 4, 0, 2>", 256);
  EXPECT_EQ(sources(*pipeline, "32x12,levels=3"), sources(*pipeline, "32x12,order=points_first"));
  // What is compiled with the program, whatever names it.
  for (const char* text : {"64x1x4", "128x1x2", "64x1x4,cluster=4"}) {
    EXPECT_TRUE(sources(*march, text).empty()) << text;
  }
  // What cannot be.
  for (const char* text :
       {"80x1x2", "64x2x2", "128x1x3,levels=0", "64x1x1", "64x1x4,cluster=3", "128x1x3,stages=2"}) {
    EXPECT_TRUE(sources(*march, text).empty()) << text;
  }
  for (const char* text : {"32x12x2", "32x8,stages=1", "32x8,stages=4,copy_bytes=4",
                           "32x8,stages=4,cluster=2", "16x2,stages=4"}) {
    EXPECT_TRUE(sources(*pipeline, text).empty()) << text;
  }
  for (const char* text : {"32x12,copy_bytes=8", "256x4", "32x12,constants=problem"}) {
    EXPECT_TRUE(sources(*tensor, text).empty()) << text;
  }
}

TEST(spaces, have_shapes_that_can_be_compiled) {
  std::size_t checked = 0;
  for (const char* name : shaped) {
    const implementation* i = gpu_implementation(name, precision::float64);
    if (!i) { continue; }
    const std::vector<launch> compiled = i->spaces()[0].all(), all = i->spaces()[0].all(true);
    ASSERT_GT(all.size(), compiled.size() + 100) << name;
    for (std::size_t n = compiled.size(); n < all.size(); n += 17) {
      EXPECT_EQ(i->sources({}, {all[n]}).size(), 1u) << name << " " << to_string(all[n]);
      ++checked;
    }
  }
  if (checked == 0) { GTEST_SKIP() << "this build has none of these kernels"; }
}

// Bounds are what they are for: the same kernel with fewer and fewer registers.
TEST_P(compilers, compile_a_space_without_a_gpu) {
  const auto compiler = make();
  if (const auto reason = compiler->unavailable(architecture); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const implementation* i = gpu_implementation("nabla4/strided/kloop/separate", precision::float64);
  if (!i) { GTEST_SKIP() << "this build has no GPU kernels"; }
  std::vector<gpu::kernel_source> all;
  for (const char* text : {"64x8", "64,min_blocks=2", "64,min_blocks=5", "64,min_blocks=8"}) {
    all.push_back(sources(*i, text).at(0));
  }
  EXPECT_EQ(compile_ahead(*compiler, all, architecture), all.size());
  int least = 256;
  for (const gpu::kernel_source& s : all) {
    const auto made = compiler->compile(s, architecture);
    const std::string image(made->image.begin(), made->image.end());
    EXPECT_NE(image.find(gpu::compiled_kernel::name), image.npos);
    EXPECT_GT(made->registers, 0) << made->log;
    EXPECT_LE(made->registers, least) << made->log;
    EXPECT_LE(unsigned(made->registers) * s.max_threads * unsigned(s.min_blocks),
              GetParam().registers);
    least = made->registers;
  }
  EXPECT_EQ(compiler->compile(all[1], architecture)->spill_bytes, 0u);
  EXPECT_GT(compiler->compile(all[3], architecture)->spill_bytes, 0u);
}

// Also by compilers that know nothing of each other.
TEST_P(compilers, compile_in_many_threads_at_once) {
  if (const auto reason = make()->unavailable(architecture); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const implementation* i = gpu_implementation("nabla4/strided/naive/separate", precision::float64);
  if (!i) { GTEST_SKIP() << "this build has no GPU kernels"; }
  const gpu::kernel_source source = sources(*i, "64x8").at(0);
  const auto expected = make()->compile(source, architecture);
  std::vector<std::future<decltype(make()->compile(source, architecture))>> made;
  for (int n = 0; n < 8; ++n) {
    made.push_back(
        std::async(std::launch::async, [&] { return make()->compile(source, architecture); }));
  }
  for (auto& one : made) { EXPECT_EQ(one.get()->image, expected->image); }
}

// Headers that hold kernels for tables, several stencils, shared memory.
TEST_P(compilers, compile_every_kind_of_kernel) {
  const auto compiler = make();
  if (const auto reason = compiler->unavailable(architecture); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const std::pair<const char*, const char*> wanted[] = {
      {"nabla4/indirect/kloop/separate", "64,min_blocks=6"},
      {"nabla4/indirect/kloop/separate", "64,min_blocks=2,tables=by_vertex"},
      {"nabla4/strided/naive/separate", "64,min_blocks=5"},
      {"nabla4_interpolate/strided/kloop/inlined_v2v/shuffle", "32x4,min_blocks=5"},
      {"nabla4_interpolate/strided/kloop/inlined_cached", "32x8,levels=4,min_blocks=1"},
      {"nabla4_interpolate/strided/kloop/inlined_cached", "32x8,levels=4,min_blocks=3"},
      {"nabla4/strided/kloop/separate", "64,min_blocks=6"},
      {"nabla4_interpolate/indirect/kloop/composed", "64,min_blocks=3"}};
  std::size_t compiled = 0;
  for (const auto& [name, text] : wanted) {
    for (const precision p : {precision::float64, precision::float32}) {
      const implementation* i = gpu_implementation(name, p, ordering::per_vertex);
      if (!i) { continue; }
      const auto asked = sources(*i, text);
      ASSERT_EQ(asked.size(), 1u) << name << " " << text;
      EXPECT_GT(compiler->compile(asked[0], architecture)->registers, 0) << name;
      ++compiled;
    }
  }
  if (compiled == 0) { GTEST_SKIP() << "this build has none of these kernels"; }
}

// Shapes that are not compiled with the program: some that are asked for, some of each space.
TEST(nvrtc, compiles_shapes) {
  constexpr const char* architecture = "sm_90";
  const auto compiler = make_nvrtc("", kernel_cache(""));
  if (const auto reason = compiler->unavailable(architecture); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  std::vector<gpu::kernel_source> all;
  const auto add = [&](const char* name, precision p, const std::string& text) {
    if (const implementation* i = gpu_implementation(name, p)) {
      const auto asked = sources(*i, text);
      ASSERT_EQ(asked.size(), 1u) << name << " " << text;
      all.push_back(asked[0]);
    }
  };
  const char* const texts[] = {"128x1x2,levels=3",
                               "64x1x2,levels=3,min_blocks=3",
                               "96x1x3,levels=4",
                               "96x1x3,levels=4,cluster=2",
                               "64x8,stages=5,copy_bytes=8",
                               "32x12,stages=2,copy_bytes=8",
                               "32x12,stages=4"};
  for (std::size_t n = 0; n < std::size(shaped); ++n) {  // one in either precision
    const precision p = n % 2 == 0 ? precision::float64 : precision::float32;
    const precision other = n % 2 == 0 ? precision::float32 : precision::float64;
    add(shaped[n], p, texts[n]);
    const implementation* i = gpu_implementation(shaped[n], other);
    if (!i) { continue; }
    const std::vector<launch> space = i->spaces()[0].all(true);
    add(shaped[n], other, to_string(space[space.size() / 2]));
  }
  if (all.empty()) { GTEST_SKIP() << "this build has none of these kernels"; }
  compile_ahead(*compiler, all, architecture);
  for (const gpu::kernel_source& s : all) {
    const auto made = compiler->compile(s, architecture);
    EXPECT_FALSE(made->image.empty());
    EXPECT_GT(made->registers, 0) << made->log;
    EXPECT_LE(unsigned(made->registers) * s.max_threads * unsigned(s.min_blocks), 65536u) << s.type;
  }
}

// The words that do not depend on where the data lies are constants of the kernel.
TEST_P(compilers, compile_for_a_problem) {
  const auto compiler = make();
  const std::string reason = compiler->unavailable(architecture);
  std::size_t checked = 0;
  for (const char* name : {"nabla4/strided/kloop/separate", shaped[3], shaped[5]}) {
    const implementation* i = gpu_implementation(name, precision::float64);
    if (!i || (name == shaped[3] && GetParam().name != std::string("nvrtc"))) { continue; }
    storage s;
    double data = 0;
    s.row = 594, s.plane = 305408, s.levels = 80;
    for (raw_view& v : s.fields) { v = {&data, 305408, 0}; }
    launch l = i->defaults.front();
    l.constants = true;
    const auto for_problem = i->sources(s, {l});
    ASSERT_EQ(for_problem.size(), 1u);
    std::set<std::uint32_t> values;
    for (const auto& [number, value] : for_problem[0].constants) { values.insert(value); }
    EXPECT_TRUE(values.contains(594) && values.contains(305408) && values.contains(80));
    EXPECT_FALSE(values.contains(std::uint32_t(reinterpret_cast<std::uintptr_t>(&data))));
    double elsewhere = 0;
    for (raw_view& v : s.fields) { v.data = &elsewhere; }
    EXPECT_EQ(i->sources(s, {l}), for_problem);
    s.levels = 81;
    EXPECT_NE(i->sources(s, {l}), for_problem);
    if (reason.empty()) {
      EXPECT_GT(compiler->compile(for_problem[0], architecture)->registers, 0);
    }
    ++checked;
  }
  if (checked == 0) { GTEST_SKIP() << "this build has none of these kernels"; }
  if (!reason.empty()) { GTEST_SKIP() << reason; }
}

TEST_P(compilers, report_what_is_wrong) {
  const auto compiler = make();
  if (const auto reason = compiler->unavailable(architecture); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const auto message = [&](const gpu::kernel_source& s) -> std::string {
    try {
      compiler->compile(s, architecture);
    } catch (const gpu::device_error& error) { return error.what(); }
    return "no error";
  };
  const gpu::kernel_source unknown{"icobench/kernels/nabla4/kloop.hpp", "icobench::no_such_kernel",
                                   8, 1, 256};
  const std::string text = message(unknown);
  const std::string what = "icobench::no_such_kernel from icobench/kernels/nabla4/kloop.hpp ";
  EXPECT_NE(text.find(what + GetParam().target), text.npos) << text;
  EXPECT_NE(text.find(GetParam().not_a_type), text.npos) << text;
  EXPECT_EQ(message(unknown), text);  // again
  const std::string other = message({"nabla4/none.hpp", "icobench::range", 8, 1, 256});
  EXPECT_NE(other.find("nabla4/none.hpp"), other.npos) << other;
  const std::string size =
      message({"icobench/kernels/nabla4/kloop.hpp", "icobench::range", 12, 1, 256});
  EXPECT_NE(size.find("sizeof(kernel) == 12"), size.npos) << size;
}

TEST_P(compilers, say_what_is_missing) {
  {
    const variable none(GetParam().variable, "/nonexistent/lib.so");
    const auto compiler = make();
    const std::string reason = compiler->unavailable(architecture);
    const std::string what = std::string("for want of lib") + GetParam().name;
    EXPECT_NE(reason.find(what + ": /nonexistent/lib.so"), reason.npos) << reason;
    EXPECT_THROW(compiler->compile({}, architecture), gpu::device_error);
  }
  const variable none("ICOBENCH_HEADERS", "/nonexistent");
  try {
    header_folder::find();
    ADD_FAILURE() << "headers found in /nonexistent";
  } catch (const gpu::device_error& error) {
    EXPECT_STREQ(error.what(),
                 "the headers of icobench are not in /nonexistent: set "
                 "ICOBENCH_HEADERS to the folder that has icobench/kernel.hpp");
  }
}

TEST(cache, gives_back_what_it_got_and_nothing_damaged) {
  const test::scratch_folder folder;
  const kernel_cache cache(folder.path() / "deep" / "er");
  const gpu::compiled_kernel k{{'a', '\0', '\n', 'b'}, "said \"this\"\n", 40, 8};
  EXPECT_FALSE(cache.find("key"));
  cache.add("key", k);
  const auto found = cache.find("key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->image, k.image);
  EXPECT_EQ(found->log, k.log);
  EXPECT_EQ(found->registers, 40);
  EXPECT_EQ(found->spill_bytes, 8u);
  EXPECT_FALSE(cache.find("another key"));
  // The file of one key under the name of another.
  fs::copy_file(cache.file_of("key"), cache.file_of("another key"));
  EXPECT_FALSE(cache.find("another key"));

  const std::string whole = content(cache.file_of("key"));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    std::string damaged = whole;
    damaged[n] = char(damaged[n] ^ 1);
    std::ofstream(cache.file_of("key"), std::ios::binary) << damaged;
    EXPECT_FALSE(cache.find("key")) << "byte " << n;
    std::ofstream(cache.file_of("key"), std::ios::binary) << whole.substr(0, n);
    EXPECT_FALSE(cache.find("key")) << n << " bytes";
  }
  cache.add("key", k);
  EXPECT_TRUE(cache.find("key"));
}

TEST(cache, is_where_the_user_wants_it) {
  const variable folder("ICOBENCH_CACHE", "/somewhere");
  EXPECT_EQ(kernel_cache::of_user().file_of("key").parent_path(), "/somewhere");
}

TEST_P(compilers, use_the_cache) {
  const test::scratch_folder folder;
  const auto compiler = [&](const char* driver = "1") {
    return make(driver, kernel_cache(folder.path()));
  };
  if (const auto reason = compiler()->unavailable(architecture); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  // Any function object will do.
  const gpu::kernel_source s{"icobench/kernels/nabla4/kloop.hpp",
                             "decltype([](icobench::gpu::native_thread&) {})", 1, 1, 256};
  const auto image = compiler()->compile(s, architecture)->image;
  ASSERT_EQ(folder.files().size(), 1u);
  const fs::path file = folder.files().front();
  const std::string whole = content(file);
  fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(1));
  const auto written = fs::last_write_time(file);
  EXPECT_EQ(compiler()->compile(s, architecture)->image, image);
  EXPECT_EQ(fs::last_write_time(file), written);  // not compiled again
  std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() / 2);
  EXPECT_EQ(compiler()->compile(s, architecture)->image, image);
  EXPECT_GT(content(file).size(), whole.size() / 2 + 1);
  compiler("2")->compile(s, architecture);
  compiler()->compile(s, GetParam().other);
  EXPECT_EQ(folder.files().size(), 3u);
  make("1", kernel_cache(folder.path()), GetParam().unfused)->compile(s, architecture);
  EXPECT_EQ(folder.files().size(), 4u);
  make("1", kernel_cache(folder.path()), "-I/nowhere")->compile(s, architecture);
  EXPECT_EQ(folder.files().size(), 4u);
}

// What a build's flags do to its kernels they do to those of the run; the host's are not for them.
TEST_P(compilers, get_the_flags_of_the_build) {
  if (const auto reason = make()->unavailable(architecture); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const auto image = [&](const gpu::kernel_source& s, const char* flags) {
    return make("", kernel_cache(""), flags)->compile(s, architecture)->image;
  };
  const char* const sized =
      "decltype([](icobench::gpu::native_thread&) { static_assert(SIZE == 1); })";
  EXPECT_FALSE(image({"icobench/kernels/nabla4/kloop.hpp", sized, 1, 1, 256}, GetParam().host_flags)
                   .empty());
  const implementation* i = gpu_implementation("nabla4/strided/kloop/separate", precision::float64);
  if (!i) { GTEST_SKIP() << "this build has no GPU kernels"; }
  const gpu::kernel_source s = sources(*i, "64,min_blocks=5").at(0);
  EXPECT_EQ(image(s, ""), image(s, "-I/nowhere"));
  EXPECT_NE(image(s, ""), image(s, GetParam().unfused));
}

TEST(flags, known_ones_are_kept_in_every_spelling) {
  using enum build_flag::form;
  const std::vector<build_flag> known{
      {"-fmad", value},  {"-Xptxas", list}, {"-ffast-math", alone}, {"-D", joined},
      {"-ffp-", joined}, {"-mllvm", pair},  {"-Xcompiler", host}};
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {"", {}},
      {"-O3 -g file -fmadder", {}},
      {" --fmad=false  -fmad true", {"--fmad=false", "-fmad=true"}},
      {"-ffast-math -fno-fast-math", {"-ffast-math", "-fno-fast-math"}},
      {"-Xptxas -v,-O2 --Xptxas=-v", {"-Xptxas=-v", "-Xptxas=-O2", "--Xptxas=-v"}},
      {"-DA=1 -D B '-DC=\"x y\"'", {"-DA=1", "-DB", "-DC=\"x y\""}},
      {"-ffp-contract=off -fno-fp-thing", {"-ffp-contract=off", "-fno-fp-thing"}},
      {"-mllvm -option", {"-mllvm", "-option"}},
      {"-Xcompiler -DA -Xcompiler=-DB -Xcompiler \"-DC -DD\" -DE", {"-DE"}},
      {"-D", {"-D"}}};
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(known_flags(text, known), expected) << text;
  }
}

// A library of ROCm 5.2 would end the program.
TEST(hiprtc, refuses_an_architecture_that_it_does_not_know) {
  const auto compiler = make_hiprtc("", kernel_cache(""));
  if (const auto reason = compiler->unavailable("gfx90a"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const std::string refusal = "nothing is compiled at run time: this libhiprtc does not know ";
  for (const char* unknown : {"gfx99", "sm_90", ""}) {
    EXPECT_EQ(compiler->unavailable(unknown), refusal + unknown);
    EXPECT_THROW(compiler->compile({}, unknown), gpu::device_error);
  }
  const std::string newer = compiler->unavailable("gfx942:sramecc+:xnack-");  // from 5.7 on
  EXPECT_TRUE(newer.empty() || newer == refusal + "gfx942") << newer;
}

// What a device asks for when it has a compiler, and what it says when it has none.
struct recorder final : gpu::kernel_compiler {
  std::string unavailable(const std::string&) override { return reason; }
  std::shared_ptr<const gpu::compiled_kernel> compile(const gpu::kernel_source& s,
                                                      const std::string&) override {
    asked.push_back(s);
    return std::make_shared<gpu::compiled_kernel>();
  }
  std::string reason;
  std::vector<gpu::kernel_source> asked;
};

// Runs launches that need a compiler on a small torus.
void verify_at_run_time(gpu::device& device, const implementation& i, const variant& v,
                        const std::vector<std::string>& texts) {
  const chain& c = *find_chain(v.info.chain);
  problem p =
      make_problem(std::make_shared<const grid>(make_torus({38, 11})), c, 5, 2, precision::float64);
  compute_reference(p);
  resident_problem resident(device, p, {v.access_, i.ordering_, i.layout_, vertex_order::row});
  for (const std::string& text : texts) {
    std::vector<launch> launches;
    for (const launch& l : i.defaults) { launches.push_back(parse_launch(text, l)); }
    const plan ready = i.prepare(device, resident.view(), launches);
    for (const auto& k : ready.kernels) { EXPECT_TRUE(k.compiled_at_run_time) << text; }
    resident.poison_outputs();
    ready.run();
    EXPECT_TRUE(resident.verify().ok) << v.name() << " " << text;
  }
}

TEST(launches, ask_the_compiler_of_the_device) {
  const auto& backends = registry::instance().backends();
  if (!backends.contains("simt")) { GTEST_SKIP() << "needs simt"; }
  const auto device = backends.at("simt")();
  const auto compiler = std::make_shared<recorder>();
  std::size_t verified = 0;
  for (const variant& v : registry::instance().variants()) {
    if (v.info.chain != "nabla4" || v.info.schedule != "kloop") { continue; }
    if (v.access_ == access::patched) { continue; }  // not on this torus
    const implementation* i = v.find("simt", precision::float64, ordering::per_orientation);
    if (!i) { continue; }
    const auto refused = [&] {
      try {
        verify_at_run_time(*device, *i, v, {"16x1x2,min_blocks=7"});
      } catch (const unsupported& reason) { return std::string(reason.what()); }
      return std::string("not refused");
    };
    device->compile_with(nullptr);
    EXPECT_NE(refused().find("not among the compiled choices"), std::string::npos) << refused();
    compiler->reason = "out of order";
    device->compile_with(compiler);
    EXPECT_NE(refused().find("; out of order"), std::string::npos) << refused();
    compiler->reason.clear();
    compiler->asked.clear();
    verify_at_run_time(*device, *i, v, {"16x1x2,min_blocks=7"});
    EXPECT_EQ(compiler->asked,
              i->sources({}, {parse_launch("16x1x2,min_blocks=7", i->defaults[0])}));
    ++verified;
  }
  if (verified == 0) { GTEST_SKIP() << "this build has no such variant"; }
}

// Kernels of the CPU are compiled with the program: one that has another shape would not do.
TEST(launches, of_other_shapes_are_not_for_the_cpu) {
  const auto& backends = registry::instance().backends();
  const implementation* i = nullptr;
  for (const variant& v : registry::instance().variants()) {
    if (v.name() == shaped[3]) {
      i = v.find("simt", precision::float64, ordering::per_orientation);
    }
  }
  if (!i) { GTEST_SKIP() << "needs simt and a march"; }
  const auto device = backends.at("simt")();
  const auto refused = [&](const char* text) {
    try {
      i->prepare(*device, {}, {parse_launch(text, i->defaults.front())});
    } catch (const unsupported& reason) { return std::string(reason.what()); }
    return std::string("not refused");
  };
  const auto expect = [&](const char* text, const char* words) {
    EXPECT_NE(refused(text).find(words), std::string::npos) << refused(text);
  };
  expect("96x1x3", "among the compiled choices: 64x1x4,levels=5,cluster=4 128x1x2");
  expect("96x1x3", "; nothing is compiled at run time");
  device->compile_with(std::make_shared<recorder>());
  expect("96x1x3", "; not for this backend");
  expect("80x1x2", "whole sections of 32 threads along x");
  expect("64x1x1", "each row that is copied needs a thread");
  expect("1024x1x4", "a block of 4096 threads exceeds the limit of 1024");
}

TEST(launches, give_right_results_on_a_gpu) {
  const auto& backends = registry::instance().backends();
  const std::string backend = backends.contains("hip") ? "hip" : "cuda";
  if (!backends.contains(backend)) { GTEST_SKIP() << "this build has no GPU backend"; }
  std::unique_ptr<gpu::device> device;
  try {
    device = backends.at(backend)();
  } catch (const gpu::device_error& error) { GTEST_SKIP() << error.what(); }
  const std::string of = device->facts().architecture;
  device->compile_with(make_compiler(*device));
  if (const auto reason = device->compiler()->unavailable(of); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  for (const variant& v : registry::instance().variants()) {
    const std::string name = v.name();
    if (const auto* found = std::find(std::begin(shaped), std::end(shaped), name);
        found != std::end(shaped)) {
      const implementation* i = v.find(backend, precision::float64, ordering::per_orientation);
      if (!i) { continue; }  // bulk copies are sm_90's
      const bool march = v.info.schedule == "march";
      if (march && (v.info.feature.empty() || device->facts().bulk_copies)) {
        verify_at_run_time(*device, *i, v,
                           {"128x1x2,levels=2,min_blocks=2", "192x1x1,levels=3", "128x1x1,levels=5",
                            "64x1x4,levels=1,constants=problem"});
      } else if (v.info.feature == "pipeline") {
        verify_at_run_time(*device, *i, v,
                           {"32x12,stages=4,copy_bytes=8", "64x6,levels=3,stages=2,copy_bytes=16",
                            "16x8,levels=0,stages=5,constants=problem"});
      } else if (device->facts().bulk_copies) {
        verify_at_run_time(*device, *i, v, {"32x12,stages=4", "64x6,levels=3,stages=2"});
      }
      continue;
    }
    if (name != "nabla4/strided/kloop/separate" && name != "nabla4/indirect/kloop/separate" &&
        name != "nabla4_interpolate/strided/kloop/inlined_cached") {
      continue;
    }
    const implementation* i = v.find(backend, precision::float64, ordering::per_orientation);
    if (!i) { continue; }
    verify_at_run_time(
        *device, *i, v,
        {"32x4,levels=2,min_blocks=5", "32x4,levels=2,min_blocks=8", "32x4x8,levels=1,min_blocks=1",
         "32x4,levels=2,min_blocks=1,constants=problem", "32x4,levels=1,min_blocks=3",
         "32x4,levels=1,min_blocks=2,constants=problem"});
  }
}

}  // namespace
}  // namespace icobench
