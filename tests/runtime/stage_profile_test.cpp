// The profile of a stage over the ABI.
// Mirrors src/runtime/stage_profile.cpp.
#include "runtime/stage_profile.h"

#include <string>

#include "com/wide.h"
#include "runtime_test_support.h"

namespace owml::test {
namespace {

struct ScriptedProfile final : ProfiledRuns {
  void Start() override { ++starts; }
  void Stop() override { ++stops; }
  const std::vector<ProfiledOperation>& operations() const override { return all; }
  const std::vector<ProfiledSpan>& spans() const override { return times; }
  uint64_t lost_spans() const override { return 7; }
  WorkBuffers work_buffers() const override { return {100, 900}; }

  std::vector<ProfiledOperation> all = {{"norm", 2, 30, 0, 0}, {"down + add", 1, 50, 2000, 400}};
  std::vector<ProfiledSpan> times = {{0, 0, 0, 5, 10}, {1, 3, 0, 20, 50}, {1, 3, 2, 21, 40}};
  int starts = 0, stops = 0;
};

class StageProfile : public PipelineTest {
 protected:
  std::shared_ptr<ScriptedProfile> profile_ = std::make_shared<ScriptedProfile>();
  std::shared_ptr<FakeScript> script_ = Elementwise({2}, Twice);
  ComPtr<IWinMLStage> stage_ = AddModel(script_, L"m");
  ComPtr<IOwmlStageProfile> methods_ = Query<IOwmlStageProfile>(stage_.Get());
};

// Every method's answer to honest arguments.
std::vector<HRESULT> CallAll(IOwmlStageProfile* profile) {
  UINT32 count = 0;
  UINT64 first = 0, second = 0;
  LPWSTR name = nullptr;
  OWML_PROFILED_OPERATION operation{};
  OWML_PROFILED_SPAN span{};
  const std::vector<HRESULT> results = {profile->Start(),
                                        profile->Stop(),
                                        profile->GetOperationCount(&count),
                                        profile->GetOperation(0, &name, &operation),
                                        profile->GetSpanCount(&first, &second),
                                        profile->GetSpans(0, 1, &span),
                                        profile->GetWorkBufferBytes(&first, &second)};
  CoTaskMemFree(name);
  return results;
}

TEST_F(StageProfile, IsNoneBeforeBuild) {
  for (const HRESULT result : CallAll(methods_.Get())) EXPECT_EQ(E_NOT_VALID_STATE, result);
}

TEST_F(StageProfile, IsRefusedWhereTheBackendCannotTell) {
  Build();
  for (const HRESULT result : CallAll(methods_.Get())) EXPECT_EQ(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), result);
}

TEST_F(StageProfile, GivesWhatTheSessionCounted) {
  script_->profile = profile_;
  Build();
  for (const HRESULT result : CallAll(methods_.Get())) EXPECT_EQ(S_OK, result);
  EXPECT_EQ(profile_->starts, 1);
  EXPECT_EQ(profile_->stops, 1);

  UINT32 count = 0;
  methods_->GetOperationCount(&count);
  ASSERT_EQ(count, 2u);
  LPWSTR name = nullptr;
  OWML_PROFILED_OPERATION operation{};
  ASSERT_EQ(S_OK, methods_->GetOperation(1, &name, &operation));
  EXPECT_EQ(ToUtf8(name), "down + add");
  CoTaskMemFree(name);
  EXPECT_EQ(operation.callCount, 1u);
  EXPECT_EQ(operation.nanoseconds, 50u);
  EXPECT_EQ(operation.arithmeticCount, 2000u);
  EXPECT_EQ(operation.byteCount, 400u);

  UINT64 kept = 0, lost = 0;
  ASSERT_EQ(S_OK, methods_->GetSpanCount(&kept, &lost));
  EXPECT_EQ(kept, 3u);
  EXPECT_EQ(lost, 7u);
  OWML_PROFILED_SPAN spans[2] = {};
  ASSERT_EQ(S_OK, methods_->GetSpans(1, 2, spans));
  EXPECT_EQ(spans[1].operation, 1u);
  EXPECT_EQ(spans[1].layer, 3u);
  EXPECT_EQ(spans[1].lane, 2u);
  EXPECT_EQ(spans[1].startNanoseconds, 21u);
  EXPECT_EQ(spans[1].durationNanoseconds, 40u);

  UINT64 reserved = 0, unshared = 0;
  ASSERT_EQ(S_OK, methods_->GetWorkBufferBytes(&reserved, &unshared));
  EXPECT_EQ(reserved, 100u);
  EXPECT_EQ(unshared, 900u);
}

TEST_F(StageProfile, RefusesWhatIsNotThere) {
  script_->profile = profile_;
  Build();
  LPWSTR name = nullptr;
  OWML_PROFILED_OPERATION operation{};
  EXPECT_EQ(E_INVALIDARG, methods_->GetOperation(2, &name, &operation));
  EXPECT_EQ(name, nullptr);
  EXPECT_EQ(E_POINTER, methods_->GetOperation(0, nullptr, &operation));
  EXPECT_EQ(E_POINTER, methods_->GetOperation(0, &name, nullptr));
  OWML_PROFILED_SPAN spans[4] = {};
  EXPECT_EQ(E_INVALIDARG, methods_->GetSpans(0, 4, spans));
  EXPECT_EQ(E_INVALIDARG, methods_->GetSpans(4, 0, spans));
  EXPECT_EQ(E_INVALIDARG, methods_->GetSpans(2, UINT64_MAX, spans));
  EXPECT_EQ(E_POINTER, methods_->GetSpans(0, 3, nullptr));
  EXPECT_EQ(S_OK, methods_->GetSpans(3, 0, nullptr));
  EXPECT_EQ(E_POINTER, methods_->GetOperationCount(nullptr));
}

}  // namespace
}  // namespace owml::test
