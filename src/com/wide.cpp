// Wide and UTF-8 conversions over openwinml/strings.hpp.
// Linked into each shared library.
#include "com/wide.h"

#include <objbase.h>

#include <algorithm>
#include <new>
#include <openwinml/strings.hpp>

namespace owml {

std::string ToUtf8(LPCWSTR text) { return openwinml::ToUtf8(std::wstring_view(text)); }
std::string ToUtf8(std::wstring_view text) { return openwinml::ToUtf8(text); }
std::wstring ToWide(std::string_view text) { return openwinml::ToWide(text); }

LPWSTR CoTaskWide(std::wstring_view text) {
  LPWSTR copy = static_cast<LPWSTR>(CoTaskMemAlloc((text.size() + 1) * sizeof(WCHAR)));
  if (!copy) throw std::bad_alloc();
  std::copy(text.begin(), text.end(), copy);  // an empty view may have no address, which memcpy does not take
  copy[text.size()] = 0;
  return copy;
}

}  // namespace owml
