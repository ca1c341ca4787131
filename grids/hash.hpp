// Tells damaged or other text apart; not for secrets.
#pragma once

#include <cstdint>
#include <string_view>

namespace icobench {

// FNV-1a, 64 bits. Of a text in pieces: `before` is the hash of those before.
inline std::uint64_t hash_of(std::string_view text, std::uint64_t before = 0xcbf29ce484222325) {
  for (const char c : text) { before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
  return before;
}

}  // namespace icobench
