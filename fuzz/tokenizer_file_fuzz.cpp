// Fuzz target: any bytes as tokenizer.json; what opens must encode and decode.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "exercise_tokenizer.h"
#include "text/tokenizer/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string label = "the input";
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  try {
    const auto tokenizer = std::make_shared<const owml::text::Tokenizer>(owml::text::ReadTokenizerJson(json, label));
    for (const std::string_view text :
         {"", "a", " Hello  wörld!\n\t's 1234 <|end|> word\u0301 \u4e2d\u2029ab", "<s>aaaa▁ab▁"}) {
      owml::fuzz::ExerciseText(tokenizer, text);
    }
    owml::fuzz::ExerciseIds(tokenizer, json);
  } catch (const owml::Error& error) {
    owml::fuzz::Require(error.what()[0] != '\0');
  }
  return 0;
}
