// UTF-8 to wide text and back, for wchar_t of 16 bits (UTF-16) and of 32 bits (UTF-32).
// For applications and samples; header only. Any input is taken: what is not text becomes U+FFFD, nothing is read past
// the end.
#ifndef OPENWINML_STRINGS_HPP_
#define OPENWINML_STRINGS_HPP_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace openwinml {
namespace detail {

inline constexpr char32_t kReplacement = 0xFFFD;

constexpr bool IsSurrogate(char32_t c) noexcept { return c >= 0xD800 && c <= 0xDFFF; }
constexpr bool IsContinuation(unsigned char byte) noexcept { return (byte & 0xC0) == 0x80; }

// Reads one code point and moves on. Of a bad sequence the longest part that could have begun a good one is replaced
// once (the practice that the Unicode standard recommends); overlong forms, surrogates and values above U+10FFFF are
// bad.
constexpr char32_t NextFromUtf8(std::string_view text, std::size_t& at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  std::size_t more = 0;
  unsigned char low = 0x80, high = 0xBF;  // what the second byte may be
  char32_t value = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    more = 1;
    value = first & 0x1Fu;
  } else if (first >= 0xE0 && first <= 0xEF) {
    more = 2;
    value = first & 0x0Fu;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    more = 3;
    value = first & 0x07u;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return kReplacement;
  }
  for (; more > 0; --more) {
    if (at >= text.size() || byte(at) < low || byte(at) > high) return kReplacement;
    value = value << 6 | (byte(at++) & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return value;
}

// Reads one code point of UTF-16 or UTF-32, as the width of Unit says, and moves on.
template <class Unit>
constexpr char32_t NextFromWide(std::basic_string_view<Unit> text, std::size_t& at) noexcept {
  const auto unit = [&](std::size_t i) {
    if constexpr (sizeof(Unit) == 2) {
      return static_cast<char32_t>(static_cast<std::uint16_t>(text[i]));
    } else {
      return static_cast<char32_t>(text[i]);
    }
  };
  const char32_t first = unit(at++);
  if constexpr (sizeof(Unit) == 2) {
    if (first >= 0xD800 && first <= 0xDBFF && at < text.size() && unit(at) >= 0xDC00 && unit(at) <= 0xDFFF) {
      return 0x10000 + ((first - 0xD800) << 10) + (unit(at++) - 0xDC00);
    }
  }
  return IsSurrogate(first) || first > 0x10FFFF ? kReplacement : first;
}

inline void AppendUtf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

template <class Unit>
void AppendWide(std::basic_string<Unit>& out, char32_t c) {
  if (sizeof(Unit) == 2 && c >= 0x10000) {
    out += static_cast<Unit>(0xD800 + ((c - 0x10000) >> 10));
    out += static_cast<Unit>(0xDC00 + ((c - 0x10000) & 0x3FF));
  } else {
    out += static_cast<Unit>(c);
  }
}

}  // namespace detail

/// UTF-8 as text of 16-bit units (UTF-16) or 32-bit units (UTF-32).
template <class Unit>
std::basic_string<Unit> FromUtf8(std::string_view text) {
  static_assert(sizeof(Unit) == 2 || sizeof(Unit) == 4);
  std::basic_string<Unit> out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) detail::AppendWide(out, detail::NextFromUtf8(text, at));
  return out;
}

/// Text of 16-bit or 32-bit units as UTF-8.
template <class Unit>
std::string ToUtf8(std::basic_string_view<Unit> text) {
  static_assert(sizeof(Unit) == 2 || sizeof(Unit) == 4);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) detail::AppendUtf8(out, detail::NextFromWide(text, at));
  return out;
}

/// For the strings of the API; null is empty.
inline std::wstring ToWide(std::string_view utf8) { return FromUtf8<wchar_t>(utf8); }
inline std::string ToUtf8(std::wstring_view wide) { return ToUtf8<wchar_t>(wide); }
inline std::string ToUtf8(const wchar_t* wide) {
  return wide ? ToUtf8<wchar_t>(std::wstring_view(wide)) : std::string();
}

}  // namespace openwinml

#endif  // OPENWINML_STRINGS_HPP_
