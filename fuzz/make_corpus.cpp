// Writes the seed corpus: make_corpus FOLDER fills FOLDER/<target> for each fuzz target.
// Run by the build, so that the seeds follow the test writers.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "constraint_samples.h"
#include "formats/packed_file.h"
#include "native_samples.h"
#include "reply_samples.h"
#include "support/gguf_writer.h"
#include "support/onnx_writer.h"
#include "support/tiny_llama.h"
#include "tokenizer_samples.h"

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

constexpr const char* kTexts[] = {
    "Hello world! Café déjà vu — 123 😊",
    "  leading\t\tand trailing  \r\n\r\n ",
    "a<|end|> <|left|>  word<|right|>\n words Né NÉ",
    "don't I'VE 1234567 \u2029\u0378 <0x-1><0x0A> <s>x</s>",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "中文，日本語の文字 한국어 العربية हिन्दी e\u0301\u0323 ﬁ İıſß",
    "hello\xF0\x9F\x98 \xFF\xC3",
};

void WriteTokenizers(Folder* files, Folder* texts) {
  uint8_t kind = 0;
  for (const std::string& json : fuzz::SampleTokenizerFiles()) {
    files->Write("sample" + std::to_string(kind), json);
    int number = 0;
    for (const char* text : kTexts) {
      const std::string name = "sample" + std::to_string(kind) + "_" + std::to_string(number++);
      texts->Write(name, std::string(1, static_cast<char>(kind)) + text);
    }
    ++kind;
  }
}

void WriteVocabularies(Folder* folder) {
  const std::vector<std::string> words = {"<unk>", "<s>", "</s>", "<0x00>", "<0x41>", "▁", "a",  "b",      "l",
                                          "o",     "▁a",  "ab",   "lo",     "é",      "h", "he", "<|end|>"};
  const auto vocabulary = [](const std::string& model, const std::vector<std::string>& tokens) {
    GgufWriter file;
    file.Add("general.architecture", "llama").Add("tokenizer.ggml.model", model).Add("tokenizer.ggml.tokens", tokens);
    std::vector<float> scores;
    for (size_t i = 0; i < tokens.size(); ++i) scores.push_back(-static_cast<float>(i));
    std::vector<int32_t> types(tokens.size(), 1);
    types[0] = 2;
    types[1] = types[2] = 3;
    types.back() = 4;
    file.Add("tokenizer.ggml.scores", scores).Add("tokenizer.ggml.token_type", types);
    file.Add("tokenizer.ggml.bos_token_id", 1u).Add("tokenizer.ggml.eos_token_id", 2u);
    file.Add("tokenizer.ggml.unknown_token_id", 0u);
    return file;
  };
  folder->Write("llama", vocabulary("llama", words).Bytes());
  folder->Write("llama_no_prefix", vocabulary("llama", words).Add("tokenizer.ggml.add_space_prefix", false).Bytes());
  GgufWriter unigram = vocabulary("t5", words);
  unigram.Add("tokenizer.ggml.remove_extra_whitespaces", true).Add("tokenizer.ggml.add_eos_token", true);
  folder->Write("t5", unigram.Bytes());
  // A trie of one empty node and no replacements.
  unigram.Add("tokenizer.ggml.precompiled_charsmap", std::vector<uint8_t>{4, 0, 0, 0, 0, 0, 0, 0, 'x', 0});
  folder->Write("t5_charsmap", unigram.Bytes());
  GgufWriter bert = vocabulary("bert", {"[UNK]", "[CLS]", "[SEP]", "▁play", "ing", "▁a", "a", "▁.", "[MASK]"});
  bert.Add("tokenizer.ggml.seperator_token_id", 2u).Add("general.name", "phi-3");
  folder->Write("bert", bert.Bytes());
  const std::vector<std::string> merges = {"a b", "l o", "h e"};
  folder->Write("gemma4", vocabulary("gemma4", words).Add("tokenizer.ggml.merges", merges).Bytes());
  std::vector<std::string> bytes = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(text::ToByteAlphabet(std::string(1, static_cast<char>(byte))));
  for (const char* token : {"ab", "lo", "he", "Ġa", "<|end|>"}) bytes.emplace_back(token);
  for (const char* pre : {"default", "gpt-2", "llama-bpe", "qwen2", "deepseek-llm", "deepseek-v3", "gpt-4o", "falcon",
                          "bloom", "tekken", "starcoder", "smollm", "whatever"}) {
    GgufWriter file = vocabulary("gpt2", bytes);
    file.Add("tokenizer.ggml.pre", pre).Add("tokenizer.ggml.merges", merges);
    folder->Write(std::string("gpt2_") + pre, file.Bytes());
  }
}

void WriteConstraints(Folder* schemas, Folder* grammars) {
  int number = 0;
  for (const char* schema : fuzz::kSchemas) schemas->Write("sample" + std::to_string(number++), schema);
  for (const char* grammar : fuzz::kGrammars) {
    grammars->Write("sample" + std::to_string(number++), std::string(1, '\0') + grammar);
  }
  for (const char* expression : fuzz::kExpressions) {
    grammars->Write("sample" + std::to_string(number++), std::string("\1") + expression);
  }
}

// A template, a zero byte and the text of messages; replies behind a byte that says how they are cut.
void WriteConversations(Folder* templates, Folder* replies) {
  int number = 0;
  for (const char* source :
       {fuzz::kJsonCalls, fuzz::kTaggedCalls, "{% for m in messages %}{{ m.content|upper|tojson }}{% endfor %}",
        "{% macro f(x) %}{{ x.split(',')[0] ~ x[1:] }}{% endmacro %}{{ f(messages[0]['content']) }}",
        "{% set ns = namespace(a=1) %}{% for i in range(9) %}{% set ns.a = ns.a * 2 %}{% endfor %}{{ ns.a }}",
        "[INST] {{ messages[-1].content.replace('a', 'b')|indent(2) }} [/INST]"}) {
    templates->Write("sample" + std::to_string(number++),
                     std::string(source) + std::string("\0Hello, \xc3\xa4 <|im_end|>", 21));
  }
  for (const char* reply : fuzz::kReplies) replies->Write("sample" + std::to_string(number++), reply);
}

void WriteNativeModels(Folder* folder) {
  for (const fuzz::Sample& sample : fuzz::NativeModels()) folder->Write(sample.name, sample.bytes);
}

// Inputs as packed_cache_fuzz.cpp reads them.
void WritePackedFiles(Folder* folder) {
  const auto input = [](int what, size_t at, const std::string& bytes = "") {
    return std::string{static_cast<char>(what), static_cast<char>(at), static_cast<char>(at >> 8)} + bytes;
  };
  PackedFileHead head;
  head.source = "model.gguf";
  const auto bytes = head.Bytes();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  folder->Write("right", input(fuzz::kOverRightFile, 0));
  // Magic, key, payload size, checksum, length and text of the source, payload.
  for (const size_t at : {0, 8, 40, 48, 56, 64, 4095, 4096, 6000}) {
    folder->Write("changed_" + std::to_string(at), input(fuzz::kOverRightFile, at, "\x01"));
    folder->Write("cut_" + std::to_string(at), input(fuzz::kOverRightFile | fuzz::kCut, at, "\x01"));
    folder->Write("made_right_" + std::to_string(at), input(fuzz::kOverRightFile | fuzz::kRightChecksum, at, "\x40"));
  }
  folder->Write("longer", input(fuzz::kOverRightFile, 0xFFFF, "x"));
  folder->Write("empty", input(0, 0));
  folder->Write("head", input(0, 0, text.substr(0, 100)));
  folder->Write("another_key", input(fuzz::kRightLength | fuzz::kRightChecksum, 0, text.substr(0, 100)));
  folder->Write("another_checksum", input(fuzz::kRightLength | fuzz::kRightKey, 0, text.substr(0, 100)));
  folder->Write("zeros", input(fuzz::kRightLength | fuzz::kRightKey | fuzz::kRightChecksum, 0, text.substr(0, 100)));
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
  Folder files(std::filesystem::path(argv[1]) / "tokenizer_file");
  Folder texts(std::filesystem::path(argv[1]) / "tokenizer_text");
  WriteTokenizers(&files, &texts);
  Folder vocabularies(std::filesystem::path(argv[1]) / "gguf_vocabulary");
  WriteVocabularies(&vocabularies);
  Folder schemas(std::filesystem::path(argv[1]) / "schema");
  Folder grammars(std::filesystem::path(argv[1]) / "grammar");
  WriteConstraints(&schemas, &grammars);
  Folder templates(std::filesystem::path(argv[1]) / "template");
  Folder replies(std::filesystem::path(argv[1]) / "reply");
  WriteConversations(&templates, &replies);
  Folder models(std::filesystem::path(argv[1]) / "native_model");
  WriteNativeModels(&models);
  Folder packed(std::filesystem::path(argv[1]) / "packed_cache");
  WritePackedFiles(&packed);
  const bool good = templates.good() && replies.good() && schemas.good() && grammars.good() && gguf.good() &&
                    onnx.good() && files.good() && texts.good() && vocabularies.good() && models.good() &&
                    packed.good();
  return good ? 0 : 1;
}
