// Base of every COM object: reference count, QueryInterface over a fixed list, and Make<T>().
// A class lists the interfaces it offers; which of them an instance offers is settled by its constructor.
#pragma once

#include <unknwn.h>

#include <atomic>
#include <new>
#include <type_traits>
#include <utility>

#include "com/com_ptr.h"
#include "com/live_objects.h"

namespace owml {

// The interface that a listed base stands for: itself, or Base::AbiInterface for a class that fills an interface's
// methods.
template <class Base, class = void>
struct AbiInterfaceOf {
  using type = Base;
};
template <class Base>
struct AbiInterfaceOf<Base, std::void_t<typename Base::AbiInterface>> {
  using type = typename Base::AbiInterface;
};

// Specialised for an interface that extends another one than IUnknown; an object that offers it then offers both.
template <class Interface>
struct ParentInterfaceOf {
  using type = void;
};

template <class Derived, class First, class... Others>
class Implements : private LiveObject, public First, public Others... {
 public:
  Implements(const Implements&) = delete;
  Implements& operator=(const Implements&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) noexcept override {
    if (!object) return E_POINTER;
    *object = nullptr;
    Derived* self = static_cast<Derived*>(this);
    void* found = nullptr;
    if (IsEqualGUID(iid, __uuidof(IUnknown))) {
      found = static_cast<IUnknown*>(static_cast<First*>(self));
    } else if (self->OffersInterface(iid)) {
      found = Find<First>(self, iid);
      ((found = found ? found : Find<Others>(self, iid)), ...);
    }
    if (!found) return E_NOINTERFACE;
    AddRef();
    *object = found;
    return S_OK;
  }

  ULONG STDMETHODCALLTYPE AddRef() noexcept override {
    return static_cast<ULONG>(references_.fetch_add(1, std::memory_order_relaxed) + 1);
  }

  ULONG STDMETHODCALLTYPE Release() noexcept override {
    const uint32_t left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) delete static_cast<Derived*>(this);
    return static_cast<ULONG>(left);
  }

 protected:
  Implements() = default;
  ~Implements() = default;

  // Hidden by a class whose instances differ; must answer the same for the object's whole life.
  bool OffersInterface(REFIID) const noexcept { return true; }

 private:
  template <class Base>
  static void* Find(Derived* self, REFIID iid) {
    using Interface = typename AbiInterfaceOf<Base>::type;
    using Parent = typename ParentInterfaceOf<Interface>::type;
    if (IsEqualGUID(iid, __uuidof(Interface))) return static_cast<Interface*>(static_cast<Base*>(self));
    if constexpr (!std::is_void_v<Parent>) {
      if (IsEqualGUID(iid, __uuidof(Parent))) return static_cast<Parent*>(static_cast<Base*>(self));
    }
    return nullptr;
  }

  std::atomic<uint32_t> references_{1};
};

// A new object with one reference, held by the returned pointer. T's constructor may throw.
template <class T, class... Args>
ComPtr<T> Make(Args&&... args) {
  ComPtr<T> object;
  object.Attach(new T(std::forward<Args>(args)...));
  return object;
}

}  // namespace owml
