// BSTR strings: a 32-bit byte length, the characters, a terminator; the pointer is to the first character.
// Exported by the runtime library off Windows.
#include <oleauto.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <limits>

namespace {

// The length stands in the four bytes before the characters; the block starts 16 bytes before them to keep alignment.
constexpr size_t kHeader = 16;

char* BlockOf(BSTR text) { return reinterpret_cast<char*>(text) - kHeader; }

}  // namespace

extern "C" {

BSTR SysAllocStringLen(const OLECHAR* text, UINT length) {
  constexpr uint64_t kLimit = std::numeric_limits<uint32_t>::max() / sizeof(WCHAR) - kHeader;
  if (length > kLimit) return nullptr;
  const uint32_t bytes = static_cast<uint32_t>(length * sizeof(WCHAR));
  char* block = static_cast<char*>(std::malloc(kHeader + bytes + sizeof(WCHAR)));
  if (!block) return nullptr;
  std::memcpy(block + kHeader - sizeof bytes, &bytes, sizeof bytes);
  if (text) {
    std::memcpy(block + kHeader, text, bytes);
  } else {
    std::memset(block + kHeader, 0, bytes);
  }
  std::memset(block + kHeader + bytes, 0, sizeof(WCHAR));
  return reinterpret_cast<BSTR>(block + kHeader);
}

BSTR SysAllocString(const OLECHAR* text) {
  if (!text) return nullptr;
  const size_t length = std::wcslen(text);
  if (length > std::numeric_limits<UINT>::max()) return nullptr;
  return SysAllocStringLen(text, static_cast<UINT>(length));
}

UINT SysStringLen(BSTR text) {
  if (!text) return 0;
  uint32_t bytes = 0;
  std::memcpy(&bytes, reinterpret_cast<char*>(text) - sizeof bytes, sizeof bytes);
  return static_cast<UINT>(bytes / sizeof(WCHAR));
}

void SysFreeString(BSTR text) {
  if (text) std::free(BlockOf(text));
}

}  // extern "C"
