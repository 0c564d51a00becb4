// Fuzz target: the ONNX header reader and the checks of external data, on any bytes.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"
#include "formats/external_data.h"
#include "formats/file_identity.h"
#include "formats/onnx_header.h"

namespace {

const std::string kLabel = "the input";

volatile uint64_t sink = 0;

template <typename Call>
void Tolerate(Call call) {
  try {
    call();
  } catch (const owml::Error& error) {
    if (error.what()[0] == '\0') std::abort();
  }
}

// A location that passes must not be able to leave a folder.
void UseLocation(const owml::OnnxExternalData& data) {
  Tolerate([&] {
    owml::CheckExternalLocation(data.location, "tensor", kLabel);
    const std::string slashes = "/" + std::string(data.location) + "/";
    if (data.location[0] == '/' || slashes.find("/../") != std::string::npos) std::abort();
  });
  Tolerate([&] {
    owml::CheckExternalRange(data, 4096, kLabel);
    if (data.offset > 4096 || data.length.value_or(0) > 4096 - data.offset) std::abort();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  sink = sink + static_cast<uint64_t>(owml::IdentifyFile(bytes));
  Tolerate([&] {
    const owml::OnnxHeader header = owml::ReadOnnxHeader(bytes, kLabel);
    for (const owml::OnnxValue& value : header.inputs) {
      sink = sink + value.name.size() + value.dims.size() + header.IsInitializer(value.name);
      sink = sink + owml::OnnxElementTypeName(value.element_type).size();
    }
    for (const owml::OnnxExternalData& external : header.external_data) UseLocation(external);
  });
  return 0;
}
