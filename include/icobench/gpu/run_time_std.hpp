// The words of the standard library that kernel headers use, for compilers that have no library:
// NVRTC and hipRTC, to which each standard header is this one. What belongs to the host is read
// there, never compiled: a name is enough.
#pragma once

#if defined(ICOBENCH_AT_RUN_TIME)

#if defined(__CUDACC_RTC__)
#define __builtin_memcpy memcpy  // not known under that name
#endif

namespace std {

// Some hipRTCs have some of these words: a word of std itself comes before one that std uses.
namespace icobench_words {}
using namespace icobench_words;

namespace icobench_words {

using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using uint8_t = unsigned char;
using int32_t = int;
using uint32_t = unsigned;
using int64_t = long;
using uint64_t = unsigned long;

template <class T, T value_>
struct integral_constant {
  static constexpr T value = value_;
};
template <bool first, class A, class B>
struct conditional {
  using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool first, class A, class B>
using conditional_t = typename conditional<first, A, B>::type;
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;
template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;
template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<const T> = true;
template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);

template <class T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}

// For the host, whose code is read and never compiled.
template <class T>
constexpr const T& clamp(const T& value, const T& least, const T& most) {
  return value < least ? least : most < value ? most : value;
}

}  // namespace icobench_words
}  // namespace std

#endif
