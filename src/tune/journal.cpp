#include "src/tune/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <sstream>

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

template <class T>
void take(const json& j, const char* name, T& number, T least = 0) {
  const auto found = whole_number<T>(j.at(name), least);
  if (!found) {
    throw input_error(name + (" is no whole number from " + std::to_string(least)) + " on");
  }
  number = *found;
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
         one_of("status", {"ok", "skipped", "wrong", "failed"}) &&
         (t.status != "ok" || !t.seconds.empty()) &&
         std::all_of(t.seconds.begin(), t.seconds.end(), [](double s) { return s > 0; });
}

// Throws input_error unless a journal that begins so is one of this context.
void check_head(const json& head, const json& context) {
  if (head.at("schema") != schema) { throw input_error(std::string("not of schema ") + schema); }
  for (const auto& [name, value] : context.items()) {
    const json& there = head.at("context").at(name);
    if (name != "date" && there != value) {
      throw input_error("was made with another " + name + " (" + there.dump() + ", now " +
                        value.dump() + "); take a new file");
    }
  }
}

trial to_trial(const json& j) {
  trial t;
  j.at("variant").get_to(t.variant);
  j.at("backend").get_to(t.backend);
  j.at("precision").get_to(t.precision);
  j.at("ordering").get_to(t.ordering);
  j.at("grid").get_to(t.grid);
  take(j, "levels", t.levels, 1);
  take(j, "halo", t.halo);
  j.at("launches").get_to(t.launches);
  j.at("defaults").get_to(t.defaults);
  t.quick = j.at("stage").get<std::string>() == "quick";
  j.at("status").get_to(t.status);
  if (!j.at("reason").is_null()) { j.at("reason").get_to(t.reason); }
  if (!j.at("registers").is_null()) {
    take(j, "registers", t.registers);
    take(j, "local_bytes", t.local_bytes);
  }
  j.at("seconds").get_to(t.seconds);
  return t;
}

}  // namespace

journal::journal(const std::string& path, const json& context)
    : path_(path), file_(path, O_RDWR | O_CREAT | O_APPEND) {
  lock();
  const std::string text = file_.read();
  if (text.empty()) {
    write({{"schema", schema}, {"context", context}});
    return;
  }
  const std::size_t whole = text.rfind('\n') + 1;  // 0: no line is complete
  if (whole == 0) { throw input_error(path_ + ": no journal"); }
  read(text.substr(0, whole), context);
  // What a killed program left of a line.
  if (whole < text.size() && ::ftruncate(file_.id(), off_t(whole)) != 0) {
    throw input_error(path_ + ": cannot be written: " + std::strerror(errno));
  }
}

// Two processes would cut each other's lines.
void journal::lock() const {
  if (::flock(file_.id(), LOCK_EX | LOCK_NB) == 0) { return; }
  if (errno == EWOULDBLOCK) {
    throw input_error(path_ + ": another process writes to it; wait, or take another file");
  }
  std::cerr << path_ << ": cannot be locked (" << std::strerror(errno)
            << "); if nobody else writes to it, this does not matter\n";
}

void journal::read(const std::string& text, const json& context) {
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = path_ + ": line " + std::to_string(++number) + ": ";
    try {
      const json j = parse_json(line);
      if (number == 1) {
        check_head(j, context);
        continue;
      }
      const trial t = to_trial(j);
      if (!sound(j, t)) { throw input_error("no trial of a search"); }
      trials_[t.key()] = t;
      ++continued_;
    } catch (const input_error& error) {
      throw input_error(where + error.what());
    } catch (const json::exception&) { throw input_error(where + "no line of a journal"); }
  }
}

const trial* journal::find(const trial& t) const {
  const auto found = trials_.find(t.key());
  return found == trials_.end() ? nullptr : &found->second;
}

void journal::add(const trial& t) {
  trials_[t.key()] = t;
  write(to_json(t));
}

// At once, so that a line is whole or the last one.
void journal::write(const json& line) {
  file_.write(line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace icobench
