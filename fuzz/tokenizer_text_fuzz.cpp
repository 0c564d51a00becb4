// Fuzz target: any text on small tokenizers of each kind. The first byte picks the tokenizer.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exercise_tokenizer.h"
#include "text/tokenizer/tokenizer_json.h"
#include "tokenizer_samples.h"

namespace {

using Shared = std::shared_ptr<const owml::text::Tokenizer>;

const std::vector<Shared>& Samples() {
  static const std::vector<Shared> samples = [] {
    std::vector<Shared> opened;
    for (const std::string& json : owml::fuzz::SampleTokenizerFiles()) {
      const std::string label = "sample " + std::to_string(opened.size());
      opened.push_back(std::make_shared<const owml::text::Tokenizer>(owml::text::ReadTokenizerJson(json, label)));
    }
    return opened;
  }();
  return samples;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Shared& tokenizer = Samples()[data[0] % Samples().size()];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string text = owml::text::Repaired(bytes);
  owml::fuzz::Require(tokenizer->Encode(bytes, {}) == tokenizer->Encode(text, {}));
  owml::fuzz::ExerciseText(tokenizer, text);
  owml::fuzz::ExerciseIds(tokenizer, bytes);
  return 0;
}
