// Basic types, GUID and calling-convention macros of the Windows SDK, for platforms without it.
// Reached through unknwn.h, windows.h and the other thin headers of this folder.
#ifndef WINML_PORTABLE_TYPES_H_
#define WINML_PORTABLE_TYPES_H_

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#ifdef __cplusplus
#define EXTERN_C extern "C"
#define EXTERN_C_START extern "C" {
#define EXTERN_C_END }
#else
#define EXTERN_C extern
#define EXTERN_C_START
#define EXTERN_C_END
#endif

#define STDMETHODCALLTYPE
#define STDMETHODVCALLTYPE
#define STDAPICALLTYPE
#define WINAPI
#define CALLBACK
#define STDAPI EXTERN_C __attribute__((visibility("default"))) HRESULT STDAPICALLTYPE
#define STDAPI_(type) EXTERN_C __attribute__((visibility("default"))) type STDAPICALLTYPE
#define STDMETHODIMP HRESULT STDMETHODCALLTYPE
#define STDMETHODIMP_(type) type STDMETHODCALLTYPE
#define IFACEMETHODIMP STDMETHODIMP
#define IFACEMETHODIMP_(type) STDMETHODIMP_(type)
#define DECLSPEC_UUID(text)
#define DECLSPEC_NOVTABLE
#ifdef __cplusplus
#define STDMETHOD(method) virtual HRESULT STDMETHODCALLTYPE method
#define STDMETHOD_(type, method) virtual type STDMETHODCALLTYPE method
#define IFACEMETHOD(method) STDMETHOD(method)
#define IFACEMETHOD_(type, method) STDMETHOD_(type, method)
#define PURE = 0
#endif

typedef void* PVOID;
typedef void* LPVOID;
typedef const void* LPCVOID;
typedef void* HANDLE;
typedef void* HMODULE;
typedef uint8_t BYTE;
typedef uint8_t UCHAR;
typedef int8_t INT8;
typedef uint8_t UINT8;
typedef int16_t SHORT;
typedef int16_t INT16;
typedef uint16_t USHORT;
typedef uint16_t WORD;
typedef uint16_t UINT16;
typedef int INT;
typedef unsigned int UINT;
typedef int32_t INT32;
typedef uint32_t UINT32;
typedef int32_t LONG;
typedef uint32_t ULONG;
typedef uint32_t DWORD;
typedef int64_t INT64;
typedef uint64_t UINT64;
typedef int64_t LONGLONG;
typedef uint64_t ULONGLONG;
typedef uint64_t DWORD64;
typedef intptr_t INT_PTR;
typedef uintptr_t UINT_PTR;
typedef intptr_t LONG_PTR;
typedef uintptr_t ULONG_PTR;
typedef size_t SIZE_T;
typedef int BOOL;
typedef BYTE BOOLEAN;
typedef float FLOAT;
typedef double DOUBLE;
typedef char CHAR;
typedef CHAR* LPSTR;
typedef CHAR* PSTR;
typedef const CHAR* LPCSTR;
typedef const CHAR* PCSTR;
typedef wchar_t WCHAR;
typedef WCHAR* LPWSTR;
typedef WCHAR* PWSTR;
typedef const WCHAR* LPCWSTR;
typedef const WCHAR* PCWSTR;
typedef WCHAR OLECHAR;
typedef OLECHAR* LPOLESTR;
typedef const OLECHAR* LPCOLESTR;
typedef OLECHAR* BSTR;
typedef BYTE* PBYTE;
typedef BYTE* LPBYTE;
typedef UINT32* PUINT32;
typedef DWORD* LPDWORD;
typedef int32_t HRESULT;
typedef LONG SCODE;

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef INFINITE
#define INFINITE 0xFFFFFFFFu
#endif

typedef struct _GUID {
  uint32_t Data1;
  uint16_t Data2;
  uint16_t Data3;
  uint8_t Data4[8];
} GUID;
typedef GUID IID;
typedef GUID CLSID;
#ifdef __cplusplus
#define REFGUID const GUID&
#define REFIID const IID&
#define REFCLSID const CLSID&
#else
#define REFGUID const GUID*
#define REFIID const IID*
#define REFCLSID const CLSID*
#endif

#ifdef __cplusplus
constexpr bool operator==(const GUID& left, const GUID& right) noexcept {
  if (left.Data1 != right.Data1 || left.Data2 != right.Data2 || left.Data3 != right.Data3) return false;
  for (int i = 0; i < 8; ++i) {
    if (left.Data4[i] != right.Data4[i]) return false;
  }
  return true;
}
constexpr bool operator!=(const GUID& left, const GUID& right) noexcept { return !(left == right); }
constexpr int InlineIsEqualGUID(REFGUID left, REFGUID right) noexcept { return left == right; }
constexpr int IsEqualGUID(REFGUID left, REFGUID right) noexcept { return left == right; }
constexpr int IsEqualIID(REFIID left, REFIID right) noexcept { return left == right; }
constexpr int IsEqualCLSID(REFCLSID left, REFCLSID right) noexcept { return left == right; }
#else
#include <string.h>
#define IsEqualGUID(left, right) (!memcmp((left), (right), sizeof(GUID)))
#define IsEqualIID(left, right) IsEqualGUID(left, right)
#define IsEqualCLSID(left, right) IsEqualGUID(left, right)
#endif

// Weak and hidden: every object file brings its own, the linker keeps one, and no library has to be linked for it.
// Constants of C and C++ files of one program have the same linker name.
#define WINML_PORTABLE_IID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
  EXTERN_C_START                                                            \
  extern __attribute__((weak, visibility("hidden"))) const IID name;        \
  const IID name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}};           \
  EXTERN_C_END
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
  WINML_PORTABLE_IID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)

// Operators of an enum whose values are bits; nothing in C, where enums are integers anyway.
#ifdef __cplusplus
#define DEFINE_ENUM_FLAG_OPERATORS(E)                                                                            \
  constexpr E operator|(E a, E b) noexcept { return static_cast<E>(static_cast<int>(a) | static_cast<int>(b)); } \
  constexpr E operator&(E a, E b) noexcept { return static_cast<E>(static_cast<int>(a) & static_cast<int>(b)); } \
  constexpr E operator^(E a, E b) noexcept { return static_cast<E>(static_cast<int>(a) ^ static_cast<int>(b)); } \
  constexpr E operator~(E a) noexcept { return static_cast<E>(~static_cast<int>(a)); }                           \
  constexpr E& operator|=(E& a, E b) noexcept { return a = a | b; }                                              \
  constexpr E& operator&=(E& a, E b) noexcept { return a = a & b; }                                              \
  constexpr E& operator^=(E& a, E b) noexcept { return a = a ^ b; }
#else
#define DEFINE_ENUM_FLAG_OPERATORS(E)
#endif

#ifndef UNREFERENCED_PARAMETER
#define UNREFERENCED_PARAMETER(p) ((void)(p))
#endif
#ifndef ARRAYSIZE
#define ARRAYSIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

#endif  // WINML_PORTABLE_TYPES_H_
