// Measures constraints over a real vocabulary: compiling, and the mask of allowed tokens at every token of a reply,
// beside llama.cpp's grammar sampler on the same schemas and replies.
// Usage: constraint_masks <vocabulary.gguf> [<folder of the JSON Schema test suite>]
#include <json-schema-to-grammar.h>
#include <llama.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/constraint/compiled_constraint.h"
#include "text/constraint/constraint_matcher.h"
#include "text/tokenizer/model_folder.h"

namespace {

using namespace owml;
// The thread's own processor time: the machine may have other work.
struct Clock {
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  }
};

double Microseconds(double since) { return Clock::now() - since; }

class Times {
 public:
  void Add(double microseconds) { values_.push_back(microseconds); }
  void Print(const char* name) {
    if (values_.empty()) return;
    std::sort(values_.begin(), values_.end());
    double sum = 0;
    for (double value : values_) sum += value;
    std::printf("%-44s n %7zu  median %9.1f  mean %9.1f  p99 %9.1f  max %9.1f us\n", name, values_.size(), At(0.5),
                sum / static_cast<double>(values_.size()), At(0.99), values_.back());
  }

 private:
  double At(double part) const { return values_[static_cast<size_t>(part * static_cast<double>(values_.size() - 1))]; }
  std::vector<double> values_;
};

struct Example {
  const char* name;
  const char* schema;
  const char* reply;
};

// Shapes that applications ask for.
const Example kExamples[] = {
    {"any object", R"({"type":"object"})",
     R"({"title":"A walk in the woods","words":[1,2.5,-3e7,null,true],"nested":{"deep":{"deeper":["x","y",{"z":""}]}},"text":"He said \"no\" and left.\nThen it rained for forty days."})"},
    {"person",
     R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0,"maximum":150},"email":{"type":"string"},"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"},"zip":{"type":"string"}},"required":["street","city"],"additionalProperties":false},"tags":{"type":"array","items":{"type":"string"}}},"required":["name","age"],"additionalProperties":false})",
     R"({"name":"Ada Lovelace","age":36,"email":"ada@example.org","address":{"street":"12 St James's Square","city":"London","zip":"SW1Y 4JH"},"tags":["mathematics","engines","poetry"]})"},
    {"tool call",
     R"({"type":"object","properties":{"name":{"enum":["get_weather","get_time","search"]},"arguments":{"type":"object","properties":{"location":{"type":"string"},"unit":{"enum":["celsius","fahrenheit"]},"days":{"type":"integer","minimum":1,"maximum":14}},"required":["location"],"additionalProperties":false}},"required":["name","arguments"],"additionalProperties":false})",
     R"({"name":"get_weather","arguments":{"location":"Paris, France","unit":"celsius","days":7}})"},
    {"list of records",
     R"({"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"kind":{"enum":["red","green","blue"]},"score":{"type":"number"},"note":{"type":"string","maxLength":200}},"required":["id","kind","score","note"],"additionalProperties":false}})",
     R"([{"id":1,"kind":"red","score":0.75,"note":"first of them, and not the last"},{"id":22,"kind":"blue","score":12,"note":""},{"id":333,"kind":"green","score":-1.5,"note":"Unicode: café, 東京, déjà vu"}])"},
    {"choices",
     R"({"anyOf":[{"type":"object","properties":{"type":{"const":"circle"},"radius":{"type":"number"}},"required":["type","radius"],"additionalProperties":false},{"type":"object","properties":{"type":{"const":"rectangle"},"width":{"type":"number"},"height":{"type":"number"}},"required":["type","width","height"],"additionalProperties":false}]})",
     R"({"type":"rectangle","width":10.5,"height":3})"},
};

// llama.cpp's side: the whole vocabulary as candidates.
class LlamaGrammar {
 public:
  LlamaGrammar(const llama_vocab* vocabulary, const std::string& grammar)
      : vocabulary_(vocabulary), sampler_(llama_sampler_init_grammar(vocabulary, grammar.c_str(), "root")) {}
  ~LlamaGrammar() {
    if (sampler_) llama_sampler_free(sampler_);
  }
  bool ready() const { return sampler_ != nullptr; }
  double Apply() {
    const int32_t count = llama_vocab_n_tokens(vocabulary_);
    candidates_.resize(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) candidates_[static_cast<size_t>(i)] = {i, 0.0f, 0.0f};
    llama_token_data_array array = {candidates_.data(), candidates_.size(), -1, false};
    const auto begin = Clock::now();
    llama_sampler_apply(sampler_, &array);
    return Microseconds(begin);
  }
  void Accept(uint32_t token) { llama_sampler_accept(sampler_, static_cast<llama_token>(token)); }

 private:
  const llama_vocab* vocabulary_;
  llama_sampler* sampler_;
  std::vector<llama_token_data> candidates_;
};

text::ConstraintRequest Request(const std::string& schema) {
  text::ConstraintRequest request;
  request.syntax = text::ConstraintRequest::kJsonSchema;
  request.value = schema;
  return request;
}

int Run(const char* path, const char* suite) {
  const auto tokenizer = text::OpenTokenizer(path).tokenizer;
  auto begin = Clock::now();
  const auto vocabulary = std::make_shared<const text::ConstraintVocabulary>(tokenizer);
  std::printf("vocabulary of %u tokens prepared in %.1f ms\n", vocabulary->limit(), Microseconds(begin) / 1000);
  begin = Clock::now();
  vocabulary->Identity();
  std::printf("identity in %.1f ms\n", Microseconds(begin) / 1000);

  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_model_params parameters = llama_model_default_params();
  parameters.vocab_only = true;
  const std::unique_ptr<llama_model, decltype(&llama_model_free)> model(llama_model_load_from_file(path, parameters),
                                                                        llama_model_free);
  const llama_vocab* llama = model ? llama_model_get_vocab(model.get()) : nullptr;

  Times compile, llama_compile, first, again, llama_mask;
  for (const Example& example : kExamples) {
    text::ConstraintCompiler compiler(vocabulary);
    begin = Clock::now();
    const auto constraint = compiler.Compile(Request(example.schema));
    compile.Add(Microseconds(begin));
    const auto tokens = tokenizer->Encode(example.reply, {});
    std::unique_ptr<LlamaGrammar> grammar;
    if (llama) {
      begin = Clock::now();
      grammar = std::make_unique<LlamaGrammar>(llama, json_schema_to_grammar(common_json::parse(example.schema)));
      llama_compile.Add(Microseconds(begin));
    }
    text::ConstraintMatcher matcher(constraint);
    for (uint32_t token : tokens) {
      begin = Clock::now();
      const bool allowed = matcher.IsAllowed(token);
      first.Add(Microseconds(begin));
      if (!allowed) {
        std::printf("%s: a token of the reply is not allowed\n", example.name);
        break;
      }
      matcher.Accept(token);
      if (grammar && grammar->ready()) {
        llama_mask.Add(grammar->Apply());
        grammar->Accept(token);
      }
    }
    text::ConstraintMatcher second(constraint);
    for (uint32_t token : tokens) {
      begin = Clock::now();
      second.Allowed();
      again.Add(Microseconds(begin));
      second.Accept(token);
    }
  }
  compile.Print("compile, examples");
  llama_compile.Print("compile, examples, llama.cpp");
  first.Print("mask, examples, first generation");
  again.Print("mask, examples, second generation");
  llama_mask.Print("mask, examples, llama.cpp");

  if (!suite) return 0;
  Times suite_compile, random_masks;
  std::mt19937 random(1);
  size_t schemas = 0, refused = 0;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(suite)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  text::ConstraintCompiler compiler(vocabulary);
  for (const auto& file : files) {
    std::ifstream stream(file);
    for (const auto& one : nlohmann::ordered_json::parse(stream)) {
      ++schemas;
      std::shared_ptr<const text::CompiledConstraint> constraint;
      begin = Clock::now();
      try {
        constraint = compiler.Compile(Request(one["schema"].dump()));
      } catch (const Error&) {
        ++refused;
        continue;
      }
      suite_compile.Add(Microseconds(begin));
      // A reply of tokens picked at random among the allowed ones.
      text::ConstraintMatcher matcher(constraint);
      for (int i = 0; i < 60; ++i) {
        begin = Clock::now();
        const text::TokenSet& allowed = matcher.Allowed();
        random_masks.Add(Microseconds(begin));
        std::vector<uint32_t> members;
        for (uint32_t id = 0; id < allowed.limit(); ++id) {
          if (allowed.Has(id)) members.push_back(id);
        }
        const uint32_t picked = members[random() % members.size()];
        matcher.Accept(picked);
        if (vocabulary->IsEos(picked)) break;
      }
    }
  }
  std::printf("test suite: %zu schemas, %zu refused\n", schemas, refused);
  suite_compile.Print("compile, test suite");
  random_masks.Print("mask, test suite, random replies");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: constraint_masks <vocabulary.gguf> [<folder of the JSON Schema test suite>]\n");
    return 2;
  }
  try {
    return Run(argv[1], argc > 2 ? argv[2] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
