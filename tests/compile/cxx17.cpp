// fails with -std=c++17: icobench needs C\+\+20
#include <icobench/kernel.hpp>
