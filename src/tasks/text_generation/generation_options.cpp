// Defaults, ranges and the immutable object.
// See generation_options.h.
#include "tasks/text_generation/generation_options.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "com/co_task_array.h"
#include "com/guard.h"
#include "com/implements.h"
#include "tasks/token_list.h"

namespace owml {
namespace {

bool Has(const WINML_TEXT_GENERATION_OPTIONS& values, WINML_TEXT_GENERATION_OPTION_FIELDS field) {
  return (values.presentFields & field) != 0;
}

// Every member set, every bit present.
WINML_TEXT_GENERATION_OPTIONS Resolved(const WINML_TEXT_GENERATION_OPTIONS& values) {
  constexpr int kAll = WINML_TEXT_GENERATION_OPTION_FIELD_ALL;
  const auto range = [](bool inside, const char* name, const std::string& value, const char* allowed) {
    Require(inside, E_INVALIDARG, std::string(name) + " is " + value + "; it must be " + allowed);
  };
  Require((values.presentFields & ~kAll) == 0, E_INVALIDARG,
          "presentFields has the unknown bits " + std::to_string(values.presentFields & ~kAll));
  Require(Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_MAX_NEW_TOKENS), E_INVALIDARG,
          "presentFields lacks MAX_NEW_TOKENS, which must be given");
  range(values.maxNewTokens != 0, "maxNewTokens", "0", "at least 1");

  WINML_TEXT_GENERATION_OPTIONS all = {};
  all.presentFields = WINML_TEXT_GENERATION_OPTION_FIELD_ALL;
  all.maxNewTokens = values.maxNewTokens;
  all.topP = 1;
  all.repetitionPenalty = 1;
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_TEMPERATURE)) all.temperature = values.temperature;
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K)) all.topK = values.topK;
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_TOP_P)) all.topP = values.topP;
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_MIN_P)) all.minP = values.minP;
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY)) {
    all.repetitionPenalty = values.repetitionPenalty;
  }
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_REPETITION_PENALTY_WINDOW)) {
    all.repetitionPenaltyWindow = values.repetitionPenaltyWindow;
  }
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_PRESENCE_PENALTY)) all.presencePenalty = values.presencePenalty;
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_FREQUENCY_PENALTY)) {
    all.frequencyPenalty = values.frequencyPenalty;
  }
  if (Has(values, WINML_TEXT_GENERATION_OPTION_FIELD_SEED)) all.seed = values.seed;

  const auto text = [](float value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", static_cast<double>(value));
    return std::string(digits);
  };
  range(std::isfinite(all.temperature) && all.temperature >= 0, "temperature", text(all.temperature),
        "finite and not below 0");
  range(all.topP > 0 && all.topP <= 1, "topP", text(all.topP), "above 0 and at most 1");
  range(all.minP >= 0 && all.minP <= 1, "minP", text(all.minP), "between 0 and 1");
  range(std::isfinite(all.repetitionPenalty) && all.repetitionPenalty > 0, "repetitionPenalty",
        text(all.repetitionPenalty), "finite and above 0");
  range(std::isfinite(all.presencePenalty), "presencePenalty", text(all.presencePenalty), "finite");
  range(std::isfinite(all.frequencyPenalty), "frequencyPenalty", text(all.frequencyPenalty), "finite");
  return all;
}

class Options final : public Implements<Options, IWinMLTextGenerationOptions> {
 public:
  Options(const WINML_TEXT_GENERATION_OPTIONS& values, std::span<const uint32_t> stop_tokens)
      : values_(values), stop_tokens_(stop_tokens.begin(), stop_tokens.end()) {}

  HRESULT STDMETHODCALLTYPE GetValues(WINML_TEXT_GENERATION_OPTIONS* values) noexcept override {
    return Guard("IWinMLTextGenerationOptions::GetValues", [&] {
      RequirePointer(values, "values");
      *values = values_;
    });
  }

  HRESULT STDMETHODCALLTYPE GetStopTokenIds(UINT32* tokenCount, UINT32** tokenIds) noexcept override {
    return Guard("IWinMLTextGenerationOptions::GetStopTokenIds",
                 [&] { HandOutTokens(stop_tokens_, tokenCount, tokenIds); });
  }

 private:
  const WINML_TEXT_GENERATION_OPTIONS values_;
  const std::vector<uint32_t> stop_tokens_;
};

}  // namespace

ComPtr<IWinMLTextGenerationOptions> MakeGenerationOptions(const WINML_TEXT_GENERATION_OPTIONS& values,
                                                          std::span<const uint32_t> stop_tokens) {
  return Make<Options>(Resolved(values), stop_tokens);
}

GenerationOptions ReadGenerationOptions(IWinMLTextGenerationOptions* options) {
  GenerationOptions plain;
  if (!options) return plain;
  WINML_TEXT_GENERATION_OPTIONS values = {};
  ClearThreadError();
  CheckResult(options->GetValues(&values), "options", "IWinMLTextGenerationOptions::GetValues");
  values = Resolved(values);
  plain.max_new_tokens = values.maxNewTokens;
  plain.sampling = {values.temperature,
                    values.topK,
                    values.topP,
                    values.minP,
                    values.repetitionPenalty,
                    values.repetitionPenaltyWindow,
                    values.presencePenalty,
                    values.frequencyPenalty};
  plain.seed = values.seed;
  TokenArray stops;
  ClearThreadError();
  CheckResult(options->GetStopTokenIds(stops.count(), stops.ids()), "options",
              "IWinMLTextGenerationOptions::GetStopTokenIds");
  plain.stop_tokens = stops.Take("options: IWinMLTextGenerationOptions::GetStopTokenIds");
  return plain;
}

}  // namespace owml
