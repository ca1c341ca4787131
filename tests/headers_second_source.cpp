#include "tests/headers_support.hpp"

namespace icobench::test {

seen from_second_source() {
  return look();
}

}  // namespace icobench::test
