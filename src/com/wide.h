// The one place that knows the width of WCHAR: UTF-8 inside, wide strings at the edge.
// Used by skins at the first and the last line of a method.
#pragma once

#include <unknwn.h>

#include <string>
#include <string_view>

namespace owml {

// Invalid sequences and lone surrogates become U+FFFD. `text` must not be null.
std::string ToUtf8(LPCWSTR text);
std::string ToUtf8(std::wstring_view text);

// Invalid UTF-8 becomes U+FFFD.
std::wstring ToWide(std::string_view text);

// A terminated copy that the caller frees with CoTaskMemFree; throws std::bad_alloc.
LPWSTR CoTaskWide(std::wstring_view text);

}  // namespace owml
