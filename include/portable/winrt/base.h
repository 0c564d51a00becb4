// winrt::com_ptr, check_hresult, hresult_error, implements and make: the part of C++/WinRT that plain COM programs use.
// For programs that include <winrt/base.h>; the error object comes from libwinml_runtime.
#ifndef WINML_PORTABLE_WINRT_BASE_H_
#define WINML_PORTABLE_WINRT_BASE_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

#include "../winml_portable/implements.h"
#include "../winml_portable/memory.h"

namespace winrt {

using hresult = HRESULT;
using guid = GUID;
struct take_ownership_from_abi_t {};
inline constexpr take_ownership_from_abi_t take_ownership_from_abi{};

/// A failed call. Takes the thread's error object with it, so that the sentence is not lost.
class hresult_error {
 public:
  explicit hresult_error(HRESULT code) : code_(code) {
    IErrorInfo* info = nullptr;
    if (GetErrorInfo(0, &info) == S_OK && info != nullptr) {
      BSTR text = nullptr;
      if (SUCCEEDED(info->GetDescription(&text)) && text != nullptr) message_.assign(text, SysStringLen(text));
      SysFreeString(text);
      info->Release();
    }
  }
  hresult_error(HRESULT code, std::wstring message) : code_(code), message_(std::move(message)) {}

  HRESULT code() const noexcept { return code_; }
  const std::wstring& message() const noexcept { return message_; }

 private:
  HRESULT code_;
  std::wstring message_;
};

struct hresult_no_interface : hresult_error {
  hresult_no_interface() : hresult_error(E_NOINTERFACE, L"No such interface supported") {}
};

[[noreturn]] inline void throw_hresult(HRESULT code) { throw hresult_error(code); }
inline HRESULT check_hresult(HRESULT code) {
  if (FAILED(code)) throw_hresult(code);
  return code;
}

template <class T>
constexpr const GUID& guid_of() noexcept {
  return __uuidof(T);
}

template <class T>
struct com_ptr {
  using type = T;

  com_ptr(std::nullptr_t = nullptr) noexcept {}
  com_ptr(T* pointer, take_ownership_from_abi_t) noexcept : pointer_(pointer) {}
  com_ptr(void* pointer, take_ownership_from_abi_t) noexcept : pointer_(static_cast<T*>(pointer)) {}
  com_ptr(const com_ptr& other) noexcept : pointer_(other.pointer_) { add_ref(); }
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  com_ptr(const com_ptr<U>& other) noexcept : pointer_(other.get()) {
    add_ref();
  }
  com_ptr(com_ptr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  com_ptr(com_ptr<U>&& other) noexcept : pointer_(other.detach()) {}
  ~com_ptr() noexcept { release_ref(); }

  com_ptr& operator=(const com_ptr& other) noexcept {
    copy_from(other.pointer_);
    return *this;
  }
  template <class U>
  com_ptr& operator=(const com_ptr<U>& other) noexcept {
    copy_from(other.get());
    return *this;
  }
  com_ptr& operator=(com_ptr&& other) noexcept {
    if (this != &other) attach(other.detach());
    return *this;
  }
  template <class U>
  com_ptr& operator=(com_ptr<U>&& other) noexcept {
    attach(other.detach());
    return *this;
  }
  com_ptr& operator=(std::nullptr_t) noexcept {
    release_ref();
    return *this;
  }

  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  T* operator->() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  T* get() const noexcept { return pointer_; }

  /// An address to write a reference to. C++/WinRT asserts that the pointer is empty; here what it held is released.
  T** put() noexcept {
    release_ref();
    return &pointer_;
  }
  void** put_void() noexcept { return reinterpret_cast<void**>(put()); }

  void attach(T* value) noexcept {
    release_ref();
    pointer_ = value;
  }
  T* detach() noexcept { return std::exchange(pointer_, nullptr); }

  template <class To>
  com_ptr<To> as() const {
    com_ptr<To> result;
    check_hresult(pointer_->QueryInterface(__uuidof(To), result.put_void()));
    return result;
  }
  template <class To>
  void as(com_ptr<To>& to) const {
    to = as<To>();
  }
  template <class To>
  com_ptr<To> try_as() const noexcept {
    com_ptr<To> result;
    if (pointer_ != nullptr) pointer_->QueryInterface(__uuidof(To), result.put_void());
    return result;
  }
  template <class To>
  bool try_as(com_ptr<To>& to) const noexcept {
    to = try_as<To>();
    return static_cast<bool>(to);
  }

  void copy_from(T* other) noexcept {
    if (pointer_ == other) return;
    if (other != nullptr) other->AddRef();
    release_ref();
    pointer_ = other;
  }
  void copy_to(T** other) const noexcept {
    add_ref();
    *other = pointer_;
  }

  /// Calls a function or member that ends in (REFIID, void**) and keeps what it gives.
  template <class F, class... Args>
  bool try_capture(F function, Args&&... args) {
    return SUCCEEDED(function(std::forward<Args>(args)..., __uuidof(T), put_void()));
  }
  template <class F, class... Args>
  void capture(F function, Args&&... args) {
    check_hresult(function(std::forward<Args>(args)..., __uuidof(T), put_void()));
  }

  friend void swap(com_ptr& left, com_ptr& right) noexcept { std::swap(left.pointer_, right.pointer_); }

 private:
  void add_ref() const noexcept {
    if (pointer_ != nullptr) pointer_->AddRef();
  }
  void release_ref() noexcept {
    T* old = std::exchange(pointer_, nullptr);
    if (old != nullptr) old->Release();
  }

  T* pointer_ = nullptr;
};

template <class T, class U>
bool operator==(const com_ptr<T>& left, const com_ptr<U>& right) noexcept {
  return left.get() == right.get();
}
template <class T>
bool operator==(const com_ptr<T>& left, std::nullptr_t) noexcept {
  return left.get() == nullptr;
}
template <class T, class U>
bool operator!=(const com_ptr<T>& left, const com_ptr<U>& right) noexcept {
  return left.get() != right.get();
}
template <class T>
bool operator!=(const com_ptr<T>& left, std::nullptr_t) noexcept {
  return left.get() != nullptr;
}

/// Base of a class that implements COM interfaces; make and make_self create it.
template <class Derived, class... Interfaces>
struct implements : winml_portable::Implements<Interfaces...> {
  com_ptr<Derived> get_strong() noexcept {
    com_ptr<Derived> result;
    result.copy_from(static_cast<Derived*>(this));
    return result;
  }

 protected:
  implements() noexcept = default;
};

template <class T, class... Args>
com_ptr<T> make_self(Args&&... args) {
  return {new T(std::forward<Args>(args)...), take_ownership_from_abi};
}

namespace detail {
template <class D, class I, class... Rest>
com_ptr<I> as_first(implements<D, I, Rest...>* object) noexcept {
  return {static_cast<I*>(object), take_ownership_from_abi};
}
}  // namespace detail

/// A new object as its first interface.
template <class T, class... Args>
auto make(Args&&... args) {
  return detail::as_first(new T(std::forward<Args>(args)...));
}

}  // namespace winrt

#endif  // WINML_PORTABLE_WINRT_BASE_H_
