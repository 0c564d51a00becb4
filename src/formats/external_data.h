// Where the external data of an ONNX model may lie: inside the model's folder, or, for a model that is itself a link
// into a download cache, in the folder of the link's target. Everything else is refused. Called by backend/ort before
// ONNX Runtime opens such files, and by `owml inspect`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/onnx_header.h"

namespace owml {

struct ExternalFile {
  std::filesystem::path path;  // canonical: no links, no dots
  uint64_t size = 0;
};

// Throws ERROR_INVALID_DATA for a location that no file name inside a folder can be: empty, absolute, with a `..`
// component, with a zero byte or a backslash, or the marker by which ONNX Runtime means an address in memory. `what`
// names the tensor.
void CheckExternalLocation(std::string_view location, const std::string& what, const std::string& label);

class ExternalDataFolder {
 public:
  // `model` must exist; errors of the file system otherwise.
  explicit ExternalDataFolder(const std::filesystem::path& model);

  // The file that `location` stands for. ERROR_INVALID_DATA when it leaves the allowed folders, ERROR_FILE_NOT_FOUND
  // when it is not there, E_INVALIDARG for a folder. `what` names the tensor.
  ExternalFile Resolve(std::string_view location, const std::string& what) const;

  // Resolves every reference of `header` and checks offset and length against the files' sizes.
  void Check(const OnnxHeader& header) const;

 private:
  std::filesystem::path model_;
  std::filesystem::path folder_;            // as given
  std::filesystem::path canonical_folder_;  // of the model's entry
  std::filesystem::path store_;  // folder of the model file's canonical target; equals canonical_folder_ without links
  std::string label_;
};

// Throws ERROR_INVALID_DATA when the bytes that `data` names are not all inside a file or buffer of `size` bytes.
void CheckExternalRange(const OnnxExternalData& data, uint64_t size, const std::string& label);

}  // namespace owml
