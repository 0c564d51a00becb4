// The list of backends.
// Adding one is a line here.
#include "exports/backends.h"

#include "backend/llama/llama_backend.h"
#include "backend/native/native_backend.h"
#include "backend/ort/ort_backend.h"

namespace owml {

std::vector<std::shared_ptr<const Backend>> BuiltBackends() {
  return {MakeOrtBackend(), MakeLlamaBackend(), MakeNativeBackend()};
}

}  // namespace owml
