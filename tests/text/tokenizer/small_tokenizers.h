// Tokenizer files of a few tokens.
// Used by the tests of the tokenizer core.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/tokenizer_json.h"

namespace owml::text {

// A BPE file over the given vocabulary and merges (JSON); `rest` are more members, each with a comma behind.
inline std::string BpeJson(const std::string& vocab, const std::string& merges, const std::string& rest = "",
                           const std::string& options = "") {
  return "{\"version\": \"1.0\", " + rest + " \"model\": {\"type\": \"BPE\", " + options + " \"vocab\": " + vocab +
         ", \"merges\": " + merges + "}}";
}

inline std::shared_ptr<const Tokenizer> FromJson(std::string_view json) {
  return std::make_shared<const Tokenizer>(ReadTokenizerJson(json, "tokenizer.json"));
}

// Every byte, and "a" doubled up to 2^10 letters, spaces likewise.
inline std::string ByteLevelJson(const std::string& rest = "") {
  std::string vocab = "{";
  for (int byte = 0; byte < 256; ++byte) {
    const std::string spelled = ToByteAlphabet(std::string(1, static_cast<char>(byte)));
    const bool escaped = spelled == "\"" || spelled == "\\";
    vocab += (byte ? ", \"" : "\"") + (escaped ? "\\" + spelled : spelled) + "\": " + std::to_string(byte);
  }
  std::string merges = "[";
  int next = 256;
  for (const std::string unit : {"a", "\u0120"}) {
    std::string token = unit;
    for (int i = 0; i < 10; ++i) {
      merges += (next == 256 ? "\"" : ", \"") + token + " " + token + "\"";
      token += token;
      vocab += ", \"" + token + "\": " + std::to_string(next++);
    }
  }
  return BpeJson(vocab + "}", merges + "]",
                 rest +
                     "\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}, "
                     "\"decoder\": {\"type\": \"ByteLevel\"},");
}

using Ids = std::vector<uint32_t>;

}  // namespace owml::text
