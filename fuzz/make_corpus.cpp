// Writes the seed corpus: make_corpus FOLDER fills FOLDER/gguf and FOLDER/onnx.
// Run by the build, so that the seeds follow the test writers.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/gguf_writer.h"
#include "support/onnx_writer.h"
#include "support/tiny_llama.h"

namespace {

using namespace owml;        // NOLINT
using namespace owml::test;  // NOLINT

class Folder {
 public:
  explicit Folder(const std::filesystem::path& path) : path_(path) { std::filesystem::create_directories(path); }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    good_ = good_ && file.good();
  }
  bool good() const { return good_; }

 private:
  std::filesystem::path path_;
  bool good_ = true;
};

GgufWriter EveryValueType() {
  GgufWriter file;
  file.Add("u8", uint8_t{1})
      .Add("i8", int8_t{-1})
      .Add("u16", uint16_t{2})
      .Add("i16", int16_t{-2})
      .Add("u32", uint32_t{3});
  file.Add("i32", int32_t{-3})
      .Add("u64", uint64_t{4})
      .Add("i64", int64_t{-4})
      .Add("f32", 5.0f)
      .Add("f64", 6.0)
      .Add("b", true);
  file.Add("s", "text").Add("as", std::vector<std::string>{"a", "", "b"}).Add("ai", std::vector<int32_t>{1, 2, 3});
  file.Add("af", std::vector<float>{1, 2})
      .Add("au8", std::vector<uint8_t>{1, 2, 3})
      .Add("general.alignment", uint32_t{32});
  return file;
}

void WriteGguf(Folder* folder) {
  TinyLlamaShape small;
  small.blocks = 1;
  small.width = 4;
  small.heads = 2;
  small.kv_heads = 1;
  small.feed_forward = 4;
  GgufWriter tiny = TinyLlamaMetadata(small);
  // A short vocabulary keeps the seed small, so that mutations reach every part.
  tiny.Add("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "<s>", "</s>", "a"});
  tiny.Add("tokenizer.ggml.scores", std::vector<float>(4))
      .Add("tokenizer.ggml.token_type", std::vector<int32_t>{2, 3, 3, 1});
  folder->Write("metadata", tiny.Bytes());
  GgufWriter model = tiny;
  AddTinyLlamaTensors(&model, small);
  folder->Write("model", model.Bytes());
  GgufWriter experts = tiny;
  experts.Add("llama.expert_count", 4u).Add("llama.expert_used_count", 2u).Add("llama.expert_group_count", 2u);
  experts.Add("llama.expert_group_used_count", 1u).Add("llama.attention.head_count", std::vector<uint32_t>{2});
  experts.Add("llama.rope.scaling.type", "yarn").Add("llama.rope.freq_base", 1e4f).Add("llama.vocab_size", 4u);
  folder->Write("experts", experts.Bytes());
  folder->Write("values", EveryValueType().Bytes());
  GgufWriter shard = tiny;
  shard.Add("split.no", uint16_t{0}).Add("split.count", uint16_t{3}).Add("split.tensors.count", int32_t{3});
  folder->Write("shard", shard.Tensor("a", GgmlType::kF32, {8}).Bytes());
  GgufWriter types;
  for (uint32_t number = 0; number < 64; ++number) {
    if (FindGgmlType(number)) types.Tensor("t" + std::to_string(number), number, {256});
  }
  folder->Write("types", types.Bytes());
  folder->Write("magic", "GGUF");
  GgufWriter overlap;
  overlap.Tensor("a", GgmlType::kF32, {8}).Tensor("b", GgmlType::kF32, {8}, {}, 0);
  folder->Write("overlap", overlap.Bytes());
  GgufWriter count = EveryValueType();
  count.announced_tensors = UINT64_MAX / 24;
  folder->Write("count", count.Bytes());
}

void WriteOnnx(Folder* folder) {
  folder->Write("add", AddModel(OnnxTensor("w", kOnnxFloat, {2}, "12345678")).Bytes());
  const ProtobufWriter external = OnnxExternalTensor(
      "w", kOnnxFloat, {2}, {{"location", "w.bin"}, {"offset", "4088"}, {"length", "8"}, {"checksum", "c"}});
  folder->Write("external", AddModel(external).Bytes());
  folder->Write("climbing", AddModel(OnnxExternalTensor("w", kOnnxFloat, {2}, {{"location", "../w.bin"}})).Bytes());
  folder->Write("absolute", AddModel(OnnxExternalTensor("w", kOnnxFloat, {2}, {{"location", "/w.bin"}})).Bytes());
  OnnxWriter nested = AddModel(external);
  ProtobufWriter graph = ProtobufWriter().Message(5, external);
  for (int depth = 0; depth < 4; ++depth) {
    graph = ProtobufWriter().Message(1, OnnxNode("If", {}, {}, {OnnxGraphAttribute("then_branch", graph)}));
  }
  nested.Node(
      OnnxNode("If", {"x"}, {"z"}, {OnnxGraphAttribute("then_branch", graph), OnnxTensorAttribute("value", external)}));
  nested.graph().Message(15, ProtobufWriter().Message(1, external).Message(2, external));
  nested.model().Message(
      25, ProtobufWriter().Message(7, OnnxNode("Constant", {}, {}, {OnnxTensorAttribute("value", external)})));
  nested.model().Message(20, ProtobufWriter().Message(1, graph));
  folder->Write("nested", nested.Bytes());
  OnnxWriter values;
  values.Input("x", kOnnxFloat16, {"batch", 3, OnnxDim("")}).InputValue(ProtobufWriter().Bytes(1, "no type"));
  values.InputValue(ProtobufWriter().Bytes(1, "list").Message(2, ProtobufWriter().Message(4, ProtobufWriter())));
  values.Output("y", kOnnxInt64, {});
  folder->Write("values", values.Bytes());
  folder->Write("gigabytes", ProtobufWriter().Varint(1, 8).Announced(7, uint64_t{1} << 31, "graph").bytes());
  folder->Write("pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n");
  folder->Write("page", "<!doctype html><html>");
  folder->Write("safetensors", std::string("\x08\0\0\0\0\0\0\0{\"a\":1}", 15));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_corpus FOLDER\n");
    return 2;
  }
  Folder gguf(std::filesystem::path(argv[1]) / "gguf");
  WriteGguf(&gguf);
  Folder onnx(std::filesystem::path(argv[1]) / "onnx");
  WriteOnnx(&onnx);
  return gguf.good() && onnx.good() ? 0 : 1;
}
