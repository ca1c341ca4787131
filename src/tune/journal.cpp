#include "src/tune/journal.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include <icobench/errors.hpp>

namespace icobench {
namespace {

using json = nlohmann::ordered_json;
constexpr const char* schema = "icobench-tuning-journal-1";

json to_json(const trial& t) {
  return {{"variant", t.variant},
          {"backend", t.backend},
          {"precision", t.precision},
          {"ordering", t.ordering},
          {"grid", t.grid},
          {"levels", t.levels},
          {"halo", t.halo},
          {"launches", t.launches},
          {"defaults", t.defaults},
          {"stage", t.quick ? "quick" : "thorough"},
          {"status", t.status},
          {"reason", t.reason.empty() ? json(nullptr) : json(t.reason)},
          {"registers", t.registers > 0 ? json(t.registers) : json(nullptr)},
          {"local_bytes", t.registers > 0 ? json(t.local_bytes) : json(nullptr)},
          {"seconds", t.seconds}};
}

// Whether it can have been written here: see journal.schema.json.
bool sound(const json& j, const trial& t) {
  const auto one_of = [&](const char* name, std::initializer_list<const char*> known) {
    return std::any_of(known.begin(), known.end(),
                       [&](const char* each) { return j.at(name) == each; });
  };
  return one_of("precision", {"double", "float"}) &&
         one_of("ordering", {"per_vertex", "per_orientation"}) &&
         one_of("stage", {"quick", "thorough"}) &&
         one_of("status", {"ok", "skipped", "wrong", "failed"}) && t.levels > 0 && t.halo >= 0 &&
         (t.status != "ok" || !t.seconds.empty()) &&
         std::all_of(t.seconds.begin(), t.seconds.end(), [](double s) { return s > 0; });
}

trial to_trial(const json& j) {
  trial t;
  j.at("variant").get_to(t.variant);
  j.at("backend").get_to(t.backend);
  j.at("precision").get_to(t.precision);
  j.at("ordering").get_to(t.ordering);
  j.at("grid").get_to(t.grid);
  j.at("levels").get_to(t.levels);
  j.at("halo").get_to(t.halo);
  j.at("launches").get_to(t.launches);
  j.at("defaults").get_to(t.defaults);
  t.quick = j.at("stage").get<std::string>() == "quick";
  j.at("status").get_to(t.status);
  if (!j.at("reason").is_null()) { j.at("reason").get_to(t.reason); }
  if (!j.at("registers").is_null()) {
    j.at("registers").get_to(t.registers);
    j.at("local_bytes").get_to(t.local_bytes);
  }
  j.at("seconds").get_to(t.seconds);
  return t;
}

}  // namespace

journal::journal(std::string path, const json& context) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_)) { throw input_error(path_ + ": is a folder"); }
  if (std::filesystem::exists(path_) && std::filesystem::file_size(path_) > 0) { read(context); }
  file_.open(path_, std::ios::app);
  if (!file_) { throw input_error(path_ + ": cannot be written"); }
  if (std::filesystem::file_size(path_) == 0) { write({{"schema", schema}, {"context", context}}); }
}

void journal::read(const json& context) {
  std::ifstream file(path_, std::ios::binary);
  std::uintmax_t whole = 0;  // bytes of complete lines
  std::size_t number = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    whole += line.size() + 1;
    const std::string where = path_ + ": line " + std::to_string(++number);
    const json j = json::parse(line, nullptr, false);
    try {
      if (number > 1) {
        const trial t = to_trial(j);
        if (!sound(j, t)) { throw input_error(where + ": no trial of a search"); }
        trials_[t.key()] = t;
        ++continued_;
        continue;
      }
      if (j.at("schema") != schema) { throw input_error(where + ": not of schema " + schema); }
      for (const auto& [name, value] : context.items()) {
        const json& there = j.at("context").at(name);
        if (name != "date" && there != value) {
          throw input_error(path_ + ": was made with another " + name + " (" + there.dump() +
                            ", now " + value.dump() + "); take a new file");
        }
      }
    } catch (const json::exception&) { throw input_error(where + ": no line of a journal"); }
  }
  file.close();
  if (number == 0) { throw input_error(path_ + ": no journal"); }
  std::filesystem::resize_file(path_, whole);
}

const trial* journal::find(const trial& t) const {
  const auto found = trials_.find(t.key());
  return found == trials_.end() ? nullptr : &found->second;
}

void journal::add(const trial& t) {
  trials_[t.key()] = t;
  write(to_json(t));
}

void journal::write(const json& line) {
  file_ << line.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  if (!file_.flush()) { throw input_error(path_ + ": cannot be written"); }
}

}  // namespace icobench
