// Reads texts from standard input, each behind its length in 32 bits, and writes for each one, encoded with special
// tokens and without: the ids, the decoded text with and without special tokens, and the same out of streams.
// Run by oracle_test.py.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "text/tokenizer/model_folder.h"
#include "text/tokenizer/streaming_decoder.h"

namespace {

void Write(const void* data, size_t size) { std::fwrite(data, 1, size, stdout); }

void WriteText(const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  Write(&size, sizeof(size));
  Write(text.data(), text.size());
}

std::string Streamed(const std::shared_ptr<const owml::text::Tokenizer>& tokenizer, const std::vector<uint32_t>& ids,
                     bool skip) {
  owml::text::StreamingDecoder decoder(tokenizer, skip);
  std::string text;
  for (const uint32_t id : ids) text += decoder.Step(id);
  return text + decoder.Finish();
}

}  // namespace

// tokenizer_probe FILE
int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    const auto tokenizer = owml::text::OpenTokenizer(arguments[1]).tokenizer;
    for (uint32_t size; std::fread(&size, sizeof(size), 1, stdin) == 1;) {
      std::string text(size, '\0');
      if (std::fread(text.data(), 1, size, stdin) != size) return 2;
      for (const bool special : {true, false}) {
        owml::text::EncodeOptions options;
        options.add_special_tokens = special;
        const std::vector<uint32_t> ids = tokenizer->Encode(text, options);
        const auto tokens = static_cast<uint32_t>(ids.size());
        Write(&tokens, sizeof(tokens));
        Write(ids.data(), ids.size() * sizeof(uint32_t));
        for (const bool skip : {false, true}) {
          WriteText(tokenizer->Decode(ids, skip));
          WriteText(Streamed(tokenizer, ids, skip));
        }
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
