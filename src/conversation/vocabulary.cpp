// Opening a tokenizer with its chat template, and finding tokens.
// Called by the tokenizer factory, the tokenizer objects and the formatter.
#include "conversation/vocabulary.h"

#include <utility>

#include "text/tokenizer/model_folder.h"

namespace owml {

std::shared_ptr<const Vocabulary> Vocabulary::Open(const std::filesystem::path& path) {
  text::OpenedTokenizer opened = text::OpenTokenizer(path);
  return std::make_shared<const Vocabulary>(std::move(opened.tokenizer), std::move(opened.chat_template));
}

Vocabulary::Vocabulary(std::shared_ptr<const text::Tokenizer> tokenizer, std::string chat_template)
    : tokenizer_(std::move(tokenizer)), chat_template_(std::move(chat_template)) {
  if (bos()) bos_text_ = tokenizer_->Spelling(*bos());
  if (!eos().empty()) eos_text_ = tokenizer_->Spelling(eos()[0]);
}

std::optional<uint32_t> Vocabulary::Find(std::string_view token) const {
  if (const auto id = tokenizer_->Find(token)) return id;
  std::call_once(texts_once_, [this] {
    texts_.reserve(tokenizer_->limit());
    for (uint32_t id = 0; id < tokenizer_->limit(); ++id) {
      if (tokenizer_->Has(id)) texts_.emplace(tokenizer_->Bytes(id), id);
    }
  });
  const auto found = texts_.find(std::string(token));
  return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace owml
