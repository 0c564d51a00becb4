// What a GGUF model holds: metadata, tensor types, context length, over all its files.
// See inspect_gguf.h.
#include "inspect_gguf.h"

#include <fmt/format.h>
#include <openwinml/engine.h>
#include <openwinml/error.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <openwinml/strings.hpp>
#include <optional>

#include "formats/gguf_shards.h"
#include "json_output.h"
#include "terminal.h"

namespace owml::cli {
namespace {

Json ScalarJson(const GgufValue& value) {
  if (const auto text = value.AsString()) return std::string(*text);
  if (value.type == GgufValueType::kBool) return value.AsBool().value_or(false);
  if (const auto number = value.AsUnsigned()) return *number;
  if (const auto number = value.AsSigned()) return *number;
  if (const auto number = value.AsFloat()) return *number;
  return nullptr;
}

Json ValueJson(const GgufValue& value) {
  if (!value.is_array()) return ScalarJson(value);
  constexpr uint64_t kShown = 8;
  Json first = Json::array();
  if (const auto strings = value.AsStrings()) {
    for (const std::string_view text : *strings) {
      if (first.size() == kShown) break;
      first.push_back(std::string(text));
    }
  } else {
    for (uint64_t i = 0; i < std::min(value.count, kShown); ++i) first.push_back(ScalarJson(value.Element(i)));
  }
  return {{"type", value.TypeName()}, {"count", value.count}, {"first", first}};
}

std::string ValueText(const GgufValue& value) {
  constexpr size_t kWidth = 72;
  if (!value.is_array()) {
    const Json scalar = ScalarJson(value);
    return scalar.is_string() ? OneLine(scalar.get<std::string>(), kWidth) : CompactJson(scalar);
  }
  const std::string first = CompactJson(ValueJson(value)["first"]);
  return fmt::format("{} x {}", Grouped(value.count), OneLine(first, kWidth - 20));
}

// Which engine would run a GGUF file and why, or why none does.
struct EngineOfFile {
  explicit EngineOfFile(const std::string& path) {
    OWML_ENGINE engine = OWML_ENGINE_AUTO;
    BSTR why = nullptr;
    if (FAILED(OwmlFindEngine(openwinml::ToWide(path).c_str(), &engine, &why))) {
      reason = openwinml::LastErrorMessage();
      return;
    }
    name = engine == OWML_ENGINE_NATIVE ? "native" : "llama.cpp";
    reason = openwinml::ToUtf8(why);
    SysFreeString(why);
  }

  std::string name;  // empty where there is none
  std::string reason;
};

struct Total {
  uint64_t tensors = 0;
  uint64_t elements = 0;
  uint64_t bytes = 0;

  void Add(const GgufTensor& tensor) {
    ++tensors;
    elements += tensor.ElementCount();
    bytes += tensor.data.size();
  }
};

class GgufInspection {
 public:
  explicit GgufInspection(const std::string& path)
      : path_(path),
        model_(OpenGgufModel(path)),
        architecture_(metadata().FindString("general.architecture").value_or("unknown")),
        context_(metadata().FindUInt64(architecture_ + ".context_length")),
        engine_(path) {
    for (size_t i = 0; i < model_.files.size(); ++i) {
      bytes_ += model_.maps[i]->bytes().size();
      for (const GgufTensor& tensor : model_.files[i].tensors()) {
        types_[std::string(InfoOf(tensor.type).name)].Add(tensor);
        all_.Add(tensor);
      }
    }
  }

  Json ToJson() const {
    Json report = {{"file", path_},
                   {"format", "GGUF"},
                   {"version", model_.files[0].version()},
                   {"bytes", bytes_},
                   {"architecture", architecture_},
                   {"engine", engine_.name.empty() ? Json(nullptr) : Json(engine_.name)},
                   {"engineReason", engine_.reason},
                   {"contextLength", context_ ? Json(*context_) : Json(nullptr)},
                   {"tensorCount", all_.tensors},
                   {"parameterCount", all_.elements}};
    for (size_t i = 0; i < model_.files.size(); ++i) {
      report["files"].push_back({{"file", model_.paths[i].string()},
                                 {"bytes", model_.maps[i]->bytes().size()},
                                 {"tensorCount", model_.files[i].tensors().size()}});
    }
    for (const GgufEntry& entry : metadata().entries()) {
      report["metadata"][std::string(entry.key)] = ValueJson(entry.value);
    }
    for (const auto& [name, total] : types_) {
      report["tensorTypes"][name] = {{"tensors", total.tensors}, {"elements", total.elements}, {"bytes", total.bytes}};
    }
    for (size_t i = 0; i < model_.files.size(); ++i) {
      for (const GgufTensor& tensor : model_.files[i].tensors()) {
        report["tensors"].push_back(
            {{"name", std::string(tensor.name)},
             {"type", InfoOf(tensor.type).name},
             {"shape", std::vector<uint64_t>(tensor.dims.begin(), tensor.dims.begin() + tensor.rank)},
             {"bytes", tensor.data.size()},
             {"file", model_.paths[i].string()}});
      }
    }
    return report;
  }

  void Print() const {
    const size_t files = model_.files.size();
    std::printf("%s  GGUF version %u, %s, %s%s\n",
                Styled(stdout, Style::kBold, std::filesystem::path(path_).filename().string()).c_str(),
                model_.files[0].version(), OneLine(architecture_, 64).c_str(), HumanBytes(bytes_).c_str(),
                files == 1 ? "" : fmt::format(" in {} files", files).c_str());
    std::printf("parameters %s, context length %s\n", Grouped(all_.elements).c_str(),
                context_ ? Grouped(*context_).c_str() : "not declared");
    std::printf("engine %s: %s\n\n", engine_.name.empty() ? "none" : engine_.name.c_str(), engine_.reason.c_str());
    if (files > 1) PrintFiles();
    Table tensors({"tensor type", "tensors", "elements", "bytes"});
    tensors.AlignRight(1).AlignRight(2).AlignRight(3);
    for (const auto& [name, total] : types_) {
      tensors.Add({name, Grouped(total.tensors), Grouped(total.elements), Grouped(total.bytes)});
    }
    tensors.Add({"all", Grouped(all_.tensors), Grouped(all_.elements), Grouped(all_.bytes)});
    tensors.Print(stdout);
    std::printf("\n");
    Table metadata_table({"key", "type", "value"});
    for (const GgufEntry& entry : metadata().entries()) {
      metadata_table.Add({OneLine(entry.key, 64), entry.value.TypeName(), ValueText(entry.value)});
    }
    metadata_table.Print(stdout);
  }

 private:
  const GgufMetadata& metadata() const { return model_.files[0].metadata(); }

  void PrintFiles() const {
    Table files({"file", "tensors", "bytes"});
    files.AlignRight(1).AlignRight(2);
    for (size_t i = 0; i < model_.files.size(); ++i) {
      files.Add({OneLine(model_.paths[i].filename().string(), 100), Grouped(model_.files[i].tensors().size()),
                 Grouped(model_.maps[i]->bytes().size())});
    }
    files.Print(stdout);
    std::printf("\n");
  }

  const std::string path_;
  const GgufModelFiles model_;
  const std::string architecture_;
  const std::optional<uint64_t> context_;
  const EngineOfFile engine_;
  uint64_t bytes_ = 0;
  std::map<std::string, Total> types_;
  Total all_;
};

}  // namespace

void InspectGguf(const std::string& path, bool as_json) {
  const GgufInspection inspection(path);
  if (as_json) {
    PrintJson(inspection.ToJson());
  } else {
    inspection.Print();
  }
}

}  // namespace owml::cli
