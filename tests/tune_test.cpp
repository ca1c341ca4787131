// The search of launches: spaces, strategies, choices, journal, tuning table; and a whole search
// on simt.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <thread>

#include <icobench/grids/grid.hpp>

#include "src/catalogue/tuning_table.hpp"
#include "src/tune/pair.hpp"
#include "src/tune/tuner.hpp"
#include "tests/scratch_folder.hpp"

namespace icobench::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<launch>> everything(std::size_t kernels = 1) {
  launch_space space{{every_launch(access::strided), every_launch(access::strided)}};
  space.parts[1].compiled.min_blocks = 3;
  return std::vector<std::vector<launch>>(kernels, space.all());
}

// Seconds of a kernel that likes blocks of 64x2x1, 10 levels, and does not run with 8 rows.
double model(const launch& l) {
  if (l.block.y == 8) { return std::numeric_limits<double>::infinity(); }
  const auto off = [](double value, double best) { return std::abs(std::log2(value / best)); };
  return 1e-4 * (1 + 0.1 * off(l.block.x, 64) + 0.05 * off(l.block.y, 2) + 0.2 * off(l.block.z, 1) +
                 0.1 * off(l.levels == 0 ? 80 : l.levels, 10) +
                 0.02 * double(differing(l, {l.block, l.levels}).count()));
}

struct counted {
  std::set<std::string> seen;
  std::vector<double> operator()(const std::vector<configuration>& all) {
    std::vector<double> seconds;
    for (const configuration& c : all) {
      EXPECT_TRUE(seen.insert(to_string(c)).second) << to_string(c) << " again";
      double sum = 0;
      for (const launch& l : c) { sum += model(l); }
      seconds.push_back(sum);
    }
    return seconds;
  }
};

std::vector<scored> run(const configuration_space& space, const configuration& start,
                        const search_rules& rules, counted& count) {
  return search(space, {start}, rules, [&](const auto& all) { return count(all); });
}

const launch start{.block = {256, 1, 1}};
const launch best{.block = {64, 2, 1}, .levels = 10};

TEST(search, grid_measures_everything_once) {
  const auto choices = everything();
  counted count;
  const auto found = run(configuration_space::separate(choices), {start},
                         {.how = strategy::grid, .limit = 5}, count);
  EXPECT_EQ(count.seen.size(), choices[0].size());
  EXPECT_EQ(found.front().what, configuration{best});
  for (const scored& s : found) { EXPECT_NE(s.what[0].block.y, 8u); }
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), [](const scored& a, const scored& b) {
    return a.seconds < b.seconds;
  }));
}

TEST(search, race_finds_the_best_with_few) {
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    counted count;
    const auto found = run(configuration_space::separate(everything()), {start},
                           {.limit = 300, .seed = seed}, count);
    EXPECT_EQ(found.front().what, configuration{best}) << "seed " << seed;
    EXPECT_LE(count.seen.size(), 300u);
  }
}

TEST(search, race_of_several_kernels) {
  const auto choices = everything(2);
  counted count;
  const auto found =
      run(configuration_space::separate(choices), {start, start}, {.limit = 900}, count);
  EXPECT_EQ(found.front().what, (configuration{best, best}));
  counted shared;
  const auto same =
      run(configuration_space::shared(choices), {start, start}, {.limit = 300}, shared);
  EXPECT_EQ(same.front().what, (configuration{best, best}));
  for (const scored& s : same) { EXPECT_TRUE(is_shared(s.what)); }
}

TEST(search, random_keeps_to_limit_and_seed) {
  const auto space = configuration_space::separate(everything());
  std::vector<std::set<std::string>> seen;
  for (const unsigned seed : {1u, 1u, 2u}) {
    counted count;
    run(space, {start}, {.how = strategy::random, .limit = 50, .seed = seed}, count);
    EXPECT_EQ(count.seen.size(), 50u);
    EXPECT_TRUE(count.seen.contains(to_string(start)));
    seen.push_back(count.seen);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(seen[0], seen[2]);
}

TEST(search, ends_when_its_time_is_over) {
  counted count;
  const auto found = run(configuration_space::separate(everything()), {start},
                         {.how = strategy::grid, .seconds = 1e-9}, count);
  ASSERT_EQ(found.size(), 1u);  // the start in any case
  EXPECT_EQ(found.front().what, configuration{start});
}

TEST(search, shared_launches_are_those_that_all_kernels_can_have) {
  const launch a{.block = {32, 1, 1}}, b{.block = {64, 1, 1}}, c{.block = {128, 1, 1}};
  const auto space = configuration_space::shared({{a, b}, {b, c}});
  ASSERT_EQ(space.size(), 1u);
  EXPECT_EQ(space[0], (configuration{b, b}));
  EXPECT_EQ(configuration_space::separate({{a, b}, {b, c}}).size(), 4u);
}

// The default of each kernel is one of its space, and each value of it something compiled.
TEST(spaces, hold_the_defaults) {
  std::size_t checked = 0;
  for (const variant& v : registry::instance().variants()) {
    for (const implementation& i : v.implementations) {
      if (i.backend == "cpu") { continue; }  // its only choice is the length of tiles
      const std::vector<launch_space> spaces = i.spaces();
      ASSERT_EQ(spaces.size(), i.defaults.size()) << v.name();
      for (std::size_t n = 0; n < spaces.size(); ++n) {
        const std::vector<launch> all = spaces[n].all();
        EXPECT_NE(std::find(all.begin(), all.end(), i.defaults[n]), all.end())
            << v.name() << ": " << to_string(i.defaults[n]);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 0u);
}

TEST(spaces, values_that_a_kernel_refuses_are_left_out) {
  launch_axes space = every_launch(access::strided);
  space.narrow({.block = {32, 8, 1}},
               [](const launch& l) { return l.levels == 1 && l.block.y > 2; });
  EXPECT_EQ(space.levels, std::vector<int>{1});
  EXPECT_FALSE(space.blocks.empty());
  for (const auto& b : space.blocks) { EXPECT_GT(b.y, 2u); }
}

TEST(pairs, are_of_different_kinds) {
  const auto of = [](unsigned x, int min_blocks, int levels = 1) {
    return scored{{launch{.block = {x, 1, 1}, .levels = levels, .min_blocks = min_blocks}}, 1};
  };
  const std::vector<scored> found{of(64, 1), of(64, 2), of(64, 1, 5), of(128, 1)};
  const auto kinds = kinds_of(found, 3);
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0], found[0].what);
  EXPECT_EQ(kinds[1], found[1].what);
  EXPECT_EQ(kinds[2], found[3].what);
  EXPECT_EQ(kinds_of(found, 10).size(), 3u);
}

// Steps do not overlap, and one lasts until the later end: so it is on the CPU, where work is done
// in the order of the calls.
TEST(pairs, a_step_has_both) {
  const auto device = registry::instance().backends().at("cpu")();
  int first = 0, second = 0;
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  const std::vector<double> seconds = step_seconds(
      *device,
      [&] {
        ++first;
        pause();
      },
      *device,
      [&] {
        ++second;
        pause();
      },
      3);
  EXPECT_EQ(first, 4);
  EXPECT_EQ(second, 4);
  ASSERT_EQ(seconds.size(), 3u);
  for (const double s : seconds) { EXPECT_GE(s, 0.004); }
}

// ---- choices

std::vector<double> samples(double microseconds, double noise = 0.002) {
  std::vector<double> result;
  for (int n = 0; n < 21; ++n) {
    result.push_back(1e-6 * microseconds * (1 + noise * std::sin(5.0 * n)));
  }
  return result;
}
configuration levels(int count) {
  return {launch{.block = {32, 1, 1}, .levels = count}};
}
bool any(const configuration&) {
  return true;
}

TEST(choices, the_simplest_stays_unless_the_interval_is_below_one) {
  final_times times{.what = {levels(1), levels(2)}, .seconds = {samples(100), samples(99)}};
  EXPECT_EQ(choose(times, 0.02, any).what, levels(1));
  times.seconds[1] = samples(90);
  EXPECT_EQ(choose(times, 0.02, any).what, levels(2));
  EXPECT_NEAR(choose(times, 0.02, any).to_default.value, 0.9, 0.01);
  times.seconds[0] = samples(100, 0.4);  // noise that hides it
  EXPECT_EQ(choose(times, 0.02, any).what, levels(1));
  times.seconds = {samples(100), {50e-6, 50e-6}};  // two samples prove nothing
  EXPECT_EQ(choose(times, 0.02, any).what, levels(1));
}

TEST(choices, of_equals_the_one_nearest_to_the_default) {
  configuration far = levels(4);
  far[0].block = {64, 2, 1};
  const final_times times{.what = {levels(1), far, levels(2)},
                          .seconds = {samples(100), samples(80), samples(80.5)}};
  EXPECT_EQ(choose(times, 0.02, any).what, levels(2));
  // Nearer to the default, not proved slower than the fastest, but no faster than the default.
  const final_times noisy{.what = {levels(1), far, levels(2)},
                          .seconds = {samples(100), samples(80), {120e-6, 120e-6}}};
  EXPECT_EQ(choose(noisy, 0.02, any).what, far);
}

TEST(choices, one_for_all_has_the_smallest_worst_ratio) {
  const final_times small{.what = {levels(1), levels(2), levels(4)},
                          .seconds = {samples(100, 0), samples(50, 0), samples(60, 0)}};
  final_times large{.what = {levels(1), levels(2), levels(4)},
                    .seconds = {samples(400, 0), samples(390, 0), samples(300, 0)}};
  const common_choice c = choose_for_all({small, large});
  EXPECT_EQ(c.what, levels(4));
  EXPECT_NEAR(c.worst, 1.2, 1e-9);
  EXPECT_NEAR(c.mean, std::sqrt(1.2), 1e-9);
  large.what.pop_back();  // not measured on all
  large.seconds.pop_back();
  EXPECT_EQ(choose_for_all({small, large}).what, levels(2));
}

TEST(choices, become_classes_of_size) {
  outcome o{.variant = "v", .precision = "double", .ordering = "per_vertex"};
  o.problems = {"large", "small"};
  o.sizes = {400, 100};
  o.best = {{levels(4), 1, {0.8, 0.7, 0.9}}, {levels(1), 1, {}}};
  const tuning_table table{.variants = {tabulate(o)}};
  EXPECT_TRUE(table.find("v", "double", "per_vertex", 200).empty());
  EXPECT_EQ(table.find("v", "double", "per_vertex", 201), levels(4));
  EXPECT_EQ(table.find("v", "double", "per_vertex", 1000000), levels(4));
  EXPECT_TRUE(table.find("v", "float", "per_vertex", 1000).empty());
  EXPECT_TRUE(table.find("w", "double", "per_vertex", 1000).empty());
}

// ---- files

class files : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  scratch_folder folder_;
};

template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) { return error.what(); }
  return "no error";
}

const char* table_text = R"({
 "schema": "icobench-tuning-1", "backend": "cuda", "device": "A GPU", "cache": "warm",
 "made_with": {},
 "variants": [{"variant": "v", "precision": "double", "ordering": "per_orientation", "sizes": [
   {"up_to": 10, "measured": "small", "launches": ["32x2,levels=4", "64"], "ratio": [1, 1, 1]},
   {"up_to": null, "measured": "large", "launches": null, "ratio": [1, 1, 1]}]}]})";

TEST_F(files, table_is_what_was_written) {
  const tuning_table table = load_tuning_table(write("t.json", table_text));
  EXPECT_EQ(table.device, "A GPU");
  const auto found = table.find("v", "double", "per_orientation", 10);
  EXPECT_EQ(to_string(found), "32x2,levels=4+64");
  EXPECT_TRUE(table.find("v", "double", "per_orientation", 11).empty());
  EXPECT_EQ(to_json(table), nlohmann::ordered_json::parse(table_text));
}

TEST_F(files, bad_tables_say_where) {
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = table_text;
    text.replace(text.find(from), from.size(), to);
    const std::string file = write("t.json", text);
    const std::string said = message_of<input_error>([&] { load_tuning_table(file); });
    EXPECT_TRUE(said.starts_with(file + ": ")) << said;
    return said.substr(std::min(said.size(), file.size() + 2));
  };
  EXPECT_EQ(refusal("tuning-1", "tuning-9"), "schema is icobench-tuning-9, not icobench-tuning-1");
  EXPECT_EQ(refusal("\"cache\": \"warm\"", "\"cache\": 1"), "cache is no text");
  EXPECT_EQ(refusal("\"cache\": \"warm\",", ""), "it has no \"cache\"");
  EXPECT_EQ(refusal("\"warm\"", "\"hot\""), "cache is hot, not cold or warm");
  EXPECT_EQ(refusal("\"double\"", "\"half\""), "variants/0/precision is half, not double or float");
  EXPECT_EQ(refusal("\"64\"", "\"\""), "variants/0/sizes/0/launches/1/ is empty");
  EXPECT_EQ(refusal("\"variants\": [",
                    "\"variants\": [{\"variant\": \"v\", \"precision\": \"double\", "
                    "\"ordering\": \"per_orientation\", \"sizes\": []}, "),
            "variants/1/ is there twice: v");
  EXPECT_EQ(refusal("\"made_with\"", "\"odd\": 1, \"made_with\""), "odd is unknown");
  EXPECT_EQ(refusal("[1, 1, 1]", "[1, 1]"), "variants/0/sizes/0/ratio has not three numbers");
  EXPECT_EQ(refusal("\"up_to\": 10", "\"up_to\": null"),
            "variants/0/sizes/1/: sizes have to ascend, null last");
  EXPECT_EQ(refusal("\"up_to\": 10", "\"up_to\": -1"),
            "variants/0/sizes/0/up_to is neither null nor a positive whole number");
  EXPECT_TRUE(refusal("levels=4", "levels=x").starts_with("variants/0/sizes/0/launches/0/: needs"));
  EXPECT_TRUE(refusal("{}", "").starts_with("not valid JSON"));
  EXPECT_EQ(refusal("{}", std::string(100000, '[') + std::string(100000, ']')),
            "not valid JSON: is nested too deep");
  EXPECT_EQ(refusal("\"up_to\": 10", "\"up_to\": 18446744073709551615"),
            "variants/0/sizes/0/up_to is neither null nor a positive whole number");
  EXPECT_EQ(refusal("[1, 1, 1]", "[1, 0, 1]"), "variants/0/sizes/0/ratio/1/ is no positive number");
  EXPECT_NE(
      message_of<input_error>([&] { load_tuning_table(path("absent")); }).find("cannot be read"),
      std::string::npos);
  EXPECT_TRUE(message_of<input_error>([&] { load_tuning_table(path("")); }).starts_with(path("")));
}

trial some_trial(int n) {
  trial t;
  t.variant = "v";
  t.precision = "double";
  t.ordering = "per_orientation";
  t.levels = 3;
  t.launches = std::to_string(n);
  t.status = "ok";
  t.registers = 10 * n;
  t.seconds = {1e-6 * n, 0.1 / 3};
  return t;
}

TEST_F(files, journal_continues) {
  const std::string file = path("j.jsonl");
  const nlohmann::ordered_json context{{"date", "today"}, {"device", "A GPU"}};
  {
    journal j(file, context);
    j.add(some_trial(1));
    j.add(some_trial(2));
  }
  std::ofstream(file, std::ios::app) << "{\"variant\": \"half a li";  // killed here
  {
    journal j(file, {{"date", "tomorrow"}, {"device", "A GPU"}});
    EXPECT_EQ(j.continued(), 2u);
    ASSERT_TRUE(j.find(some_trial(2)));
    EXPECT_EQ(j.find(some_trial(2))->seconds, some_trial(2).seconds);
    EXPECT_EQ(j.find(some_trial(2))->registers, 20);
    EXPECT_FALSE(j.find(some_trial(3)));
    trial other = some_trial(2);
    other.quick = false;
    EXPECT_FALSE(j.find(other));
    j.add(some_trial(3));
  }
  EXPECT_EQ(journal(file, context).continued(), 3u);
  const auto refusal = [&](const std::string& name, const nlohmann::ordered_json& with) {
    return message_of<input_error>([&] { journal(name, with); });
  };
  EXPECT_NE(refusal(file, {{"device", "B"}}).find("another device (\"A GPU\", now \"B\")"),
            std::string::npos);
  EXPECT_NE(refusal(write("x", "{}\n"), context).find("line 1"), std::string::npos);
  EXPECT_NE(refusal(write("y", "no line"), context).find("no journal"), std::string::npos);
  std::ifstream written(file);
  const std::string good{std::istreambuf_iterator<char>(written), {}};
  for (const auto& [from, to, word] :
       {std::array{"[1e-06,", "[-1,", "no trial"},
        {"\"levels\":3", "\"levels\":0", "levels is no"},
        {"\"levels\":3", "\"levels\":2.9", "levels is no"},
        {"\"levels\":3", "\"levels\":1e30", "levels is no"},
        {"\"levels\":3", "\"levels\":3000000000", "levels is no"},
        {"\"halo\":0", "\"halo\":-1", "halo is no"},
        {"\"registers\":10", "\"registers\":1e300", "registers is no"},
        {"\"local_bytes\":0", "\"local_bytes\":-1", "local_bytes is no"},
        {"\"ok\"", "\"good\"", "no trial"},
        {"quick", "slow", "no trial"}}) {
    std::string text = good;
    ASSERT_NE(text.find(from), text.npos) << from << text;
    text.replace(text.find(from), std::string(from).size(), to);
    EXPECT_NE(refusal(write("z", text), context).find("line 2: " + std::string(word)),
              std::string::npos)
        << to;
  }
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_NE(refusal(write("d", "{\"schema\": " + deep + "}\n"), context).find("nested too deep"),
            std::string::npos);
  EXPECT_NE(refusal(path("no/folder"), context).find("no such folder"), std::string::npos);
  EXPECT_NE(refusal("/dev/zero", context).find("no regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_NE(refusal(path("pipe"), context).find("no regular file"), std::string::npos);
}

// A second process would take the line that the first one writes for one of a killed program.
TEST_F(files, journal_has_one_writer) {
  const nlohmann::ordered_json context{{"device", "A GPU"}};
  const std::string file = path("j.jsonl");
  std::optional<journal> first(std::in_place, file, context);
  first->add(some_trial(1));
  std::ofstream(file, std::ios::app) << "{\"half\": ";
  const auto size = fs::file_size(file);
  EXPECT_NE(message_of<input_error>([&] { journal(file, context); }).find("another process"),
            std::string::npos);
  EXPECT_EQ(fs::file_size(file), size);
  first.reset();
  EXPECT_EQ(journal(file, context).continued(), 1u);
  EXPECT_LT(fs::file_size(file), size);
}

TEST(json, limits) {
  const auto nested = [](int depth) {
    return std::string(std::size_t(depth), '[') + std::string(std::size_t(depth), ']');
  };
  EXPECT_NO_THROW(parse_json(nested(64)));
  EXPECT_THROW(parse_json(nested(66)), input_error);
  EXPECT_THROW(parse_json(nested(1000000)), input_error);
  EXPECT_THROW(parse_json("{\"a\": 1e999}"), input_error);
  EXPECT_EQ(whole_number<int>(2147483647), 2147483647);
  EXPECT_EQ(whole_number<long long>(-1, -1), -1);
  for (const nlohmann::ordered_json& j :
       {nlohmann::ordered_json(2147483648), nlohmann::ordered_json(-1), nlohmann::ordered_json(2.0),
        nlohmann::ordered_json("1"), nlohmann::ordered_json(true), nlohmann::ordered_json()}) {
    EXPECT_FALSE(whole_number<int>(j)) << j;
  }
  EXPECT_FALSE(whole_number<long long>(std::numeric_limits<std::uint64_t>::max()));
}

TEST(json, of_regular_files) {
  EXPECT_NE(message_of<input_error>([] { read_text("/dev/zero"); }).find("no regular file"),
            std::string::npos);
  const scratch_folder folder;
  const std::string huge = (folder / "huge").string();
  std::ofstream(huge).close();
  fs::resize_file(huge, (std::uintmax_t(1) << 28) + 1);
  EXPECT_NE(message_of<input_error>([&] { read_text(huge); }).find("larger than 256 MiB"),
            std::string::npos);
}

// ---- a whole search, timed on the CPU

TEST_F(files, search_on_simt) {
  if (!registry::instance().backends().contains("simt")) { GTEST_SKIP() << "no simt"; }
  tune_options o;
  o.grids = {"torus:12x9", "torus:20x13"};
  o.levels = {5};
  o.search.limit = 12;
  o.finalists = 2;
  o.common.sampling_.cache = cache_mode::warm;
  o.common.sampling_.min_samples = 9;
  o.common.sampling_.budget_seconds = 0.05;
  const variant* tuned = nullptr;
  for (const variant& v : registry::instance().variants()) {
    if (v.name() == "nabla4/strided/kloop/separate") { tuned = &v; }
  }
  if (!tuned) { GTEST_SKIP() << "its kernel is not in this build"; }
  const implementation& i = *tuned->find("simt", precision::float64, ordering::per_orientation);
  std::size_t measured = 0;
  for (const bool again : {false, true}) {
    journal j(path("j.jsonl"), {{"device", "simt"}});
    tuner t(o, "simt", j);
    const outcome found = t.tune(*tuned, i);
    EXPECT_EQ(found.reason, "");
    ASSERT_EQ(found.best.size(), 2u);
    for (const choice& c : found.best) {
      EXPECT_GT(c.seconds, 0);
      EXPECT_TRUE(c.what == i.defaults || c.to_default.high < 1);
    }
    EXPECT_GE(found.for_all.worst, 1);
    EXPECT_LE(found.for_all.mean, found.for_all.worst);
    EXPECT_FALSE(t.broken());
    if (again) {
      EXPECT_EQ(t.measured(), 0u);  // all of it was in the journal
    } else {
      measured = t.measured();
      EXPECT_GE(measured, 2 * (12u + 1));
    }
  }
}

}  // namespace
}  // namespace icobench::test
