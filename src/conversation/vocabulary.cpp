// Encoding, decoding and special tokens over llama.cpp's vocabulary.
// Called by the tokenizer objects and the formatter.
#include "conversation/vocabulary.h"

#include <llama.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "conversation/large_stack.h"
#include "llama/llama_artifact.h"
#include "llama/llama_hooks.h"

namespace owml {
namespace {

// Some splitting rules run through std::regex, which recurses for each character.
constexpr size_t kShortText = 2048;
constexpr size_t kStackBytesPerByte = 2048;

// llama.cpp counts text and tokens in 32 bits, signed.
constexpr size_t kMaxText = size_t{1} << 30;

std::vector<uint32_t> Tokenize(const llama_vocab* vocab, std::string_view text, bool add_special, bool parse_special) {
  std::vector<llama_token> tokens(text.size() / 2 + 16);
  for (;;) {
    const int32_t count = llama_tokenize(vocab, text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                                         static_cast<int32_t>(tokens.size()), add_special, parse_special);
    if (count >= 0) return {tokens.begin(), tokens.begin() + count};
    if (count == INT32_MIN) throw Error(E_INVALIDARG, "the text has too many tokens");
    tokens.resize(static_cast<size_t>(-static_cast<int64_t>(count)));
  }
}

}  // namespace

std::shared_ptr<const Vocabulary> Vocabulary::OpenGguf(const std::filesystem::path& path) {
  const auto artifact = LlamaArtifact::OpenFile(path, LlamaArtifact::Use::kVocabulary);
  const GgufMetadata& metadata = artifact->gguf().metadata();
  std::shared_ptr<Vocabulary> vocabulary(new Vocabulary);
  vocabulary->label_ = artifact->label();
  vocabulary->chat_template_ = metadata.FindString("tokenizer.chat_template").value_or("");

  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  vocabulary->model_ = artifact->LoadModel(params);
  vocabulary->vocab_ = llama_model_get_vocab(vocabulary->model_.get());
  const enum llama_vocab_type type = llama_vocab_type(vocabulary->vocab_);
  if (type == LLAMA_VOCAB_TYPE_NONE) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), artifact->label() + " carries no tokenizer");
  }
  vocabulary->size_ = static_cast<uint32_t>(llama_vocab_n_tokens(vocabulary->vocab_));
  vocabulary->drops_leading_space_ =
      metadata.FindBool("tokenizer.ggml.add_space_prefix").value_or(type == LLAMA_VOCAB_TYPE_SPM);
  vocabulary->ReadPieces();
  vocabulary->ReadSpecialTokens(metadata.Find("tokenizer.ggml.bos_token_id") != nullptr,
                                metadata.Find("tokenizer.ggml.eos_token_id") != nullptr);
  return vocabulary;
}

void Vocabulary::ReadPieces() {
  pieces_.resize(size_);
  hidden_.resize(size_);
  std::string buffer(256, '\0');
  for (uint32_t id = 0; id < size_; ++id) {
    const auto token = static_cast<llama_token>(id);
    int32_t length = llama_token_to_piece(vocab_, token, buffer.data(), static_cast<int32_t>(buffer.size()), 0, true);
    if (length < 0) {
      buffer.resize(static_cast<size_t>(-static_cast<int64_t>(length)));
      length = llama_token_to_piece(vocab_, token, buffer.data(), static_cast<int32_t>(buffer.size()), 0, true);
    }
    pieces_[id].assign(buffer, 0, static_cast<size_t>(std::max(length, 0)));
    hidden_[id] = (llama_vocab_get_attr(vocab_, token) & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0;
  }
}

void Vocabulary::ReadSpecialTokens(bool bos_declared, bool eos_declared) {
  // Where the file declares nothing llama.cpp fills in the ids of an early model; they count only if they are control
  // tokens.
  const auto known = [&](llama_token token, bool declared) {
    return token >= 0 && static_cast<uint32_t>(token) < size_ && (declared || llama_vocab_is_control(vocab_, token));
  };
  if (const llama_token bos = llama_vocab_bos(vocab_); known(bos, bos_declared)) bos_ = static_cast<uint32_t>(bos);
  const auto add_eos = [&](llama_token token, bool declared) {
    if (!known(token, declared)) return;
    const auto id = static_cast<uint32_t>(token);
    if (std::find(eos_.begin(), eos_.end(), id) == eos_.end()) eos_.push_back(id);
  };
  add_eos(llama_vocab_eos(vocab_), eos_declared);
  add_eos(llama_vocab_eot(vocab_), true);
  for (uint32_t id = 0; id < size_; ++id) {
    const auto token = static_cast<llama_token>(id);
    if (llama_vocab_is_eog(vocab_, token)) add_eos(token, false);
    if (!hidden_[id]) continue;
    const int attributes = llama_vocab_get_attr(vocab_, token);
    const std::string text = llama_vocab_get_text(vocab_, token);
    if (text.empty()) continue;
    controls_.push_back(
        {text, id, (attributes & LLAMA_TOKEN_ATTR_LSTRIP) != 0, (attributes & LLAMA_TOKEN_ATTR_RSTRIP) != 0});
  }
  std::stable_sort(controls_.begin(), controls_.end(),
                   [](const Control& a, const Control& b) { return a.text.size() > b.text.size(); });
}

std::vector<uint32_t> Vocabulary::Encode(std::string_view text, bool add_special, bool parse_special) const {
  if (text.size() > kMaxText) {
    throw Error(E_INVALIDARG, "a text of " + std::to_string(text.size()) + " bytes is longer than 1 GiB");
  }
  std::vector<uint32_t> ids;
  const auto work = [&] { ids = Tokenize(vocab_, text, add_special, parse_special); };
  try {
    if (text.size() <= kShortText) {
      work();
    } else {
      RunOnLargeStack(text.size() * kStackBytesPerByte, work);
    }
  } catch (const LlamaAssertion& assertion) {
    throw Error(E_FAIL, label_ + ": llama.cpp cannot encode the text: " + assertion.what());
  }
  return ids;
}

std::string_view Vocabulary::Piece(uint32_t id, bool special) const {
  if (id >= size_) {
    throw Error(E_INVALIDARG, "token id " + std::to_string(id) + " is outside the vocabulary of " +
                                  std::to_string(size_) + " tokens");
  }
  return hidden_[id] && !special ? std::string_view() : std::string_view(pieces_[id]);
}

std::string Vocabulary::Decode(std::span<const uint32_t> ids, bool special) const {
  std::string text;
  bool at_start = drops_leading_space_;
  for (const uint32_t id : ids) {
    std::string_view piece = Piece(id, special);
    if (at_start && !hidden_[id]) {
      if (piece.starts_with(' ')) piece.remove_prefix(1);
      at_start = false;
    }
    text += piece;
  }
  return text;
}

std::optional<uint32_t> Vocabulary::Find(std::string_view token) const {
  std::call_once(spellings_once_, [this] {
    spellings_.reserve(size_);
    texts_.reserve(size_);
    for (uint32_t id = 0; id < size_; ++id) {
      spellings_.emplace(llama_vocab_get_text(vocab_, static_cast<llama_token>(id)), id);
      texts_.emplace(pieces_[id], id);
    }
  });
  for (const auto* map : {&spellings_, &texts_}) {
    const auto found = map->find(token);
    if (found != map->end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace owml
