// Microsoft::WRL::RuntimeClass for plain COM classes, and Make.
// For programs that include <wrl/implements.h> or <wrl.h> as they would with the Windows SDK.
#ifndef WINML_PORTABLE_WRL_IMPLEMENTS_H_
#define WINML_PORTABLE_WRL_IMPLEMENTS_H_

#include <new>
#include <utility>

#include "../winml_portable/implements.h"
#include "client.h"

namespace Microsoft::WRL {

enum RuntimeClassType { WinRt = 1, ClassicCom = 2, InhibitWeakReference = 4, InhibitFtmBase = 8 };

template <unsigned Flags>
struct RuntimeClassFlags {
  static constexpr unsigned value = Flags;
};

/// For an interface that derives from others with ids of their own.
template <class Interface, class... Bases>
using ChainInterfaces = winml_portable::Chain<Interface, Bases...>;

/// Only RuntimeClass<RuntimeClassFlags<ClassicCom>, Interfaces...> exists off Windows.
template <class Flags, class... Interfaces>
class RuntimeClass : public winml_portable::Implements<Interfaces...> {
  static_assert((Flags::value & ClassicCom) != 0, "only RuntimeClassFlags<ClassicCom> exists off Windows");
};

/// A new object, or an empty pointer when there is no memory.
template <class T, class... Args>
ComPtr<T> Make(Args&&... args) {
  ComPtr<T> result;
  result.Attach(new (std::nothrow) T(std::forward<Args>(args)...));
  return result;
}

/// The same with a second step that may fail: T::RuntimeClassInitialize(args...).
template <class T, class I, class... Args>
HRESULT MakeAndInitialize(I** out, Args&&... args) {
  *out = nullptr;
  ComPtr<T> object = Make<T>();
  if (!object) return E_OUTOFMEMORY;
  const HRESULT result = object->RuntimeClassInitialize(std::forward<Args>(args)...);
  if (SUCCEEDED(result)) *out = object.Detach();
  return result;
}
template <class T, class I, class... Args>
HRESULT MakeAndInitialize(Details::ComPtrRef<ComPtr<I>> out, Args&&... args) {
  return MakeAndInitialize<T>(out.ReleaseAndGetAddressOf(), std::forward<Args>(args)...);
}

}  // namespace Microsoft::WRL

#endif  // WINML_PORTABLE_WRL_IMPLEMENTS_H_
