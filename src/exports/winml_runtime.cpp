// WinMLCreateRuntime, and the one list of backends.
// The root of libwinml_runtime.so.
#include <WinMLRuntime.h>

#include <memory>
#include <vector>

#include "backend/registry.h"
#include "com/guard.h"
#include "exports/backends.h"
#include "runtime/runtime.h"

namespace owml {
namespace {

// Shared by all Runtime objects of the process; backends find their libraries when they are first needed.
std::shared_ptr<const Registry> ProcessRegistry() {
  static const auto registry = std::make_shared<const Registry>(BuiltBackends());
  return registry;
}

}  // namespace
}  // namespace owml

HRESULT STDMETHODCALLTYPE WinMLCreateRuntime(REFIID riid, void** runtime) noexcept {
  return owml::Guard("WinMLCreateRuntime", [&]() -> HRESULT {
    owml::RequireOut(runtime, "runtime");
    const HRESULT result = owml::MakeRuntime(owml::ProcessRegistry())->QueryInterface(riid, runtime);
    owml::Require(SUCCEEDED(result), result, "a runtime does not offer the interface that was asked for");
    return result;
  });
}
