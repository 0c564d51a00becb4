// Arrays that cross the ABI and are freed by the caller with CoTaskMemFree.
// Used by skins that return token lists.
#pragma once

#include <objbase.h>

#include <cstring>
#include <new>
#include <span>
#include <type_traits>

namespace owml {

// A copy for the caller; null for an empty span. Throws std::bad_alloc.
template <class T>
T* CoTaskArray(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (values.empty()) return nullptr;
  T* copy = static_cast<T*>(CoTaskMemAlloc(values.size_bytes()));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, values.data(), values.size_bytes());
  return copy;
}

}  // namespace owml
