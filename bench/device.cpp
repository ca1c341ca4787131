#include "src/device/program.hpp"

int main(int argc, char** argv) {
  return icobench::run_device_program(argc, argv);
}
