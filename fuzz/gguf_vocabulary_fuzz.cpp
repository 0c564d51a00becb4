// Fuzz target: the vocabulary in the metadata of a GGUF file; what opens must encode and decode.
// Run by libFuzzer, and by the replay program on the corpus.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "exercise_tokenizer.h"
#include "formats/gguf.h"
#include "text/tokenizer/tokenizer_gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string label = "the input";
  try {
    const owml::GgufFile file = owml::GgufFile::Parse(std::as_bytes(std::span(data, size)), label);
    const auto tokenizer = std::make_shared<const owml::text::Tokenizer>(owml::text::ReadTokenizerGguf(file));
    for (const std::string_view text :
         {"", "a", " Hello  wörld!\n\t's 1234 <|end|> word\u0301 \u4e2d\u2029ab", "<s>aaaa▁ab▁"}) {
      owml::fuzz::ExerciseText(tokenizer, text);
    }
    owml::fuzz::ExerciseIds(tokenizer, {reinterpret_cast<const char*>(data), size});
  } catch (const owml::Error& error) {
    owml::fuzz::Require(error.what()[0] != '\0');
  }
  return 0;
}
