// Microsoft::WRL::ComPtr: an owning pointer to a COM interface.
// For programs that include <wrl/client.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_WRL_CLIENT_H_
#define WINML_PORTABLE_WRL_CLIENT_H_

#include <cstddef>
#include <type_traits>
#include <utility>

#include "../winml_portable/unknown.h"

namespace Microsoft::WRL {

template <class T>
class ComPtr;

namespace Details {

// What `&pointer` gives: good as T**, as void** and as ComPtr<T>*. Turning it into an address to write to releases the
// pointer.
template <class Pointer>
class ComPtrRef {
 public:
  using InterfaceType = typename Pointer::InterfaceType;

  explicit ComPtrRef(Pointer* pointer) noexcept : pointer_(pointer) {}

  operator void**() const noexcept { return reinterpret_cast<void**>(pointer_->ReleaseAndGetAddressOf()); }
  operator InterfaceType**() const noexcept { return pointer_->ReleaseAndGetAddressOf(); }
  operator Pointer*() const noexcept {
    *pointer_ = nullptr;
    return pointer_;
  }

  InterfaceType* operator*() const noexcept { return pointer_->Get(); }
  InterfaceType* const* GetAddressOf() const noexcept { return pointer_->GetAddressOf(); }
  InterfaceType** ReleaseAndGetAddressOf() const noexcept { return pointer_->ReleaseAndGetAddressOf(); }

 private:
  Pointer* pointer_;
};

}  // namespace Details

template <class T>
class ComPtr {
 public:
  using InterfaceType = T;

  ComPtr() noexcept = default;
  ComPtr(std::nullptr_t) noexcept {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  ComPtr(U* other) noexcept : pointer_(other) {
    AddReference();
  }
  ComPtr(const ComPtr& other) noexcept : pointer_(other.pointer_) { AddReference(); }
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  ComPtr(const ComPtr<U>& other) noexcept : pointer_(other.Get()) {
    AddReference();
  }
  ComPtr(ComPtr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  ComPtr(ComPtr<U>&& other) noexcept : pointer_(other.Detach()) {}
  ~ComPtr() { InternalRelease(); }

  ComPtr& operator=(std::nullptr_t) noexcept {
    InternalRelease();
    return *this;
  }
  ComPtr& operator=(T* other) noexcept {
    ComPtr(other).Swap(*this);
    return *this;
  }
  template <class U, class = std::enable_if_t<std::is_convertible_v<U*, T*>>>
  ComPtr& operator=(U* other) noexcept {
    ComPtr(other).Swap(*this);
    return *this;
  }
  ComPtr& operator=(const ComPtr& other) noexcept {
    ComPtr(other).Swap(*this);
    return *this;
  }
  template <class U>
  ComPtr& operator=(const ComPtr<U>& other) noexcept {
    ComPtr(other).Swap(*this);
    return *this;
  }
  ComPtr& operator=(ComPtr&& other) noexcept {
    ComPtr(std::move(other)).Swap(*this);
    return *this;
  }
  template <class U>
  ComPtr& operator=(ComPtr<U>&& other) noexcept {
    ComPtr(std::move(other)).Swap(*this);
    return *this;
  }

  void Swap(ComPtr& other) noexcept { std::swap(pointer_, other.pointer_); }
  void Swap(ComPtr&& other) noexcept { std::swap(pointer_, other.pointer_); }

  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  T* Get() const noexcept { return pointer_; }
  T* operator->() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  Details::ComPtrRef<ComPtr> operator&() noexcept { return Details::ComPtrRef<ComPtr>(this); }
  T* const* GetAddressOf() const noexcept { return &pointer_; }
  T** GetAddressOf() noexcept { return &pointer_; }
  T** ReleaseAndGetAddressOf() noexcept {
    InternalRelease();
    return &pointer_;
  }

  /// Takes a reference over from the caller.
  void Attach(T* other) noexcept {
    T* old = std::exchange(pointer_, other);
    if (old != nullptr) old->Release();
  }
  /// Gives the reference to the caller.
  T* Detach() noexcept { return std::exchange(pointer_, nullptr); }
  /// Returns the count that Release gave.
  unsigned long Reset() noexcept { return InternalRelease(); }

  HRESULT CopyTo(T** target) const noexcept {
    if (pointer_ != nullptr) pointer_->AddRef();
    *target = pointer_;
    return S_OK;
  }
  HRESULT CopyTo(REFIID riid, void** target) const noexcept { return pointer_->QueryInterface(riid, target); }
  template <class U>
  HRESULT CopyTo(U** target) const noexcept {
    return pointer_->QueryInterface(__uuidof(U), reinterpret_cast<void**>(target));
  }
  template <class U>
  HRESULT As(Details::ComPtrRef<ComPtr<U>> target) const noexcept {
    return pointer_->QueryInterface(__uuidof(U), static_cast<void**>(target));
  }
  template <class U>
  HRESULT As(ComPtr<U>* target) const noexcept {
    return pointer_->QueryInterface(__uuidof(U), reinterpret_cast<void**>(target->ReleaseAndGetAddressOf()));
  }
  HRESULT AsIID(REFIID riid, ComPtr<IUnknown>* target) const noexcept {
    return pointer_->QueryInterface(riid, reinterpret_cast<void**>(target->ReleaseAndGetAddressOf()));
  }

 private:
  void AddReference() const noexcept {
    if (pointer_ != nullptr) pointer_->AddRef();
  }
  unsigned long InternalRelease() noexcept {
    T* old = std::exchange(pointer_, nullptr);
    return old != nullptr ? old->Release() : 0;
  }

  T* pointer_ = nullptr;
};

template <class T, class U>
bool operator==(const ComPtr<T>& left, const ComPtr<U>& right) noexcept {
  return left.Get() == right.Get();
}
template <class T, class U>
bool operator!=(const ComPtr<T>& left, const ComPtr<U>& right) noexcept {
  return left.Get() != right.Get();
}
template <class T, class U>
bool operator<(const ComPtr<T>& left, const ComPtr<U>& right) noexcept {
  return left.Get() < right.Get();
}
template <class T>
bool operator==(const ComPtr<T>& left, std::nullptr_t) noexcept {
  return left.Get() == nullptr;
}
template <class T>
bool operator!=(const ComPtr<T>& left, std::nullptr_t) noexcept {
  return left.Get() != nullptr;
}
#if __cplusplus < 202002L
template <class T>
bool operator==(std::nullptr_t, const ComPtr<T>& right) noexcept {
  return right.Get() == nullptr;
}
template <class T>
bool operator!=(std::nullptr_t, const ComPtr<T>& right) noexcept {
  return right.Get() != nullptr;
}
#endif
template <class T>
void swap(ComPtr<T>& left, ComPtr<T>& right) noexcept {
  left.Swap(right);
}

}  // namespace Microsoft::WRL

template <class T>
void** IID_PPV_ARGS_Helper(::Microsoft::WRL::Details::ComPtrRef<T> object) noexcept {
  return object;
}

#endif  // WINML_PORTABLE_WRL_CLIENT_H_
