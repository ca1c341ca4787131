#include "src/bench/selection.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <iostream>
#include <sstream>

namespace icobench {

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, '/');) {
    if (!word.empty()) { words.push_back(word); }
  }
  return words;
}

}  // namespace

bool has_words(const std::string& name, const std::string& part) {
  const auto matches = [](const std::string& word, const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), word.c_str(), FNM_NOESCAPE) == 0;
  };
  const std::vector<std::string> all = words_of(name), wanted = words_of(part);
  return std::search(all.begin(), all.end(), wanted.begin(), wanted.end(), matches) != all.end();
}

bool wanted(const variant& v, std::string_view chain, const std::vector<std::string>& parts) {
  if (!chain.empty() && v.info.chain != chain) { return false; }
  return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
           return has_words(v.name(), part);
         });
}

std::vector<std::string> choose_backends(const std::string& program,
                                         const std::vector<std::string>& asked, workspace& w) {
  const auto& known = registry::instance().backends();
  for (const std::string& name : asked) {
    if (!known.contains(name)) {
      std::string message = "--backend " + name + ": not in this build, which has";
      for (const auto& [each, open] : known) { message += " " + each; }
      throw input_error(message);
    }
    try {
      w.device(name);
    } catch (const gpu::device_error& error) {
      throw input_error("--backend " + name + ": " + error.what());
    }
  }
  if (!asked.empty()) { return asked; }
  for (const std::string name : {"cuda", "hip"}) {
    if (!known.contains(name)) { continue; }
    try {
      w.device(name);
      return {name};
    } catch (const gpu::device_error& error) {
      std::cerr << program << ": " << name << ": " << error.what() << "; using the CPU\n";
    }
  }
  return {"cpu"};
}

}  // namespace icobench
