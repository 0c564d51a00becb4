// Fuzz target: the GGUF reader, its typed access, and the checks ahead of llama.cpp, on any bytes.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"
#include "formats/file_identity.h"
#include "formats/gguf.h"
#include "formats/gguf_llama_check.h"
#include "formats/gguf_shards.h"

namespace {

const std::string kLabel = "the input";

// Keeps reads from being optimised away.
volatile uint64_t sink = 0;

void Require(bool condition) {
  if (!condition) std::abort();
}

void Touch(std::span<const std::byte> part, std::span<const std::byte> whole) {
  if (part.empty()) return;
  Require(part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
  sink = sink + std::to_integer<uint64_t>(part.front()) + std::to_integer<uint64_t>(part.back());
}

void UseMetadata(const owml::GgufFile& file) {
  for (const owml::GgufEntry& entry : file.metadata().entries()) {
    const owml::GgufValue& value = entry.value;
    Require(file.metadata().Find(entry.key) == &value);
    sink = sink + value.TypeName().size() + value.AsUnsigned().value_or(0) +
           static_cast<uint64_t>(value.AsSigned().value_or(0));
    sink = sink + value.AsBool().value_or(false) + (value.AsFloat().value_or(0) > 0) +
           value.AsString().value_or("").size();
    if (const auto strings = value.AsStrings()) {
      uint64_t count = 0;
      for (const std::string_view text : *strings) {
        Touch(std::as_bytes(std::span(text.data(), text.size())), value.payload);
        ++count;
      }
      Require(count == value.count);
    } else if (value.is_array()) {
      for (uint64_t i = 0; i < value.count; ++i) sink = sink + value.Element(i).AsUnsigned().value_or(0);
    }
  }
}

template <typename Call>
void Tolerate(Call call) {
  try {
    call();
  } catch (const owml::Error& error) {
    Require(error.what()[0] != '\0');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  sink = sink + static_cast<uint64_t>(owml::IdentifyFile(bytes));
  Tolerate([&] {
    const owml::GgufFile file = owml::GgufFile::Parse(bytes, kLabel);
    UseMetadata(file);
    for (const owml::GgufTensor& tensor : file.tensors()) {
      Require(file.FindTensor(tensor.name) == &tensor);
      Touch(tensor.data, bytes);
    }
    Tolerate([&] { owml::GgufShardPaths("folder/m-00001-of-00003.gguf", file); });
    Tolerate([&] { owml::CheckModelForLlama({&file, 1}); });
  });
  return 0;
}
