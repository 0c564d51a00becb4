// winml/tasks/text_generation/: whole compositions in one call.
#include <winml/tasks/text_generation/PrefillDecodeTextGeneration.hpp>
#include <winml/tasks/text_generation/TextGeneration.hpp>

#include "tasks/text_generation/text_generation_fixture.h"

namespace owml::test {
namespace {

namespace helpers = winml::tasks::text_generation;
using testing::ElementsAre;
using testing::HasSubstr;

class CompositionHelpers : public TextGenerationTest {
 protected:
  helpers::TextGenerationArguments Arguments() {
    helpers::TextGenerationArguments arguments;
    arguments.runtime = runtime.Get();
    arguments.pipeline = model.Get();
    arguments.tokenInput = {model.Get(), 0};
    arguments.output = {model.Get(), 0, kLogits};
    arguments.stateOwnerStage = model.Get();
    arguments.tokenTarget = cpu.Get();
    arguments.tokenizer = tokenizer.Get();
    return arguments;
  }
};

TEST_F(CompositionHelpers, BuildASessionThatGenerates) {
  helpers::TextGeneration built;
  ASSERT_EQ(helpers::BuildTextGeneration(Arguments(), built), S_OK) << openwinml::LastErrorMessage();
  session = built.session;
  const Answer answer = ReadAll(Start({1, 2}, built.options.Get()).Get());
  EXPECT_EQ(answer.tokens, Expected({1, 2}, answer.tokens.size()));
  EXPECT_EQ(answer.reason, WINML_TEXT_GENERATION_FINISH_REASON_SEQUENCE_CAPACITY);
  EXPECT_EQ(built.stateOwnerStage.Get(), static_cast<IWinMLStage*>(model.Get()));
  WINML_TEXT_GENERATION_OPTIONS values = {};
  ASSERT_EQ(built.options->GetValues(&values), S_OK);
  EXPECT_EQ(values.maxNewTokens, 256u);
}

TEST_F(CompositionHelpers, TakeOptionsStopsAndEndTokens) {
  auto arguments = Arguments();
  const UINT32 ends[] = {25};
  const UINT32 stops[] = {Expected({1, 2}, 3)[2]};
  helpers::Options options;
  options.values = winml::tasks::MakeTextGenerationOptions(7);
  options.stopTokenIds = stops;
  arguments.options = &options;
  arguments.eosPolicy = WINML_TEXT_GENERATION_EOS_POLICY_EXPLICIT;
  arguments.eosTokenIds = ends;
  helpers::TextGeneration built;
  ASSERT_EQ(helpers::BuildTextGeneration(arguments, built), S_OK);
  session = built.session;
  EXPECT_EQ(ReadAll(Start({1, 2}, built.options.Get()).Get()).reason, WINML_TEXT_GENERATION_FINISH_REASON_STOP_TOKEN);
  UINT32 count = 0;
  UINT32* ids = nullptr;
  ASSERT_EQ(built.task->GetDefaultEosTokenIds(&count, &ids), S_OK);
  EXPECT_THAT(Taken(count, ids), ElementsAre(25));
}

TEST_F(CompositionHelpers, SpeculationThatCannotRunIsSaid) {
  auto arguments = Arguments();
  helpers::SpeculativeDecoding speculative;
  speculative.method = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_PROMPT_LOOKUP;
  arguments.speculative = &speculative;
  helpers::TextGeneration built;
  EXPECT_EQ(helpers::BuildTextGeneration(arguments, built), kNotSupported);
  EXPECT_EQ(built.session, nullptr);
  model->step_width = 5;
  EXPECT_EQ(helpers::BuildTextGeneration(arguments, built), S_OK);
}

TEST_F(CompositionHelpers, DraftModelsAreSet) {
  auto arguments = Arguments();
  const auto draft = NewModel();
  model->step_width = 5;
  helpers::SpeculativeDecoding speculative;
  speculative.method = WINML_TEXT_GENERATION_SPECULATIVE_METHOD_DRAFT_MODEL;
  speculative.draftTokenCount = 2;
  speculative.draftPipeline = draft.Get();
  speculative.draftTokenInput = {draft.Get(), 0};
  speculative.draftOutput = {draft.Get(), 0};
  speculative.draftStateOwnerStage = draft.Get();
  arguments.speculative = &speculative;
  {
    helpers::TextGeneration built;
    ASSERT_EQ(helpers::BuildTextGeneration(arguments, built), S_OK) << openwinml::LastErrorMessage();
    session = built.session;
    EXPECT_EQ(Generate({1, 2}, 9).tokens, Expected({1, 2}, 9));
    EXPECT_FALSE(draft->runs.empty());
  }
  session.Reset();
}

TEST_F(CompositionHelpers, AFailureLeavesWhatWasBuiltBefore) {
  helpers::TextGeneration built;
  ASSERT_EQ(helpers::BuildTextGeneration(Arguments(), built), S_OK);
  IWinMLTextGenerationSession* const before = built.session.Get();
  auto arguments = Arguments();
  arguments.tokenizer = nullptr;
  EXPECT_EQ(helpers::BuildTextGeneration(arguments, built), E_POINTER);
  EXPECT_EQ(helpers::BuildTextGeneration({}, built), E_POINTER);
  EXPECT_EQ(built.session.Get(), before);
  helpers::TextGeneration moved = std::move(built);
  EXPECT_EQ(moved.session.Get(), before);
}

TEST_F(CompositionHelpers, BuildAPairOfPipelines) {
  const auto decode = NewModel();
  helpers::PrefillDecodeTextGenerationArguments arguments;
  arguments.runtime = runtime.Get();
  arguments.prefillPipeline = model.Get();
  arguments.prefillTokenInput = {model.Get(), 0};
  arguments.prefillOutput = {model.Get(), 0, kLogits};
  arguments.decodePipeline = decode.Get();
  arguments.decodeTokenInput = {decode.Get(), 0};
  arguments.decodeOutput = {decode.Get(), 0, kLogits};
  arguments.tokenTarget = cpu.Get();
  arguments.tokenizer = tokenizer.Get();
  helpers::PrefillDecodeTextGeneration built;
  EXPECT_EQ(helpers::BuildPrefillDecodeTextGeneration(arguments, built), E_NOT_VALID_STATE);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("logical capacity"));
  arguments.logicalCapacity = 20;
  ASSERT_EQ(helpers::BuildPrefillDecodeTextGeneration(arguments, built), S_OK) << openwinml::LastErrorMessage();
  WINML_TEXT_GENERATION_CAPABILITIES capabilities = {};
  ASSERT_EQ(built.session->GetCapabilities(&capabilities), S_OK);
  EXPECT_EQ(capabilities.executionProfile, WINML_TEXT_GENERATION_EXECUTION_PROFILE_PREFILL_DECODE_CALLER_BOUND);
  built = {};
}

}  // namespace
}  // namespace owml::test
