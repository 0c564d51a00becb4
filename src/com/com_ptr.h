// The one owning interface pointer of the project, and the cast-free ways to ask an object for another interface.
// Used by every skin.
#pragma once

#include <unknwn.h>
#include <wrl/client.h>

namespace owml {

using Microsoft::WRL::ComPtr;

// The interface of `object`, or null when it does not offer it (or `object` is null).
template <class Interface>
ComPtr<Interface> Query(IUnknown* object) {
  ComPtr<Interface> found;
  if (object && FAILED(object->QueryInterface(__uuidof(Interface), reinterpret_cast<void**>(found.GetAddressOf())))) {
    found.Detach();  // a failing stranger may have left rubbish behind
  }
  return found;
}

// COM identity: the IUnknown pointers are equal.
inline bool SameObject(IUnknown* a, IUnknown* b) {
  if (a == b) return true;
  if (!a || !b) return false;
  return Query<IUnknown>(a).Get() == Query<IUnknown>(b).Get();
}

// One more reference for a caller's out parameter.
template <class Interface>
Interface* AddedRef(Interface* object) {
  if (object) object->AddRef();
  return object;
}

}  // namespace owml
