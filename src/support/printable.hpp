// Text of files and command lines, on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace icobench {

// Control characters (ESC, NUL, ...; not the ends of lines) become '?'. Cut after 2000 bytes.
inline std::string printable(std::string_view text) {
  constexpr std::size_t most = 2000;
  std::string result(text.substr(0, most));
  for (std::size_t n = 0; n < result.size(); ++n) {
    const auto byte = static_cast<unsigned char>(result[n]);
    const bool second_set = byte >= 0x80 && byte < 0xa0 && n > 0 && result[n - 1] == '\xc2';
    if ((byte < ' ' && byte != '\n') || byte == 0x7f || second_set) { result[n] = '?'; }
    if (second_set) { result[n - 1] = '?'; }
  }
  return text.size() > most ? result + "..." : result;
}

}  // namespace icobench
