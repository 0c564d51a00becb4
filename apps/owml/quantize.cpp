// `owml quantize`: a GGUF model in other tensor types.
// Shows progress, then what the new file holds; a tensor that could not get the wanted type is named.
#include <fmt/format.h>
#include <openwinml/quantize.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <openwinml/strings.hpp>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "commands.h"
#include "failure.h"
#include "formats/gguf.h"
#include "json_output.h"
#include "terminal.h"

namespace owml::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  std::string type;
  uint32_t threads = 0;
  bool requantize = false;
  bool keep_output = false;
  bool pure = false;
  bool force = false;
};

struct Fallback {
  std::string tensor;
  std::string wanted;
  std::string used;
};

struct Watch {
  ProgressBar bar;
  std::vector<Fallback> fallbacks;
};

void OnEvent(void* context, const OwmlQuantizeEvent* event) {
  auto* watch = static_cast<Watch*>(context);
  if (event->kind == OWML_QUANTIZE_EVENT_TENSOR) {
    watch->bar.Show(event->done, event->total, event->tensor);
  } else {
    watch->fallbacks.push_back({event->tensor, event->wantedType, event->usedType});
  }
}

std::string TypeList() {
  std::string names;
  for (UINT32 i = 0; const char* name = OwmlQuantizeTypeName(i); ++i) names += (i ? ", " : "") + std::string(name);
  return names;
}

struct Total {
  uint64_t tensors = 0;
  uint64_t bytes = 0;
};

std::map<std::string, Total> Totals(const std::string& path) {
  const auto mapped = MappedFile::Open(path);
  const GgufFile file = GgufFile::Parse(mapped->bytes(), "'" + path + "'");
  std::map<std::string, Total> totals;
  for (const GgufTensor& tensor : file.tensors()) {
    Total& total = totals[std::string(InfoOf(tensor.type).name)];
    ++total.tensors;
    total.bytes += tensor.data.size();
  }
  return totals;
}

int Quantize(const Options& options, bool as_json) {
  OwmlQuantizeOptions native{};
  native.threads = options.threads;
  native.requantize = options.requantize;
  native.keepOutputTensor = options.keep_output;
  native.pure = options.pure;
  native.overwrite = options.force;
  std::vector<Fallback> fallbacks;
  {
    Watch watch;
    Check(OwmlQuantizeModel(openwinml::ToWide(options.input).c_str(), openwinml::ToWide(options.output).c_str(),
                            options.type.c_str(), &native, OnEvent, &watch),
          "cannot quantize '" + options.input + "'");
    fallbacks = std::move(watch.fallbacks);
  }
  const uint64_t before = std::filesystem::file_size(options.input);
  const uint64_t after = std::filesystem::file_size(options.output);
  const auto totals = Totals(options.output);
  if (as_json) {
    Json report = {{"input", options.input},    {"output", options.output}, {"type", options.type},
                   {"inputBytes", before},      {"outputBytes", after},     {"tensorTypes", Json::object()},
                   {"fallbacks", Json::array()}};
    for (const auto& [name, total] : totals)
      report["tensorTypes"][name] = {{"tensors", total.tensors}, {"bytes", total.bytes}};
    for (const Fallback& fallback : fallbacks) {
      report["fallbacks"].push_back(
          {{"tensor", fallback.tensor}, {"wanted", fallback.wanted}, {"used", fallback.used}});
    }
    PrintJson(report);
    return kOk;
  }
  Table table({"tensor type", "tensors", "bytes"});
  table.AlignRight(1).AlignRight(2);
  for (const auto& [name, total] : totals) table.Add({name, Grouped(total.tensors), Grouped(total.bytes)});
  table.Print(stdout);
  std::printf("\n%s: %s, was %s\n", options.output.c_str(), HumanBytes(after).c_str(), HumanBytes(before).c_str());
  if (!fallbacks.empty()) {
    std::printf("\n%zu tensors got another type, because the wanted one has no block that divides their rows:\n",
                fallbacks.size());
    Table list({"tensor", "wanted", "used"});
    for (const Fallback& fallback : fallbacks) list.Add({OneLine(fallback.tensor, 64), fallback.wanted, fallback.used});
    list.Print(stdout);
  }
  return kOk;
}

}  // namespace

void AddQuantize(CLI::App& app, const Globals& globals, Action& action) {
  CLI::App* verb = app.add_subcommand("quantize", "Write a GGUF model with smaller tensor types");
  auto options = std::make_shared<Options>();
  verb->add_option("input", options->input, "A .gguf file, or the first of its shards")->required();
  verb->add_option("output", options->output, "The .gguf file to write")->required();
  verb->add_option("type", options->type, "One of " + TypeList())->required();
  verb->add_option("-t,--threads", options->threads, "Threads; 0 = all that the process may use")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  verb->add_flag("--requantize", options->requantize, "Also tensors that are quantized already; loses quality");
  verb->add_flag("--keep-output", options->keep_output, "Leave output.weight as it is");
  verb->add_flag("--pure", options->pure, "Give every tensor the type itself instead of the recipe's mixture");
  verb->add_flag("-f,--force", options->force, "Replace the output where it exists");
  verb->footer(
      "Examples:\n"
      "  owml quantize model-f16.gguf model-q4.gguf Q4_K_M\n"
      "  owml quantize model-q8.gguf model-q4.gguf Q4_0 --requantize\n"
      "  owml quantize model.gguf out.gguf Q5_K_M --json");
  verb->callback(
      [options, &globals, &action] { action = [options, &globals] { return Quantize(*options, globals.json); }; });
}

}  // namespace owml::cli
