// Several sessions in several threads: of one model and of different ones, made and run at the same time.
#include <gtest/gtest.h>

#include <thread>

#include "backend/ort/ort_fixture.h"
#include "support/onnx_writer.h"

namespace owml::test {
namespace {

constexpr int kThreads = 4;
constexpr int kRuns = 50;

// y = op(x), float with an open extent.
std::string OneNode(const std::string& op) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {"n"}).Output("y", kOnnxFloat, {"n"}).Node(OnnxNode(op, {"x"}, {"y"}));
  return model.Bytes();
}

void RunMany(BackendSession& session, float value, float expected) {
  for (int run = 1; run <= kRuns; ++run) {
    const auto extent = static_cast<uint64_t>(run % 7 + 1);
    const HostTensor x = Floats({extent}, std::vector<float>(extent, value));
    EXPECT_EQ(ValuesOf<float>(FirstOutput(session, {Bound(x)}).view), std::vector<float>(extent, expected));
  }
}

TEST(OrtThreads, SessionsOfOneModelRunSideBySide) {
  const auto model = Load(Buffer(OneNode("Neg")));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&model, t] {
      const auto session = model->CreateSession({});
      RunMany(*session, static_cast<float>(t), -static_cast<float>(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(OrtThreads, ModelsLoadWhileOthersRun) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 5; ++round) {
        const auto session = Session(OneNode(t % 2 ? "Neg" : "Abs"));
        RunMany(*session, -2, 2);
        EXPECT_EQ(ErrorOf([] { Load(Buffer("no model")); }).first, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(OrtThreads, AFailureInOneSessionLeavesAnotherAlone) {
  const auto good = Session(OneNode("Neg"));
  const auto bad = Session(OneNode("Neg"));
  std::thread failing([&bad] {
    const HostTensor wrong = Zeros(DType::kInt8, {1});
    for (int run = 0; run < kRuns; ++run)
      EXPECT_EQ(ErrorOf([&] { FirstOutput(*bad, {Bound(wrong)}); }).first, E_INVALIDARG);
  });
  RunMany(*good, 1, -1);
  failing.join();
}

}  // namespace
}  // namespace owml::test
