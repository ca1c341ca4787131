#include <icobench/registry.hpp>

namespace icobench {

registry& registry::instance() {
  static registry all;
  return all;
}

}  // namespace icobench
