// The list of backends; of those that take the same files the first is preferred.
// Adding one is a line here.
#include "exports/backends.h"

#include "backend/llama/llama_backend.h"
#include "backend/native/native_backend.h"
#include "backend/ort/ort_backend.h"

namespace owml {

std::vector<std::shared_ptr<const Backend>> BuiltBackends() {
  return {MakeOrtBackend(), MakeNativeBackend(), MakeLlamaBackend()};
}

std::shared_ptr<const Registry> ProcessRegistry() {
  static const auto registry = std::make_shared<const Registry>(BuiltBackends());
  return registry;
}

}  // namespace owml
