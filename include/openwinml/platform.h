// What every public header stands on: the Windows SDK on Windows, include/portable/ elsewhere, and the few macros of
// our own. Included first by all generated headers; applications need not include it.
#ifndef OPENWINML_PLATFORM_H_
#define OPENWINML_PLATFORM_H_

#if defined(_WIN32)
#include <unknwn.h>
#include <windows.h>
#else
#include <unknwn.h>  // include/portable/
#endif

// WINML_API: a function that the shared libraries export. Define OWML_BUILD while building them.
#if defined(_WIN32)
#if defined(OWML_BUILD)
#define WINML_API EXTERN_C __declspec(dllexport)
#else
#define WINML_API EXTERN_C __declspec(dllimport)
#endif
#else
#define WINML_API EXTERN_C __attribute__((visibility("default")))
#endif
#define OWML_API WINML_API

// Exports never throw. Enums have 32 bits, so that any number may cross the interface.
#if defined(__cplusplus)
#define WINML_NOEXCEPT noexcept
#define WINML_ENUM_BASE : int
#else
#define WINML_NOEXCEPT
#define WINML_ENUM_BASE
#endif

// An interface id with a definition in every object file that includes the header, so that nothing has to be linked for
// it.
#if defined(_WIN32)
#define WINML_DEFINE_IID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
  EXTERN_C const IID __declspec(selectany) name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}};
#else
#define WINML_DEFINE_IID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8) \
  WINML_PORTABLE_IID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)
#endif

#endif  // OPENWINML_PLATFORM_H_
