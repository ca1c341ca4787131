#include "src/operations/operations.hpp"

namespace icobench {

std::map<std::string, const operations*, std::less<>>& all_operations() {
  static std::map<std::string, const operations*, std::less<>> all;
  return all;
}

}  // namespace icobench
