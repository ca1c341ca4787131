// What a search measured, line by line: see journal.schema.json.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "src/support/read_json.hpp"

namespace icobench {

// One configuration of one variant, measured on one problem.
struct trial {
  std::string variant, backend, precision, ordering;
  std::string grid;
  int levels = 0, halo = 0;
  std::string launches, defaults;  // with '+' between kernels
  bool quick = true;               // else measured long, together with the other finalists
  std::string status;              // ok, skipped, wrong, failed
  std::string reason;              // of every status but ok
  int registers = 0;               // the most of its kernels; 0 where unknown
  std::size_t local_bytes = 0;
  std::vector<double> seconds;

  auto key() const {
    return std::tie(variant, backend, precision, ordering, grid, levels, halo, launches, quick);
  }
};

class journal {
 public:
  // Continues the file if there is one, and locks it. What a killed program left of a line is cut
  // off. Throws input_error for what is no journal, or one of another context (device, driver,
  // program, ...), or one that another process writes to.
  journal(const std::string& path, const nlohmann::ordered_json& context);

  // The trial with the key of this one, or nullptr.
  const trial* find(const trial&) const;
  // Written at once, so that a killed program loses nothing that it had measured. A later one with
  // the same key replaces the earlier.
  void add(const trial&);
  std::size_t continued() const { return continued_; }  // trials that the file had

 private:
  using key = std::tuple<std::string, std::string, std::string, std::string, std::string, int, int,
                         std::string, bool>;
  void lock() const;
  void read(const std::string& text, const nlohmann::ordered_json& context);
  void write(const nlohmann::ordered_json& line);

  std::string path_;
  std::map<key, trial> trials_;
  std::size_t continued_ = 0;
  descriptor file_;
};

}  // namespace icobench
