// Building the session, and reading what a generation tells at its end.
// See text_session.h.
#include "text_session.h"

#include <fmt/format.h>
#include <objbase.h>
#include <unistd.h>

#include <fstream>
#include <openwinml/strings.hpp>

#include "failure.h"

namespace owml::cli {
namespace {

namespace helpers = winml::tasks::text_generation;

WINML_TEXT_GENERATION_OPTIONS ValuesOf(const SamplingOptions& sampling) {
  WINML_TEXT_GENERATION_OPTIONS values = {};
  values.presentFields = WINML_TEXT_GENERATION_OPTION_FIELD_ALL;
  values.maxNewTokens = sampling.max_tokens;
  values.temperature = sampling.temperature;
  values.topK = sampling.top_k;
  values.topP = sampling.top_p;
  values.minP = sampling.min_p;
  values.repetitionPenalty = sampling.repetition_penalty;
  values.repetitionPenaltyWindow = sampling.repetition_window;
  values.presencePenalty = sampling.presence_penalty;
  values.frequencyPenalty = sampling.frequency_penalty;
  values.seed = sampling.seed;
  return values;
}

}  // namespace

TextSession::TextSession(const std::string& model_path, const StageSettings& settings, const SamplingOptions& sampling,
                         bool lookup)
    : model_(model_path, settings) {
  if (!model_.state()) {
    throw Failure("the model keeps no sequence; this command needs a language model", E_INVALIDARG);
  }
  Check(WinMLCreateTokenizerFromFile(openwinml::ToWide(model_path).c_str(), tokenizer_.GetAddressOf()),
        "loading the tokenizer");
  helpers::Options options;
  options.values = ValuesOf(sampling);
  helpers::SpeculativeDecoding speculative;
  speculative.method = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP;
  speculative.draftTokenCount = 8;
  helpers::TextGenerationArguments arguments;
  arguments.runtime = model_.runtime();
  arguments.pipeline = model_.pipeline();
  arguments.tokenInput = {model_.stage(), 0};
  arguments.output = {model_.stage(), 0, WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS};
  arguments.stateOwnerStage = model_.stage();
  arguments.tokenTarget = model_.target();
  arguments.tokenizer = tokenizer_.Get();
  arguments.options = &options;
  if (lookup) arguments.speculative = &speculative;
  Check(helpers::BuildTextGeneration(arguments, text_), "making a text session");
}

TextSession::~TextSession() {
  if (text_.session) text_.session->Close();
}

std::vector<uint32_t> TextSession::Encode(const std::string& text) const {
  UINT32 count = 0;
  UINT32* ids = nullptr;
  Check(
      tokenizer_->Encode(openwinml::ToWide(text).c_str(), WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS, &count, &ids),
      "encoding the prompt");
  std::vector<uint32_t> tokens(ids, ids + count);
  CoTaskMemFree(ids);
  return tokens;
}

void TextSession::ResetIfNeeded() const {
  auto state = WINML_TEXT_GENERATION_SESSION_STATE_EMPTY;
  Check(session()->GetState(&state), "asking for the session's state");
  if (state == WINML_TEXT_GENERATION_SESSION_STATE_RESET_REQUIRED) Check(session()->Reset(), "resetting the session");
}

uint64_t TextSession::capacity() const {
  UINT64 capacity = 0;
  return SUCCEEDED(model_.state()->GetSequenceCapacity(&capacity)) ? capacity : 0;
}

uint64_t TextSession::position() const {
  UINT64 position = 0;
  return SUCCEEDED(model_.state()->GetSequencePosition(&position)) ? position : 0;
}

void ReadTextResult(IWinMLTextGenerationResult* result, GenerationStats* stats) {
  HRESULT error = S_OK;
  Check(result->GetErrorCode(&error), "reading the result");
  Check(error, "generating");
  auto reason = WINML_TEXT_GENERATION_FINISH_REASON_EOS_TOKEN;
  Check(result->GetFinishReason(&reason), "reading the result");
  if (reason == WINML_TEXT_GENERATION_FINISH_REASON_MAX_TOKENS) stats->finish = "length";
  if (reason == WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY) stats->finish = "context";
  if (reason == WINML_TEXT_GENERATION_FINISH_REASON_CANCELED) stats->finish = "cancelled";
  ComPtr<IWinMLTextGenerationSpeculativeResult> speculative;
  WINML_TEXT_GENERATION_SPECULATIVE_STATISTICS drafts = {};
  if (FAILED(result->QueryInterface(IID_PPV_ARGS(speculative.GetAddressOf()))) ||
      FAILED(speculative->GetSpeculativeStatistics(&drafts))) {
    return;
  }
  stats->draft_tokens = drafts.draftTokenCount;
  stats->accepted_drafts = drafts.acceptedDraftTokenCount;
}

void CheckStart(HRESULT result, size_t prompt_tokens, uint64_t capacity, const std::string& what) {
  if (result == HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER)) {
    throw Failure(fmt::format("the prompt has {} tokens, the context holds {}; --context N makes it larger",
                              prompt_tokens, capacity),
                  result);
  }
  Check(result, what);
}

uint64_t ResidentBytes() {
  uint64_t total = 0;
  uint64_t resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace owml::cli
