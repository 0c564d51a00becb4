// A process without ONNX Runtime: ONNX models are refused with a sentence, everything else works.
// A program of its own, because a process looks for the library once.
#include <WinMLRuntime.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <openwinml/strings.hpp>

#include "exports/error_text.h"
#include "support/onnx_writer.h"
#include "support/temporary_folder.h"
#include "support/tiny_llama.h"

namespace owml::test {
namespace {

using Microsoft::WRL::ComPtr;
using testing::HasSubstr;

class WithoutOnnxRuntime : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("OWML_ONNXRUNTIME", "/nowhere/libonnxruntime.so", 1);
    ASSERT_EQ(WinMLCreateRuntime(IID_IWinMLRuntime, reinterpret_cast<void**>(runtime_.GetAddressOf())), S_OK);
  }

  HRESULT Load(const std::string& name, const std::string& bytes) {
    const std::wstring path = openwinml::ToWide(folder_.Write(name, bytes).string());
    return runtime_->LoadModelFromFile(path.c_str(), nullptr, model_.ReleaseAndGetAddressOf());
  }

  TemporaryFolder folder_;
  ComPtr<IWinMLRuntime> runtime_;
  ComPtr<IWinMLModel> model_;
};

TEST_F(WithoutOnnxRuntime, AnOnnxModelIsRefusedWithWhatIsMissing) {
  OnnxWriter model;
  model.Input("x", kOnnxFloat, {2}).Output("y", kOnnxFloat, {2}).Node(OnnxNode("Relu", {"x"}, {"y"}));
  EXPECT_EQ(Load("model.onnx", model.Bytes()), HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED));
  EXPECT_THAT(TakeError().description,
              testing::AllOf(HasSubstr("ONNX Runtime is not available"), HasSubstr("/nowhere/libonnxruntime.so")));
}

TEST_F(WithoutOnnxRuntime, AGgufModelLoadsAndBuilds) {
  ASSERT_EQ(Load("model.gguf", TinyLlama().Bytes()), S_OK) << TakeError().description;
  ComPtr<IWinMLPipelineBuilder> builder;
  ComPtr<IWinMLStage> stage;
  ComPtr<IWinMLPipeline> pipeline;
  ASSERT_EQ(runtime_->CreatePipelineBuilder(&builder), S_OK);
  ASSERT_EQ(builder->AddModelStage(model_.Get(), nullptr, nullptr, &stage), S_OK);
  EXPECT_EQ(builder->Build(&pipeline), S_OK) << TakeError().description;
}

}  // namespace
}  // namespace owml::test
