// OwmlFindEngine.
// Part of libwinml_runtime.so.
#include <openwinml/engine.h>

#include <filesystem>

#include "backend/engine_choice.h"
#include "backend/registry.h"
#include "com/guard.h"
#include "com/wide.h"
#include "exports/backends.h"

HRESULT OwmlFindEngine(LPCWSTR path, OWML_ENGINE* engine, BSTR* reason) noexcept {
  return owml::Guard("OwmlFindEngine", [&] {
    owml::RequireOut(engine, "engine");
    owml::RequireOut(reason, "reason");
    owml::RequirePointer(path, "path");
    owml::ModelSource source;
    source.path = std::filesystem::path(owml::ToUtf8(path));
    const auto model = owml::ProcessRegistry()->LoadFile(source);
    const auto* choice = dynamic_cast<const owml::EngineChoice*>(model.get());
    if (!choice) {
      throw owml::Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), source.label() + " is no GGUF model");
    }
    *reason = SysAllocString(owml::ToWide(choice->reason()).c_str());
    owml::Require(*reason != nullptr, E_OUTOFMEMORY, "there is no memory for the reason");
    *engine = static_cast<OWML_ENGINE>(choice->engine());
  });
}
