// The decode loop, one turn a call.
// See generation.h.
#include "tasks/text_generation/generation.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

// Where a stage cannot end a run, a prompt that can be cancelled goes in runs of so many tokens. Always the same
// number, because the rounding of a backend may depend on it.
constexpr size_t kPromptRun = 16;

uint64_t SeedOf(const GenerationOptions& options) {
  if (options.seed != 0) return options.seed;
  std::random_device entropy;
  return (uint64_t{entropy()} << 32) | entropy();
}

bool Contains(const std::vector<uint32_t>& tokens, uint32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

// Lets a stage look at a source while it lives.
class Watched {
 public:
  Watched(GenerationPipelines& pipelines, IWinMLCancellationSource* source)
      : pipelines_(pipelines), active_(source && pipelines.WatchCancellation(source)) {}
  ~Watched() {
    if (active_) pipelines_.WatchCancellation(nullptr);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  bool active() const { return active_; }

 private:
  GenerationPipelines& pipelines_;
  const bool active_;
};

struct Flag {
  explicit Flag(bool& its_flag) : flag(its_flag) { flag = true; }
  ~Flag() { flag = false; }
  bool& flag;
};

}  // namespace

Generation::Generation(std::shared_ptr<Sequence> sequence, GenerationRequest request)
    : sequence_(std::move(sequence)),
      prompt_(std::move(request.prompt)),
      continues_(request.continues),
      options_(std::move(request.options)),
      cancellation_(request.cancellation),
      capacity_(sequence_->pipelines().Capacity()) {
  if (request.constraint) {
    Require(sequence_->pipelines().gives_logits(), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
            "the pipelines sample by themselves, so that no constraint can be put on their tokens");
    constraint_.emplace(request.constraint, sequence_->tokenizer());
  }
  std::vector<uint32_t> whole;
  // A constraint cannot be copied to look ahead, so that its stream goes token by token.
  if (sequence_->drafting() && !constraint_) {
    speculation_.emplace(sequence_.get(), [this](uint32_t token) { return Ends(token); });
  }
  if (continues_) {
    whole = sequence_->Retained();
    retained_ = whole.size();
  }
  CheckPrompt();
  whole.insert(whole.end(), prompt_.begin(), prompt_.end());
  Require(whole.size() <= UINT32_MAX, E_INVALIDARG, "the prompt has more tokens than 32 bits can count");
  outcome_.prompt_tokens = static_cast<uint32_t>(whole.size());
  chain_.emplace(options_.sampling, SeedOf(options_), whole);
  if (speculation_) history_ = std::move(whole);
  ClearThreadError();
  CheckResult(sequence_->tokenizer()->CreateDecoder(decoder_.GetAddressOf()), "the tokenizer",
              "IWinMLTokenizer::CreateDecoder");
  Require(decoder_ != nullptr, E_UNEXPECTED, "the tokenizer: CreateDecoder succeeded without a decoder");
}

void Generation::CheckPrompt() const {
  const GenerationPipelines& pipelines = sequence_->pipelines();
  Require(!prompt_.empty(), E_INVALIDARG, "the prompt has no tokens");
  const uint64_t ids = pipelines.vocabulary_size() ? pipelines.vocabulary_size() : uint64_t{INT32_MAX} + 1;
  for (const uint32_t token : prompt_) {
    Require(
        token < ids && token <= INT32_MAX, E_INVALIDARG,
        "the prompt has the token id " + std::to_string(token) + "; the model knows ids below " + std::to_string(ids));
  }
  const uint64_t length = pipelines.prompt_run_length();
  Require(pipelines.unified() || length == 0 || length == prompt_.size(), E_INVALIDARG,
          "the prompt has " + std::to_string(prompt_.size()) + " tokens; the prefill pipeline takes exactly " +
              std::to_string(length));
  // A prefill pipeline must leave a position for the decode pipeline.
  const uint64_t room = pipelines.unified() || capacity_ == 0 ? capacity_ : capacity_ - 1;
  const uint64_t count = retained_ + prompt_.size();
  if (capacity_ == 0 || count <= room) return;
  const std::string what =
      continues_ ? std::to_string(retained_) + " retained tokens and " + std::to_string(prompt_.size()) + " more"
                 : "the prompt of " + std::to_string(prompt_.size()) + " tokens";
  throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
              what + (continues_ ? " do" : " does") + " not fit the sequence capacity of " + std::to_string(capacity_) +
                  (count == capacity_ ? ", of which one position must stay free for the answer" : ""));
}

std::optional<Generation::Update> Generation::Next() noexcept {
  const Flag flag(in_next_);
  if (completed_) return std::nullopt;
  try {
    return Advance();
  } catch (const std::exception& error) {
    outcome_.error = TranslateCurrentException("IWinMLTextGenerationPullStream::ReadNext");
    try {
      outcome_.sentence = error.what();
    } catch (...) {
      outcome_.sentence.clear();  // the code is what counts
    }
  } catch (...) {
    outcome_.error = TranslateCurrentException("IWinMLTextGenerationPullStream::ReadNext");
  }
  sequence_->Fail();
  outcome_.reason = WINML_TEXT_GENERATION_FINISH_REASON_ERROR;
  completed_ = true;
  return std::nullopt;
}

std::optional<Generation::Update> Generation::Finish(WINML_TEXT_GENERATION_FINISH_REASON reason) {
  if (speculation_) {
    sequence_->TakeBack(speculation_->ahead());
    outcome_.speculation = speculation_->statistics();
  }
  outcome_.reason = reason;
  completed_ = true;
  return std::nullopt;
}

std::optional<Generation::Update> Generation::Advance() {
  if (reason_) return Finish(*reason_);
  if (Canceled()) return Finish(WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
  const bool first = !prompt_done_;
  if (first) {
    if (!EvaluatePrompt()) return Finish(WINML_TEXT_GENERATION_FINISH_REASON_CANCELED);
    prompt_done_ = true;
    if (capacity_ != 0 && outcome_.prompt_tokens >= capacity_) {
      return Finish(WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
    }
  }
  const uint32_t token = first ? Choose() : StepAndChoose();
  ConstrainedChoice::Verdict verdict;
  if (constraint_) verdict = constraint_->Accept(token);
  if (Contains(sequence_->eos_tokens(), token)) return Finish(WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN);
  if (Contains(options_.stop_tokens, token) || !verdict.shown) {
    return Finish(WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
  }
  // Everything that can fail comes before the token counts.
  Update update = {token, Decode(token)};
  const uint64_t count = outcome_.tokens.size() + 1;
  if (verdict.ends) {
    reason_ = WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN;
  } else if (count >= options_.max_new_tokens) {
    reason_ = WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS;
  } else if (capacity_ != 0 && outcome_.prompt_tokens + count >= capacity_) {
    reason_ = WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY;
  }
  if (reason_) update.fragment += Rest(update);
  if (outcome_.tokens.capacity() < count) outcome_.tokens.reserve(2 * count);
  if (speculation_) {
    history_.push_back(token);
    if (first) chain_->Accept(token);  // the others were accepted in their step
  } else {
    chain_->Accept(token);
  }
  outcome_.text += update.fragment;
  outcome_.tokens.push_back(token);
  return update;
}

bool Generation::Canceled() const {
  if (!cancellation_) return false;
  BOOL canceled = FALSE;
  ClearThreadError();
  CheckResult(cancellation_->GetIsCanceled(&canceled), "the cancellation source",
              "IWinMLCancellationSource::GetIsCanceled");
  return canceled != FALSE;
}

bool Generation::EvaluatePrompt() {
  GenerationPipelines& pipelines = sequence_->pipelines();
  // Drafts and constraints look at whole rows.
  pipelines.Publish(speculation_ || constraint_ ? 0 : chain_->DecidingCount());
  if (!continues_) sequence_->Forget();
  std::span<const uint32_t> rest = prompt_;
  size_t run = rest.size();
  if (pipelines.unified() && pipelines.prompt_run_length() == 1) run = 1;
  const Watched watched(pipelines, cancellation_.Get());
  if (pipelines.unified() && cancellation_ && !watched.active()) run = std::min(run, kPromptRun);
  while (true) {
    const size_t count = std::min(run, rest.size());
    try {
      sequence_->RunPrompt(rest.first(count));
    } catch (const Error& error) {
      if (error.code() != HRESULT_FROM_WIN32(ERROR_CANCELLED) || !Canceled()) throw;
      sequence_->Synchronize();
      return false;
    }
    rest = rest.subspan(count);
    if (rest.empty()) return true;
    if (Canceled()) return false;
  }
}

bool Generation::Ends(uint32_t token) const {
  return Contains(sequence_->eos_tokens(), token) || Contains(options_.stop_tokens, token);
}

uint32_t Generation::StepAndChoose() {
  if (!speculation_) {
    sequence_->RunToken(outcome_.tokens.back());
    return Choose();
  }
  const uint64_t given = outcome_.tokens.size();
  const uint64_t room = capacity_ == 0 ? UINT64_MAX : capacity_ - outcome_.prompt_tokens - given;
  return speculation_->Next(history_, options_.max_new_tokens - given, room, &*chain_);
}

uint32_t Generation::Choose() {
  GenerationPipelines& pipelines = sequence_->pipelines();
  if (pipelines.last_kind() == WINML_TEXT_GENERATION_OUTPUT_KIND_SAMPLED_TOKEN) return pipelines.ReadToken();
  if (pipelines.gave_best()) return chain_->PickOfHighest(pipelines.ReadBest(), pipelines.vocabulary_size());
  const std::span<const float> logits = pipelines.ReadLogits();
  const uint32_t token = constraint_ ? ChooseAllowed(logits) : chain_->Pick(logits);
  pipelines.ReleaseLogits();
  return token;
}

uint32_t Generation::ChooseAllowed(std::span<const float> logits) {
  const bool greedy = options_.sampling.temperature == 0;
  return chain_->Pick(constraint_->Filter(chain_->Penalize(logits), greedy));
}

std::wstring Generation::Decode(uint32_t token) {
  LPCWSTR text = nullptr;
  ClearThreadError();
  CheckResult(decoder_->DecodeToken(token, &text), "the decoder", "IWinMLTokenizerDecoder::DecodeToken");
  return text ? std::wstring(text) : std::wstring();  // some decoders give null for no character
}

// The decoder has no way to say what it still holds, so the whole answer is decoded once more. Spec-open: bytes that
// end a generation in the middle of a character are shown only where the last token is known to be the last, at a
// limit; a fragment after an end token would have no token of its own.
std::wstring Generation::Rest(const Update& last) const {
  std::vector<uint32_t> tokens = outcome_.tokens;
  tokens.push_back(last.token);
  const std::wstring shown = outcome_.text + last.fragment;
  LPWSTR text = nullptr;
  ClearThreadError();
  CheckResult(sequence_->tokenizer()->Decode(tokens.data(), static_cast<UINT32>(tokens.size()),
                                             WINML_TOKENIZER_DECODE_FLAG_SKIP_SPECIAL_TOKENS, &text),
              "the tokenizer", "IWinMLTokenizer::Decode");
  if (!text) return {};
  const std::wstring whole = text;
  CoTaskMemFree(text);
  return whole.starts_with(shown) ? whole.substr(shown.size()) : std::wstring();
}

}  // namespace owml
