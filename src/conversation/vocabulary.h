// A tokenizer with what a model's files say beside it: the chat template, the texts of begin and end. Shared by the
// tokenizer objects over it; immutable, usable from several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizer/tokenizer.h"

namespace owml {

class Vocabulary {
 public:
  // A tokenizer.json, a folder that holds one, a GGUF file or the first of its shards. Throws ERROR_FILE_NOT_FOUND,
  // ERROR_INVALID_DATA or ERROR_NOT_SUPPORTED, naming file and field.
  static std::shared_ptr<const Vocabulary> Open(const std::filesystem::path& path);

  Vocabulary(std::shared_ptr<const text::Tokenizer> tokenizer, std::string chat_template);

  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  const std::shared_ptr<const text::Tokenizer>& shared_tokenizer() const { return tokenizer_; }
  const std::string& label() const { return tokenizer_->label(); }

  std::optional<uint32_t> bos() const { return tokenizer_->bos(); }
  // The declared end token first, then the end-of-turn token, then other tokens that end a generation.
  const std::vector<uint32_t>& eos() const { return tokenizer_->eos(); }

  // By the vocabulary's own spelling ("Ġthe"), else by the text that the token stands for (" the").
  std::optional<uint32_t> Find(std::string_view token) const;

  // Empty when the files carry none.
  const std::string& chat_template() const { return chat_template_; }
  // Text of the begin and end tokens for templates; empty when there is none.
  const std::string& bos_text() const { return bos_text_; }
  const std::string& eos_text() const { return eos_text_; }

 private:
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::string chat_template_;
  std::string bos_text_;
  std::string eos_text_;

  mutable std::once_flag texts_once_;
  mutable std::unordered_map<std::string, uint32_t> texts_;
};

}  // namespace owml
