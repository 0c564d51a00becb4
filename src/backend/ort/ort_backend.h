// ONNX Runtime as a backend: models in ONNX and in ONNX Runtime's own format.
// Registered in src/exports/; nothing else outside this folder includes it.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace owml {

// Needs no library yet; the first Load looks for it. A build without ONNX Runtime gives a backend whose Load answers
// ERROR_NOT_SUPPORTED.
std::shared_ptr<const Backend> MakeOrtBackend();

}  // namespace owml
