// Ends by key, then by the texts that model families use for them.
// Called by the reader of GGUF tokenizers.
#include "text/tokenizer/gguf_end_tokens.h"

#include <algorithm>
#include <set>

namespace owml::text {
namespace {

// Texts of tokens that end a generation, in files that do not say so.
constexpr std::string_view kTurnEnds[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>",         "<|endoftext|>",      "<|end_of_text|>",
    "<EOT>",      "_<EOT>",     "[EOT]",   "<｜end▁of▁sentence｜>", "<end_of_utterance>",
};
constexpr std::string_view kOtherEnds[] = {
    "<|return|>", "<|call|>", "<|flush|>", "<|calls|>",        "</s>", "<|eom_id|>",
    "[EOS]",      "<eos>",    "<turn|>",   "<|tool_response>", "[e~[",
};
// Marked as control tokens in files of gpt-oss, whose text a reader must see.
constexpr std::string_view kShownTokens[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

}  // namespace

std::vector<uint32_t> FindGgufEnds(const GgufMetadata& metadata, GgufVocabulary* vocabulary) {
  using Type = GgufVocabulary::Type;
  const auto find = [&](std::string_view text) { return vocabulary->Find(text); };
  const auto special = [&](const char* name) { return GgufSpecialId(metadata, name, vocabulary->tokens.size()); };
  std::vector<uint32_t> ends;
  const auto add = [&](std::optional<uint32_t> id) {
    if (id && std::find(ends.begin(), ends.end(), *id) == ends.end()) ends.push_back(*id);
  };
  std::set<uint32_t> others;
  for (const std::string_view text : kTurnEnds) {
    if (const auto id = find(text)) others.insert(*id);
  }
  for (const std::string_view text : kOtherEnds) {
    if (const auto id = find(text)) others.insert(*id);
  }
  // In the harmony format a message ends with <|end|> and a turn does not.
  const bool calls = find("<|call|>") || find("<|calls|>");
  const bool harmony = calls && (find("<|return|>") || find("<|flush|>"));
  if (const auto id = find("<|end|>"); id && harmony) {
    others.erase(*id);
    vocabulary->types[*id] = Type::kUserDefined;
  }
  // Where </s> is a word like others.
  if (const auto id = find("</s>"); id && (find("<|tool_response>") || find("<|plamo:eos|>"))) {
    others.erase(*id);
    vocabulary->types[*id] = Type::kNormal;
  }
  add(vocabulary->eos);
  add(special("eot"));
  for (const std::string_view text : kTurnEnds) {
    const auto id = find(text);
    if (id && others.contains(*id) && !special("eot")) {
      add(id);
      break;
    }
  }
  add(special("eom"));
  for (const uint32_t id : others) add(id);
  for (const char* name : {"fim_pad", "fim_rep", "fim_sep"}) add(special(name));
  for (const uint32_t id : ends) {
    Type& type = vocabulary->types[id];
    if (type == Type::kNormal || type == Type::kUserDefined) type = Type::kControl;
  }
  for (const std::string_view text : kShownTokens) {
    if (const auto id = find(text)) vocabulary->types[*id] = Type::kUserDefined;
  }
  return ends;
}

}  // namespace owml::text
