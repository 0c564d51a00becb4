// A merge for each way to cut a token in two; equal scores have equal ranks.
// Called by the reader of GGUF tokenizers.
#include "text/tokenizer/sentencepiece_merges.h"

#include <algorithm>
#include <functional>
#include <map>

#include "formats/bad_data.h"
#include "text/unicode/utf8.h"

namespace owml::text {

SentencePieceMerges MakeSentencePieceMerges(const GgufVocabulary& vocabulary, const TokenTable& table,
                                            const std::string& label) {
  constexpr size_t kLongestToken = 1024;
  SentencePieceMerges result;
  std::vector<double> order;
  for (uint32_t id = 0; id < vocabulary.tokens.size(); ++id) {
    if (vocabulary.MayComeFromText(id)) order.push_back(vocabulary.scores[id]);
  }
  std::sort(order.begin(), order.end(), std::greater<>());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  std::map<std::string_view, uint32_t> parts;
  const auto symbol = [&](std::string_view text) -> uint32_t {
    const uint32_t token = table.Find(text);
    if (token != kNoToken && vocabulary.MayComeFromText(token)) return token;
    if (token != kNoToken || DecodeCharacter(text, 0).length != text.size()) return kNoToken;
    const auto [found, added] =
        parts.try_emplace(text, static_cast<uint32_t>(table.limit() + result.part_texts.size()));
    if (added) result.part_texts.emplace_back(text);
    return found->second;
  };
  for (uint32_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string_view text = vocabulary.tokens[id];
    if (!vocabulary.MayComeFromText(id) || text.empty()) continue;
    if (text.size() > kLongestToken)
      ThrowBadData(label, "token " + std::to_string(id) + " has " + std::to_string(text.size()) + " bytes");
    const auto rank = static_cast<uint32_t>(
        std::lower_bound(order.begin(), order.end(), vocabulary.scores[id], std::greater<>()) - order.begin());
    for (size_t at = DecodeCharacter(text, 0).length; at < text.size(); at += DecodeCharacter(text, at).length) {
      const uint32_t left = symbol(text.substr(0, at));
      if (left == kNoToken) continue;
      const uint32_t right = symbol(text.substr(at));
      if (right != kNoToken) result.merges.push_back({left, right, id, rank});
    }
  }
  return result;
}

}  // namespace owml::text
