#include "src/measure/host_ceilings.hpp"

#include <omp.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <icobench/types.hpp>

namespace icobench {
namespace {

constexpr std::size_t line = 8;  // doubles of a cache line

// Stores that do not read the line first.
#if defined(__AVX512F__)
#define ICOBENCH_STREAM_STORE _mm512_stream_pd
#define ICOBENCH_STREAM_WIDTH 64
#elif defined(__AVX__)
#define ICOBENCH_STREAM_STORE _mm256_stream_pd
#define ICOBENCH_STREAM_WIDTH 32
#elif defined(__SSE2__)
#define ICOBENCH_STREAM_STORE _mm_stream_pd
#define ICOBENCH_STREAM_WIDTH 16
#elif defined(__clang__)
#define ICOBENCH_STREAM_STORE(to, value) \
  __builtin_nontemporal_store(value, reinterpret_cast<vector*>(to))
#define ICOBENCH_STREAM_WIDTH 16
#endif
#if defined(ICOBENCH_STREAM_STORE)
typedef double vector __attribute__((vector_size(ICOBENCH_STREAM_WIDTH)));
#endif

// What a thread works on: `count` doubles, a multiple of a line.
struct part {
  double *a, *b, *c;
  std::size_t count;
};

// to[i] = value(i), in `streams` places at once.
template <int streams, class Value>
void store(const part& p, Value value) {
  const std::size_t each = p.count / line / streams * line;
#pragma omp simd
  for (std::size_t i = 0; i < each; ++i) {
    for (int s = 0; s < streams; ++s) {
      p.a[std::size_t(s) * each + i] = value(std::size_t(s) * each + i);
    }
  }
#pragma omp simd
  for (std::size_t i = streams * each; i < p.count; ++i) { p.a[i] = value(i); }
}

#if defined(ICOBENCH_STREAM_STORE)
template <class Value>
void store_streaming(const part& p, Value value) {
  constexpr std::size_t width = sizeof(vector) / sizeof(double);
  for (std::size_t i = 0; i < p.count; i += width) {
    vector v;
    for (std::size_t n = 0; n < width; ++n) { v[n] = value(i + n); }
    ICOBENCH_STREAM_STORE(p.a + i, v);
  }
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
#endif

// In each stream as many sums as hide the latency of an addition.
template <int streams>
double sum(const part& p) {
  constexpr std::size_t sums = 4 * line;
  std::array<double, sums> result{};
  const std::size_t each = p.count / sums / streams * sums;
  for (std::size_t i = 0; i < each; i += sums) {
    for (int s = 0; s < streams; ++s) {
      const double* const from = p.b + std::size_t(s) * each + i;
#pragma omp simd
      for (std::size_t n = 0; n < sums; ++n) { result[n] += from[n]; }
    }
  }
  for (std::size_t i = streams * each; i < p.count; ++i) { result[0] += p.b[i]; }
  double all = 0;
  for (const double each_sum : result) { all += each_sum; }
  return all;
}

constexpr double in_b = 1, in_c = 0.25, factor = 2;

}  // namespace

template <class Part>
measurement host_ceiling_work::make(const std::string& name, int arrays, Part work) {
  measurement m;
  m.name = name;
  m.bytes = double(arrays) * double(count_) * sizeof(double);
  m.run = [this, work] {
    double all = 0;
#pragma omp parallel reduction(+ : all)
    {
      const std::size_t each = count_ / std::size_t(omp_get_num_threads());
      const std::size_t first = each / line * line * std::size_t(omp_get_thread_num());
      const bool last = omp_get_thread_num() + 1 == omp_get_num_threads();
      all += work(part{a_.as<double>() + first, b_.as<double>() + first, c_.as<double>() + first,
                       last ? count_ - first : each / line * line});
    }
    sum_ = all;
  };
  return m;
}

host_ceiling_work::host_ceiling_work(gpu::device& device, std::size_t count)
    : count_(round_up(count, line)),
      a_(device, count_ * sizeof(double)),
      b_(device, count_ * sizeof(double)),
      c_(device, count_ * sizeof(double)) {
  make("", 0, [](const part& p) {
    store<1>(p, [](std::size_t) { return 0.0; });
    std::fill_n(p.b, p.count, in_b);
    std::fill_n(p.c, p.count, in_c);
    return 0.0;
  }).run();
}

std::vector<measurement> host_ceiling_work::read() {
  const auto reads = [this](const std::string& name, auto work) {
    measurement m = make(name, 1, work);
    m.check = [this] { return std::fabs(sum_ - in_b * double(count_)) > 0 ? "another sum" : ""; };
    return m;
  };
  return {reads("1 stream", [](const part& p) { return sum<1>(p); }),
          reads("2 streams", [](const part& p) { return sum<2>(p); }),
          reads("4 streams", [](const part& p) { return sum<4>(p); }),
          reads("8 streams", [](const part& p) { return sum<8>(p); })};
}

// Ways to store value_of(part)(i), which is `expected` everywhere.
template <class ValueOf>
std::vector<measurement> host_ceiling_work::stores(int arrays, double expected, ValueOf value_of) {
  std::vector<measurement> all;
#if defined(ICOBENCH_STREAM_STORE)
  all.push_back(make("streaming stores", arrays, [=](const part& p) {
    store_streaming(p, value_of(p));
    return 0.0;
  }));
#endif
  const auto add = [&]<int streams>(const std::string& name) {
    all.push_back(make(name, arrays, [=](const part& p) {
      store<streams>(p, value_of(p));
      return 0.0;
    }));
  };
  add.template operator()<1>("1 stream");
  add.template operator()<2>("2 streams");
  add.template operator()<4>("4 streams");
  if (arrays < 3) {
    all.push_back(make("the C library", arrays, [=](const part& p) {
      if (arrays == 1) {
        std::memset(p.a, 0, p.count * sizeof(double));
      } else {
        std::memcpy(p.a, p.b, p.count * sizeof(double));
      }
      return 0.0;
    }));
  }
  for (measurement& m : all) {
    m.check = [=, this] {
      const double* const a = a_.as<double>();
      const auto wrong = [=](double x) { return x < expected || x > expected; };
      return std::any_of(a, a + count_, wrong) ? "an element is wrong" : "";
    };
  }
  return all;
}

std::vector<measurement> host_ceiling_work::write() {
  return stores(1, 0, [](const part&) { return [](std::size_t) { return 0.0; }; });
}
std::vector<measurement> host_ceiling_work::copy() {
  return stores(2, in_b, [](const part& p) { return [b = p.b](std::size_t i) { return b[i]; }; });
}
std::vector<measurement> host_ceiling_work::triad() {
  return stores(3, in_b + factor * in_c, [](const part& p) {
    return [b = p.b, c = p.c](std::size_t i) { return b[i] + factor * c[i]; };
  });
}

// Of the mapping that has the middle of an array: "7f00-7f10 rw-p ...", then "Rss:  4 kB" and more.
std::optional<double> host_ceiling_work::huge_page_share() const {
  const auto at = reinterpret_cast<std::uintptr_t>(a_.data()) + a_.bytes() / 2;
  std::ifstream file("/proc/self/smaps");
  bool inside = false;
  double resident = 0;
  for (std::string text; std::getline(file, text);) {
    std::uintptr_t first = 0, last = 0;
    if (std::sscanf(text.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &first, &last) == 2) {
      inside = first <= at && at < last;
    }
    double kib = 0;
    if (inside && std::sscanf(text.c_str(), "Rss: %lf", &kib) == 1) { resident = kib; }
    if (inside && std::sscanf(text.c_str(), "AnonHugePages: %lf", &kib) == 1 && resident > 0) {
      return kib / resident;
    }
  }
  return std::nullopt;
}

std::string host_ceiling_work::huge_page_setting() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  std::getline(file, text);  // "always [madvise] never"
  const std::size_t first = text.find('['), last = text.find(']');
  return last == text.npos || first > last ? "" : text.substr(first + 1, last - first - 1);
}

}  // namespace icobench
