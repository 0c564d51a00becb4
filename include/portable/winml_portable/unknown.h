// IUnknown for C and C++, __uuidof, and the way a type gets its id.
// Reached through unknwn.h; everything that is a COM interface stands on it.
#ifndef WINML_PORTABLE_UNKNOWN_H_
#define WINML_PORTABLE_UNKNOWN_H_

#include "errors.h"
#include "types.h"

typedef struct IUnknown IUnknown;
typedef IUnknown* LPUNKNOWN;

#ifdef __cplusplus
namespace winml_portable {

// Specialised by __CRT_UUID_DECL; a type without an id does not compile in __uuidof.
template <class T>
struct Uuid;

template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<T&> : Bare<T> {};
template <class T>
struct Bare<T&&> : Bare<T> {};
template <class T>
struct Bare<T*> : Bare<T> {};
template <class T>
struct Bare<T* const> : Bare<T> {};
template <class T>
struct Bare<const T> : Bare<T> {};
template <class T>
struct Bare<volatile T> : Bare<T> {};

}  // namespace winml_portable

// Takes a type, a pointer to it, or an expression of either, as the keyword does.
#define __uuidof(type_or_expression) \
  (::winml_portable::Uuid<typename ::winml_portable::Bare<__typeof__(type_or_expression)>::Type>::kValue)
#define __CRT_UUID_DECL(type, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)          \
  template <>                                                                     \
  struct winml_portable::Uuid<type> {                                             \
    static constexpr GUID kValue = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}; \
  };
#endif

#define MIDL_INTERFACE(uuid) struct

#if defined(__cplusplus) && !defined(CINTERFACE)
MIDL_INTERFACE("00000000-0000-0000-c000-000000000046")
IUnknown {
 public:
  virtual HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppvObject) = 0;
  virtual ULONG STDMETHODCALLTYPE AddRef() = 0;
  virtual ULONG STDMETHODCALLTYPE Release() = 0;

  template <class Interface>
  HRESULT QueryInterface(Interface * *object) {
    return QueryInterface(__uuidof(Interface), reinterpret_cast<void**>(object));
  }

 protected:
  ~IUnknown() = default;  // Released, never deleted, through the interface
};
__CRT_UUID_DECL(IUnknown, 0x00000000, 0x0000, 0x0000, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46)
#else
typedef struct IUnknownVtbl {
  HRESULT(STDMETHODCALLTYPE* QueryInterface)(IUnknown* This, REFIID riid, void** ppvObject);
  ULONG(STDMETHODCALLTYPE* AddRef)(IUnknown* This);
  ULONG(STDMETHODCALLTYPE* Release)(IUnknown* This);
} IUnknownVtbl;
struct IUnknown {
  const struct IUnknownVtbl* lpVtbl;
};
#ifdef COBJMACROS
#define IUnknown_QueryInterface(This, riid, ppvObject) ((This)->lpVtbl->QueryInterface(This, riid, ppvObject))
#define IUnknown_AddRef(This) ((This)->lpVtbl->AddRef(This))
#define IUnknown_Release(This) ((This)->lpVtbl->Release(This))
#endif
#endif
WINML_PORTABLE_IID(IID_IUnknown, 0x00000000, 0x0000, 0x0000, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x46)
WINML_PORTABLE_IID(GUID_NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#if defined(__cplusplus) && !defined(CINTERFACE)
// The id and the address for a call that ends in (REFIID, void**). Smart pointers add overloads for their own address
// types.
template <class Interface>
void** IID_PPV_ARGS_Helper(Interface** object) noexcept {
  static_cast<void>(static_cast<IUnknown*>(*object));  // only interfaces
  return reinterpret_cast<void**>(object);
}
#define IID_PPV_ARGS(object) __uuidof(**(object)), IID_PPV_ARGS_Helper(object)
#endif

#endif  // WINML_PORTABLE_UNKNOWN_H_
