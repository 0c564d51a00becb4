// The vocabulary of a GGUF: text to token ids and back, the special tokens, the chat template. Stands on llama.cpp for
// now. Shared by the tokenizer objects over it; immutable, usable from several threads.
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

struct llama_model;
struct llama_vocab;

namespace owml {

class Vocabulary {
 public:
  // A GGUF file or the first of its shards.
  static std::shared_ptr<const Vocabulary> OpenGguf(const std::filesystem::path& path);

  const std::string& label() const { return label_; }
  uint32_t size() const { return size_; }

  // `add_special` puts around the text what the vocabulary asks for, such as a begin-of-sequence token. With
  // `parse_special` the text of a control token becomes that token; without, it is text like any other.
  std::vector<uint32_t> Encode(std::string_view text, bool add_special, bool parse_special) const;

  // Bytes of one token, perhaps a part of a character. Control tokens have text only with `special`. E_INVALIDARG for
  // an id outside the vocabulary.
  std::string_view Piece(uint32_t id, bool special) const;

  // Bytes of many. A vocabulary that puts a space before every text takes it away again.
  std::string Decode(std::span<const uint32_t> ids, bool special) const;
  bool drops_leading_space() const { return drops_leading_space_; }

  std::optional<uint32_t> bos() const { return bos_; }
  // The declared end token first, then the end-of-turn token, then other tokens that end a generation.
  const std::vector<uint32_t>& eos() const { return eos_; }

  // Control tokens by text, longest first, with what llama.cpp takes away beside them.
  struct Control {
    std::string text;
    uint32_t id = 0;
    bool strips_left = false;
    bool strips_right = false;
  };
  const std::vector<Control>& controls() const { return controls_; }

  // By the vocabulary's own spelling ("Ġthe"), else by the text that the token stands for (" the").
  std::optional<uint32_t> Find(std::string_view token) const;

  // Empty when the file carries none.
  const std::string& chat_template() const { return chat_template_; }
  // Text of the begin and end tokens for templates; empty when there is none.
  std::string_view bos_text() const { return bos_ ? Piece(*bos_, true) : std::string_view(); }
  std::string_view eos_text() const { return eos_.empty() ? std::string_view() : Piece(eos_[0], true); }

 private:
  Vocabulary() = default;
  void ReadSpecialTokens(bool bos_declared, bool eos_declared);
  void ReadPieces();

  std::string label_;
  std::shared_ptr<llama_model> model_;
  const llama_vocab* vocab_ = nullptr;
  uint32_t size_ = 0;
  bool drops_leading_space_ = false;
  std::string chat_template_;
  std::optional<uint32_t> bos_;
  std::vector<uint32_t> eos_;
  std::vector<Control> controls_;
  std::vector<std::string> pieces_;
  std::vector<bool> hidden_;  // control and unknown tokens

  mutable std::once_flag spellings_once_;
  mutable std::unordered_map<std::string_view, uint32_t> spellings_;  // into llama.cpp's vocabulary
  mutable std::unordered_map<std::string_view, uint32_t> texts_;      // into pieces_
};

}  // namespace owml
