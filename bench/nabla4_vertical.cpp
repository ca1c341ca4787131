#include "src/bench/driver.hpp"

int main(int argc, char** argv) {
  return icobench::run_benchmarks("nabla4_vertical", argc, argv);
}
