// What sessions of the native engine have of their own; what they share with other engines is in tests/backend/gguf.
#include "backend/native/native_session.h"

#include "backend/native/native_fixture.h"

namespace owml::test {
namespace {

class NativeSessionTest : public testing::Test {
 protected:
  void SetUp() override { model_ = LoadNative(folder_.Write("tiny.gguf", TinyLlama().Bytes())); }
  std::unique_ptr<BackendSession> Session(const SessionOptions& options = {}) const {
    return SessionOn(*model_, options);
  }

  TemporaryFolder folder_;
  std::shared_ptr<const BackendModel> model_;
};

TEST_F(NativeSessionTest, ReportNamesEngineInstructionSetAndThreads) {
  for (const kernels::Isa isa : kernels::UsableIsas()) {
    const ForcedIsa forced(isa);
    const SessionReport report = Session()->report();
    EXPECT_EQ(report.engine, "OpenWinML native (" + std::string(kernels::Name(isa)) + ")");
    EXPECT_FALSE(report.engine_reason.empty());
    EXPECT_EQ(report.engine_kind, Engine::kNative);
    EXPECT_EQ(report.device, DeviceKind::kCpu);
    EXPECT_EQ(report.kv_cache_type, KvCacheType::kF16);
    EXPECT_EQ(report.intra_op_threads, 1u);
  }
}

}  // namespace
}  // namespace owml::test
