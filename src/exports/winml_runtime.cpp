// WinMLCreateRuntime.
// The root of libwinml_runtime.so.
#include <WinMLRuntime.h>

#include "com/guard.h"
#include "exports/backends.h"
#include "runtime/runtime.h"

HRESULT STDMETHODCALLTYPE WinMLCreateRuntime(REFIID riid, void** runtime) noexcept {
  return owml::Guard("WinMLCreateRuntime", [&]() -> HRESULT {
    owml::RequireOut(runtime, "runtime");
    const HRESULT result = owml::MakeRuntime(owml::ProcessRegistry())->QueryInterface(riid, runtime);
    owml::Require(SUCCEEDED(result), result, "a runtime does not offer the interface that was asked for");
    return result;
  });
}
