// The tuning table of one GPU: the best launches of variants by size of the problem, as JSON.
//
//   {
//     "schema": "icobench-tuning-1",
//     "backend": "cuda", "device": "NVIDIA H200", "cache": "warm",
//     "made_with": {"date": ..., "driver": ..., ...},              texts, for people
//     "variants": [
//       {"variant": "nabla4/strided/kloop/separate", "precision": "double",
//        "ordering": "per_orientation",
//        "sizes": [                               by size; the first that is large enough is taken
//          {"up_to": 12000000,                    vertices times levels; null: any
//           "measured": "torus:298x257, 80 levels",
//           "launches": ["64x1x2,levels=10"],     one for each kernel; null: the default is as good
//           "ratio": [0.93, 0.92, 0.94]},         time over the default's, and its interval
//          ...
//
// Reading it needs nlohmann/json; the rest of the library does not.
#pragma once

#include <exception>
#include <initializer_list>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <icobench/launch_text.hpp>

#include "src/support/read_json.hpp"

namespace icobench {

// Launches for problems up to a size.
struct tuned_size {
  std::optional<long long> up_to{};     // vertices times levels; none: any size
  std::string measured{};               // the problem, for people
  std::vector<launch> launches{};       // one for each kernel; empty: the default
  double ratio = 1, low = 1, high = 1;  // time over the default's, and its interval
};

struct tuned_variant {
  std::string variant{}, precision{}, ordering{};
  std::vector<tuned_size> sizes{};
};

struct tuning_table {
  static constexpr std::string_view schema = "icobench-tuning-1";

  std::string backend{}, device{}, cache{};
  nlohmann::ordered_json made_with = nlohmann::ordered_json::object();
  std::vector<tuned_variant> variants{};

  // The launches for a problem of so many vertices times levels; empty: the default ones.
  std::vector<launch> find(std::string_view variant, std::string_view precision,
                           std::string_view ordering, long long size) const {
    for (const tuned_variant& v : variants) {
      if (v.variant != variant || v.precision != precision || v.ordering != ordering) { continue; }
      for (const tuned_size& s : v.sizes) {
        if (!s.up_to || size <= *s.up_to) { return s.launches; }
      }
    }
    return {};
  }
};

namespace detail {

// An object of a table: every member must be asked for, and be of the right kind. Errors say where.
class table_reader {
 public:
  using value_type = nlohmann::ordered_json;
  table_reader(const value_type& object, std::string where)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) { fail("", "is no object"); }
  }

  const value_type& member(const std::string& name) {
    known_.insert(name);
    if (!object_.contains(name)) { fail("", "has no \"" + name + "\""); }
    return object_.at(name);
  }
  std::string text(const std::string& name) {
    const value_type& value = member(name);
    if (!value.is_string()) { fail(name, "is no text"); }
    return value.get<std::string>();
  }
  std::string text_of(const std::string& name, std::initializer_list<std::string_view> known) {
    const std::string value = text(name);
    std::string all;
    for (const std::string_view each : known) {
      if (value == each) { return value; }
      all += (all.empty() ? "" : " or ") + std::string(each);
    }
    fail(name, "is " + value + ", not " + all);
  }
  template <class Read>
  void each(const std::string& name, const Read& read) {
    const value_type& list = member(name);
    if (!list.is_array()) { fail(name, "is no list"); }
    for (std::size_t n = 0; n < list.size(); ++n) {
      read(list[n], where_ + name + "/" + std::to_string(n) + "/");
    }
  }
  void nothing_else() const {
    for (const auto& [name, value] : object_.items()) {
      if (!known_.contains(name)) { fail(name, "is unknown"); }
    }
  }
  [[noreturn]] void fail(const std::string& name, const std::string& what) const {
    const std::string where = where_ + name;
    throw std::invalid_argument((where.empty() ? "it" : where) + " " + what);
  }

 private:
  const value_type& object_;
  std::string where_;
  std::set<std::string> known_;
};

inline tuned_size read_tuned_size(const nlohmann::ordered_json& j, const std::string& where) {
  table_reader r(j, where);
  tuned_size s;
  const auto& up_to = r.member("up_to");
  s.up_to = whole_number<long long>(up_to, 1);
  if (!s.up_to && !up_to.is_null()) {
    r.fail("up_to", "is neither null nor a positive whole number");
  }
  s.measured = r.text("measured");
  if (!r.member("launches").is_null()) {
    r.each("launches", [&](const auto& text, const std::string& place) {
      if (!text.is_string()) { throw std::invalid_argument(place + " is no text"); }
      if (text == "") { throw std::invalid_argument(place + " is empty"); }
      try {
        s.launches.push_back(parse_launch(text.template get<std::string>(), {}));
      } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(place + ": " + error.what());
      }
    });
  }
  std::vector<double> ratio;
  r.each("ratio", [&](const auto& number, const std::string& place) {
    if (!number.is_number() || number <= 0) {
      throw std::invalid_argument(place + " is no positive number");
    }
    ratio.push_back(number.template get<double>());
  });
  if (ratio.size() != 3) { r.fail("ratio", "has not three numbers"); }
  s.ratio = ratio[0], s.low = ratio[1], s.high = ratio[2];
  r.nothing_else();
  return s;
}

inline tuned_variant read_tuned_variant(const nlohmann::ordered_json& j, const std::string& where) {
  table_reader r(j, where);
  tuned_variant v{r.text("variant"), r.text_of("precision", {"double", "float"}),
                  r.text_of("ordering", {"per_orientation", "per_vertex"})};
  r.each("sizes", [&](const auto& size, const std::string& place) {
    v.sizes.push_back(read_tuned_size(size, place));
    const bool after_any = v.sizes.size() > 1 && !v.sizes[v.sizes.size() - 2].up_to;
    const bool descends = v.sizes.size() > 1 && !after_any && v.sizes.back().up_to &&
                          *v.sizes.back().up_to <= *v.sizes[v.sizes.size() - 2].up_to;
    if (after_any || descends) {
      throw std::invalid_argument(place + ": sizes have to ascend, null last");
    }
  });
  r.nothing_else();
  return v;
}

}  // namespace detail

inline nlohmann::ordered_json to_json(const tuning_table& table) {
  using value = nlohmann::ordered_json;
  value variants = value::array();
  for (const tuned_variant& v : table.variants) {
    value sizes = value::array();
    for (const tuned_size& s : v.sizes) {
      value launches = value::array();
      for (const launch& l : s.launches) { launches.push_back(to_string(l)); }
      sizes.push_back({{"up_to", s.up_to ? value(*s.up_to) : value(nullptr)},
                       {"measured", s.measured},
                       {"launches", s.launches.empty() ? value(nullptr) : launches},
                       {"ratio", value::array({s.ratio, s.low, s.high})}});
    }
    variants.push_back({{"variant", v.variant},
                        {"precision", v.precision},
                        {"ordering", v.ordering},
                        {"sizes", sizes}});
  }
  return {{"schema", tuning_table::schema}, {"backend", table.backend},
          {"device", table.device},         {"cache", table.cache},
          {"made_with", table.made_with},   {"variants", variants}};
}

// Throws std::invalid_argument, whose text says where the table is wrong and how.
inline tuning_table read_tuning_table(const nlohmann::ordered_json& j) {
  detail::table_reader r(j, "");
  if (const std::string schema = r.text("schema"); schema != tuning_table::schema) {
    r.fail("schema", "is " + schema + ", not " + std::string(tuning_table::schema));
  }
  tuning_table table{r.text("backend"), r.text("device"), r.text_of("cache", {"cold", "warm"}),
                     r.member("made_with")};
  std::set<std::string> known;
  r.each("variants", [&](const auto& variant, const std::string& place) {
    const tuned_variant& v =
        table.variants.emplace_back(detail::read_tuned_variant(variant, place));
    if (!known.insert(v.variant + " " + v.precision + " " + v.ordering).second) {
      throw std::invalid_argument(place + " is there twice: " + v.variant);
    }
  });
  r.nothing_else();
  return table;
}

// Throws input_error "PATH: ...".
inline tuning_table load_tuning_table(const std::string& path) {
  const std::string text = read_text(path);
  try {
    return read_tuning_table(parse_json(text));
  } catch (const std::exception& error) { throw input_error(path + ": " + error.what()); }
}

}  // namespace icobench
