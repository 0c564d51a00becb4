// Reads texts from standard input, each behind its length in 32 bits, and writes for each one: the ids, the decoded
// text with and without special tokens, and the same out of streams. Timing goes to standard error. Run by
// oracle_test.py and by hand.
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/model_folder.h"
#include "text/tokenizer/streaming_decoder.h"

namespace {

double ProcessorSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

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

// tokenizer_probe FILE special|plain|time
int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string_view mode = arguments[2];
  try {
    const double start = ProcessorSeconds();
    const auto tokenizer = owml::text::OpenTokenizer(arguments[1]).tokenizer;
    const double loaded = ProcessorSeconds();
    double seconds = 0;
    size_t bytes = 0;
    owml::text::EncodeOptions options;
    options.add_special_tokens = mode == "special";
    for (uint32_t size; std::fread(&size, sizeof(size), 1, stdin) == 1;) {
      std::string text(size, '\0');
      if (std::fread(text.data(), 1, size, stdin) != size) return 2;
      const double before = ProcessorSeconds();
      const std::vector<uint32_t> ids = tokenizer->Encode(text, options);
      seconds += ProcessorSeconds() - before;
      bytes += size;
      if (mode == "time") continue;
      const auto tokens = static_cast<uint32_t>(ids.size());
      Write(&tokens, sizeof(tokens));
      Write(ids.data(), ids.size() * sizeof(uint32_t));
      for (const bool skip : {false, true}) {
        WriteText(tokenizer->Decode(ids, skip));
        WriteText(Streamed(tokenizer, ids, skip));
      }
    }
    std::fprintf(stderr, "load %.3f s, %zu bytes, %.2f MB/s\n", loaded - start, bytes,
                 static_cast<double>(bytes) / seconds / 1e6);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
