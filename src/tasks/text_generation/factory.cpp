// Edges of the three makers.
// See factory.h.
#include "tasks/text_generation/factory.h"

#include "com/guard.h"
#include "tasks/text_generation/configuration.h"
#include "tasks/text_generation/generation_options.h"
#include "tasks/text_generation/task.h"

namespace owml {

HRESULT TextGenerationFactoryMethods::CreateTextGenerationConfiguration(
    IWinMLTextGenerationConfiguration** configuration) noexcept {
  return Guard("IWinMLTextGenerationTaskFactory::CreateTextGenerationConfiguration", [&] {
    RequireOut(configuration, "configuration");
    *configuration = MakeConfiguration(runtime()).Detach();
  });
}

HRESULT TextGenerationFactoryMethods::CreateTextGenerationOptions(const WINML_TEXT_GENERATION_OPTIONS* values,
                                                                  UINT32 stopTokenCount, const UINT32* stopTokenIds,
                                                                  IWinMLTextGenerationOptions** options) noexcept {
  return Guard("IWinMLTextGenerationTaskFactory::CreateTextGenerationOptions", [&] {
    RequireOut(options, "options");
    RequirePointer(values, "values");
    if (stopTokenCount != 0) RequirePointer(stopTokenIds, "stopTokenIds");
    *options = MakeGenerationOptions(*values, {stopTokenIds, stopTokenCount}).Detach();
  });
}

HRESULT TextGenerationFactoryMethods::CreateTextGenerationTask(IWinMLTokenizer* tokenizer,
                                                               WINML_TEXT_GENERATION_EOS_POLICY eosPolicy,
                                                               UINT32 eosTokenCount, const UINT32* eosTokenIds,
                                                               IWinMLTextGenerationTask** task) noexcept {
  return Guard("IWinMLTextGenerationTaskFactory::CreateTextGenerationTask", [&] {
    RequireOut(task, "task");
    RequirePointer(tokenizer, "tokenizer");
    if (eosTokenCount != 0) RequirePointer(eosTokenIds, "eosTokenIds");
    *task = MakeTextGenerationTask(runtime(), tokenizer, eosPolicy, {eosTokenIds, eosTokenCount}).Detach();
  });
}

}  // namespace owml
