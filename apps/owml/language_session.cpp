// Prompt, decode loop and text streaming.
// The context is kept between calls, so that a conversation evaluates only what is new.
#include "language_session.h"

#include <fmt/format.h>
#include <objbase.h>

#include <algorithm>
#include <chrono>
#include <openwinml/strings.hpp>

#include "base/half.h"
#include "failure.h"

namespace owml::cli {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<uint32_t> TakeTokens(UINT32 count, UINT32* ids) {
  std::vector<uint32_t> tokens(ids, ids + count);
  CoTaskMemFree(ids);
  return tokens;
}

}  // namespace

LanguageSession::LanguageSession(const std::string& model_path, const StageSettings& settings)
    : model_(model_path, settings) {
  Check(WinMLCreateTokenizerFromFile(openwinml::ToWide(model_path).c_str(), tokenizer_.GetAddressOf()),
        "loading the tokenizer");
  // No chat template means no formatter; only conversations need one.
  tokenizer_.As(&formatter_);
  ComPtr<IWinMLTokenizerMetadata> metadata;
  Check(tokenizer_.As(&metadata), "asking for tokenizer metadata");
  UINT32 count = 0;
  UINT32* ids = nullptr;
  Check(metadata->GetEosTokenIds(&count, &ids), "reading end tokens");
  end_tokens_ = TakeTokens(count, ids);

  ComPtr<IWinMLStageSchema> schema;
  Check(model_.stage()->QueryInterface(IID_PPV_ARGS(schema.GetAddressOf())), "reading the schema");
  WINML_TENSOR_DESC desc = {};
  Check(schema->GetInputTensorDesc(0, &desc), "reading the schema");
  token_type_ = static_cast<DType>(desc.dataType);
  token_rank_ = desc.dimensionCount;
  if ((token_type_ != DType::kInt32 && token_type_ != DType::kInt64) || token_rank_ < 1 || token_rank_ > 2) {
    throw Failure("the model takes no token ids in input 0; this command needs a language model", E_INVALIDARG);
  }
  if (!model_.state() || FAILED(model_.state()->GetSequenceCapacity(&capacity_))) capacity_ = 0;
  Check(model_.stage()->RequestOutput(0), "requesting logits");
}

std::vector<uint32_t> LanguageSession::Encode(const std::string& text) const {
  UINT32 count = 0;
  UINT32* ids = nullptr;
  Check(
      tokenizer_->Encode(openwinml::ToWide(text).c_str(), WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS, &count, &ids),
      "encoding the prompt");
  return TakeTokens(count, ids);
}

void LanguageSession::RequireChatTemplate() const {
  if (formatter_) return;
  throw Failure("the model carries no chat template; use `owml generate` for plain continuation", E_NOINTERFACE);
}

std::vector<uint32_t> LanguageSession::EncodeConversation(const std::vector<Message>& messages) const {
  RequireChatTemplate();
  std::vector<std::wstring> texts;
  texts.reserve(messages.size() * 2);
  std::vector<WINML_CHAT_MESSAGE> wide;
  for (const Message& message : messages) {
    texts.push_back(openwinml::ToWide(message.role));
    texts.push_back(openwinml::ToWide(message.content));
    wide.push_back({texts[texts.size() - 2].c_str(), texts.back().c_str()});
  }
  UINT32 count = 0;
  UINT32* ids = nullptr;
  Check(formatter_->EncodeConversation(static_cast<UINT32>(wide.size()), wide.data(), TRUE, &count, &ids),
        "applying the chat template");
  return TakeTokens(count, ids);
}

void LanguageSession::Evaluate(const uint32_t* tokens, size_t count) {
  Dims dims(token_rank_, 1);
  dims.back() = count;
  ComPtr<IWinMLTensor> tensor;
  if (token_type_ == DType::kInt32) {
    tensor = model_.MakeTensor(DType::kInt32, dims, tokens, count * sizeof(uint32_t));
  } else {
    const std::vector<int64_t> wide(tokens, tokens + count);
    tensor = model_.MakeTensor(DType::kInt64, dims, wide.data(), count * sizeof(int64_t));
  }
  Check(model_.stage()->BindInput(0, tensor.Get()), "binding tokens");
  model_.Run();
  context_.insert(context_.end(), tokens, tokens + count);
}

size_t LanguageSession::KeepPrefix(const std::vector<uint32_t>& tokens) {
  if (tokens.empty()) throw Failure("the prompt is empty", E_INVALIDARG);
  if (capacity_ && tokens.size() >= capacity_) {
    throw Failure(fmt::format("the prompt has {} tokens, the context holds {}; --context N makes it larger",
                              tokens.size(), capacity_),
                  HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  }
  size_t keep = static_cast<size_t>(
      std::mismatch(context_.begin(), context_.end(), tokens.begin(), tokens.end()).first - context_.begin());
  keep = std::min(keep, tokens.size() - 1);
  if (keep < context_.size()) {
    if (keep > 0 && model_.state() && SUCCEEDED(model_.state()->RewindTo(keep))) {
      context_.resize(keep);
    } else {
      Reset();
      keep = 0;
    }
  }
  return keep;
}

size_t LanguageSession::Prefill(const std::vector<uint32_t>& tokens) {
  const size_t kept = KeepPrefix(tokens);
  Evaluate(tokens.data() + kept, tokens.size() - kept);
  return tokens.size() - kept;
}

void LanguageSession::Append(uint32_t token) { Evaluate(&token, 1); }

void LanguageSession::Reset() {
  model_.Reset();
  context_.clear();
}

std::vector<float> LanguageSession::Logits() const {
  ComPtr<IWinMLTensor> tensor;
  Check(model_.stage()->GetOutput(0, tensor.GetAddressOf()), "reading logits");
  const ReadLock lock(tensor.Get());
  if (lock.dims().empty()) throw Failure("the model's output 0 is a scalar, not logits");
  const size_t width = static_cast<size_t>(lock.dims().back());
  const size_t rows = width ? static_cast<size_t>(ElementCount(lock.dims()).value_or(0)) / width : 0;
  if (rows == 0) throw Failure("the model gave no logits");
  std::vector<float> row(width);
  if (lock.dtype() == DType::kFloat32) {
    const float* all = reinterpret_cast<const float*>(lock.data());
    std::copy_n(all + (rows - 1) * width, width, row.begin());
  } else if (lock.dtype() == DType::kFloat16) {
    const uint16_t* all = reinterpret_cast<const uint16_t*>(lock.data());
    std::transform(all + (rows - 1) * width, all + rows * width, row.begin(), HalfToFloat);
  } else {
    throw Failure(fmt::format("the model's logits are {}, not float32 or float16", Name(lock.dtype())));
  }
  return row;
}

bool LanguageSession::IsEndToken(uint32_t token) const {
  return std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
}

GenerationStats LanguageSession::Generate(const std::vector<uint32_t>& prompt, Sampler& sampler, uint32_t max_tokens,
                                          const std::function<void(const std::string&)>& emit,
                                          const std::function<bool()>& cancelled) {
  GenerationStats stats;
  stats.prompt_tokens = prompt.size();
  ComPtr<IWinMLTokenizerDecoder> decoder;
  Check(tokenizer_->CreateDecoder(decoder.GetAddressOf()), "creating a decoder");
  auto start = std::chrono::steady_clock::now();
  size_t done = KeepPrefix(prompt);
  stats.evaluated_tokens = prompt.size() - done;
  while (done < prompt.size()) {
    if (cancelled()) {
      stats.evaluated_tokens -= prompt.size() - done;
      stats.prompt_seconds = SecondsSince(start);
      stats.finish = "cancelled";
      return stats;
    }
    const size_t step = std::min(kPromptStep, prompt.size() - done);
    Evaluate(prompt.data() + done, step);
    done += step;
  }
  uint32_t token = sampler.Pick(Logits());
  stats.prompt_seconds = SecondsSince(start);
  start = std::chrono::steady_clock::now();
  while (true) {
    if (cancelled()) {
      stats.finish = "cancelled";
      break;
    }
    if (IsEndToken(token)) break;
    ++stats.generated_tokens;
    LPCWSTR text = nullptr;
    Check(decoder->DecodeToken(token, &text), "decoding a token");
    if (text && *text) emit(openwinml::ToUtf8(text));
    if (stats.generated_tokens >= max_tokens) {
      stats.finish = "length";
      break;
    }
    if (capacity_ && context_.size() + 1 >= capacity_) {
      stats.finish = "context";
      break;
    }
    Append(token);
    ++stats.decode_steps;
    token = sampler.Pick(Logits());
  }
  stats.generation_seconds = SecondsSince(start);
  return stats;
}

}  // namespace owml::cli
