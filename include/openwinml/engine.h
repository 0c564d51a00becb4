// Which engine runs a GGUF model, before it is built.
// For tools; exported by libwinml_runtime, usable from C and C++. A stage tells what runs it through IOwmlStageOptions.
#ifndef OPENWINML_ENGINE_H_
#define OPENWINML_ENGINE_H_

#include <oleauto.h>

#include "platform.h"
#include "stage_options.h"

/// The engine that a stage on the CPU without wishes of its own gets for the GGUF model at `path`, by OWML_ENGINE and
/// by what the engines know; and why, a clause in `reason` for SysFreeString. Reads no weights.
///
/// E_POINTER; HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) where no engine takes the model, or it is none of GGUF; else what
/// IWinMLRuntime::LoadModelFromFile answers.
OWML_API HRESULT OwmlFindEngine(LPCWSTR path, OWML_ENGINE* engine, BSTR* reason) WINML_NOEXCEPT;

#endif  // OPENWINML_ENGINE_H_
