#include "src/tune/tuner.hpp"

int main(int argc, char** argv) {
  return icobench::run_tuning(argc, argv);
}
