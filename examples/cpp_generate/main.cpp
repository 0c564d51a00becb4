// Continues a text with a GGUF model: tokens in, logits out, the likeliest token again.
//
//   cpp_generate MODEL.gguf PROMPT [COUNT]     the continuation goes to standard output; COUNT tokens at most, else 32
//
// A failed call throws WinML::Error, whose text is the library's sentence.
#include <WinMLRuntimeRAII.h>
#include <WinMLTokenizer.h>
#include <wrl/client.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <openwinml/strings.hpp>
#include <string>
#include <vector>

namespace {

using Microsoft::WRL::ComPtr;

std::vector<UINT32> Take(UINT32 count, UINT32* ids) {
  const WinML::TaskMemory<UINT32> owned(ids);
  return std::vector<UINT32>(ids, ids + count);
}

class Generator {
 public:
  explicit Generator(const std::wstring& path) : runtime_(WinML::Runtime::Create()) {
    const WinML::Model model = runtime_.LoadModelFromFile(path);
    const WinML::ExecutionTarget cpu = runtime_.CreateCpuExecutionTarget();
    const WinML::PipelineBuilder builder = runtime_.CreatePipelineBuilder();
    stage_ = builder.AddModelStage(model, cpu);
    pipeline_ = builder.Build();
    tensors_ = cpu.As<WinML::RawTensorFactory>();
    stage_.RequestOutput(0);

    // A GGUF file holds its tokenizer.
    WinML::Check(WinMLCreateTokenizerFromFile(path.c_str(), &tokenizer_), "WinMLCreateTokenizerFromFile");
    WinML::Check(tokenizer_->CreateDecoder(&decoder_), "CreateDecoder");
    ComPtr<IWinMLTokenizerMetadata> metadata;
    WinML::Check(tokenizer_.As(&metadata), "QueryInterface(IWinMLTokenizerMetadata)");
    UINT32 count = 0;
    UINT32* ids = nullptr;
    WinML::Check(metadata->GetEosTokenIds(&count, &ids), "GetEosTokenIds");
    end_ = Take(count, ids);
  }

  void Continue(const std::wstring& prompt, int limit) {
    UINT32 count = 0;
    UINT32* ids = nullptr;
    WinML::Check(tokenizer_->Encode(prompt.c_str(), WINML_TOKENIZER_ENCODE_FLAG_ADD_SPECIAL_TOKENS, &count, &ids),
                 "Encode");
    std::vector<UINT32> tokens = Take(count, ids);
    for (int i = 0; i < limit; ++i) {
      const UINT32 next = Likeliest(tokens);
      if (std::find(end_.begin(), end_.end(), next) != end_.end()) break;
      LPCWSTR text = nullptr;
      WinML::Check(decoder_->DecodeToken(next, &text), "DecodeToken");
      std::cout << openwinml::ToUtf8(text) << std::flush;
      tokens = {next};
    }
    std::cout << '\n';
  }

 private:
  // Evaluates the tokens after those that the stage has seen already; its state stays between runs.
  UINT32 Likeliest(const std::vector<UINT32>& tokens) {
    const UINT64 shape[] = {1, tokens.size()};
    const WINML_TENSOR_DESC desc = {WINML_TENSOR_DATA_TYPE_INT32, 2, shape};
    stage_.BindInput(0, tensors_.CreateTensor(desc, tokens.data(), tokens.size() * sizeof(UINT32)));
    pipeline_.Run();

    const WinML::Tensor logits = stage_.GetOutput(0);
    const WINML_TENSOR_DESC found = logits.GetDesc();
    const WinML::TensorDataLock lock = logits.Lock(WINML_TENSOR_LOCK_MODE_READ, WINML_TENSOR_LOCK_FLAG_NONE);
    BYTE* data = nullptr;
    UINT64 size = 0;
    lock.GetData(data, size);
    const float* end = reinterpret_cast<const float*>(data + size);
    const float* row = end - found.dimensions[found.dimensionCount - 1];  // of the last token
    return static_cast<UINT32>(std::max_element(row, end) - row);
  }

  WinML::Runtime runtime_;
  WinML::Stage stage_;
  WinML::Pipeline pipeline_;
  WinML::RawTensorFactory tensors_;
  ComPtr<IWinMLTokenizer> tokenizer_;
  ComPtr<IWinMLTokenizerDecoder> decoder_;
  std::vector<UINT32> end_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: cpp_generate MODEL.gguf PROMPT [COUNT]\n";
    return 2;
  }
  try {
    Generator generator(openwinml::ToWide(argv[1]));
    generator.Continue(openwinml::ToWide(argv[2]), argc > 3 ? std::atoi(argv[3]) : 32);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "cpp_generate: " << error.what() << '\n';
    return 1;
  }
}
