// ONNX Runtime itself: finds the shared library, loads it for the life of the process, makes the process's one OrtEnv.
// Used by everything in this folder; the only file that knows where the library may lie.
#pragma once

#include <onnxruntime_c_api.h>

#include <string>
#include <vector>

namespace owml {

// Where the library is looked for, in this order:
//   1. OWML_ONNXRUNTIME: a file. Nothing else is tried when it is set.
//   2. ONNXRUNTIME_ROOT: a folder of an ONNX Runtime package; its lib/, lib64/, capi/ or itself. Nothing else is tried.
//   3. A library that the process has loaded already, for example by the Python package.
//   4. The system's loader path.
//   5. Beside our own library, in openwinml/ there (an installation's own), or in lib/ or lib64/ next to its folder.
// In 3 to 5 a file that is no usable ONNX Runtime is passed over with a warning in the log.
struct OrtLibrary {
  const OrtApi* api = nullptr;
  OrtEnv* environment = nullptr;  // one a process; never released, because sessions of other users may share it
  std::string version;            // "1.32.0"
  std::string path;
};

// Loads on the first call. Throws ERROR_NOT_SUPPORTED with a sentence that lists what was tried; a later call tries
// again.
const OrtLibrary& LoadedOrtLibrary();

// The API table. Only after LoadedOrtLibrary() has succeeded once in this process.
const OrtApi& Ort() noexcept;

// Minor number of "1.<minor>.<patch>", -1 for another text. ONNX Runtime raises its API level with each minor version.
int OrtMinorVersion(const std::string& version);

// The files that the folder `root` of a package may hold the library under, existing ones only, best first.
std::vector<std::string> OrtLibrariesUnder(const std::string& root);

}  // namespace owml
