// fails: view<const double
#include "kernel.hpp"
void use(const icobench::view<const double>& input) {
  icobench::interpolate_operands<double> f{};
  f.p_u = input;
}
