// What a file or buffer really is, told by its first bytes whatever its name says.
// Called by the backend registry, the tokenizer loader and `owml inspect` to choose a reader and to word refusals.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace owml {

enum class FileIdentity {
  kUnknown,
  kEmpty,
  kGguf,
  kOrtFlatbuffer,
  kOnnx,
  kGitLfsPointer,
  kHtml,
  kSafetensors,
  kPyTorchZip,
  kPickle,
  kOldGgml,
  kTfLite,
  kNumpy,
  kHdf5,
  kZip,
  kGzip,
  kOtherArchive,
  kExecutable,
  kPdf,
  kImage,
  kJson,
  kText,
};

// As many bytes from the start as IdentifyFile looks at.
inline constexpr size_t kIdentityBytes = 4096;

// `start` is the first kIdentityBytes of the file, or all of it when shorter.
FileIdentity IdentifyFile(std::span<const std::byte> start);

// For a sentence that begins "<file> is": "a Git LFS pointer, not the model itself: run `git lfs pull`", "an HTML page,
// ...".
std::string Describe(FileIdentity identity);

}  // namespace owml
