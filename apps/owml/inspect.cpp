// `owml inspect`: what a model file holds, before anything runs, as tables or as JSON.
// ONNX here: inputs, outputs, operator sets; GGUF in inspect_gguf.cpp.
#include <WinMLRuntime.h>
#include <WinMLRuntimeOrt.h>
#include <fmt/format.h>
#include <wrl/client.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <openwinml/strings.hpp>

#include "base/dtype.h"
#include "base/mapped_file.h"
#include "base/shape.h"
#include "commands.h"
#include "failure.h"
#include "formats/file_identity.h"
#include "formats/onnx_header.h"
#include "inspect_gguf.h"
#include "json_output.h"
#include "terminal.h"

namespace owml::cli {
namespace {

using Microsoft::WRL::ComPtr;

struct OnnxPort {
  std::string name;
  DType dtype = DType::kUndefined;
  Dims dims;
  std::vector<std::string> dim_names;
};

// "float32 [batch, 3, ?, 224]".
std::string PortText(const OnnxPort& port) {
  std::string text = std::string(Name(port.dtype)) + " [";
  for (size_t i = 0; i < port.dims.size(); ++i) {
    if (i) text += ", ";
    if (port.dims[i] != kFreeDimension) {
      text += std::to_string(port.dims[i]);
    } else {
      text += i < port.dim_names.size() && !port.dim_names[i].empty() ? OneLine(port.dim_names[i], 40) : "?";
    }
  }
  return text + "]";
}

Json PortJson(const OnnxPort& port) {
  Json shape = Json::array();
  for (size_t i = 0; i < port.dims.size(); ++i) {
    if (port.dims[i] != kFreeDimension) {
      shape.push_back(port.dims[i]);
    } else {
      shape.push_back(i < port.dim_names.size() && !port.dim_names[i].empty() ? Json(port.dim_names[i])
                                                                              : Json(nullptr));
    }
  }
  return {{"name", port.name}, {"type", Name(port.dtype)}, {"shape", shape}};
}

class OnnxInspection {
 public:
  OnnxInspection(const std::string& path, std::span<const std::byte> bytes, FileIdentity kind) {
    ComPtr<IWinMLRuntime> runtime;
    Check(WinMLCreateRuntime(IID_PPV_ARGS(runtime.GetAddressOf())), "creating the runtime");
    Check(runtime->LoadModelFromFile(openwinml::ToWide(path).c_str(), nullptr, model_.GetAddressOf()),
          "loading the model");
    Check(model_.As(&schema_), "reading the schema");
    Check(model_.As(&names_), "reading input names");
    if (kind == FileIdentity::kOnnx) header_ = std::make_unique<OnnxHeader>(ReadOnnxHeader(bytes, "'" + path + "'"));
    UINT32 count = 0;
    Check(schema_->GetInputCount(&count), "reading the schema");
    for (UINT32 i = 0; i < count; ++i) inputs_.push_back(Port(i, true));
    Check(schema_->GetOutputCount(&count), "reading the schema");
    for (UINT32 i = 0; i < count; ++i) outputs_.push_back(Port(i, false));
  }

  void Print(const std::string& path, uint64_t size) const {
    std::printf("%s  %s, %s\n", Styled(stdout, Style::kBold, std::filesystem::path(path).filename().string()).c_str(),
                header_ ? "ONNX" : "ORT format", HumanBytes(size).c_str());
    if (header_) {
      std::string opsets;
      for (const OnnxOpset& opset : header_->opsets) {
        opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ",
                              opset.domain.empty() ? "ai.onnx" : OneLine(opset.domain, 40), opset.version);
      }
      std::printf("IR version %lld, opset %s, producer %s\n", static_cast<long long>(header_->ir_version),
                  opsets.c_str(),
                  header_->producer_name.empty() ? "not named" : OneLine(header_->producer_name, 60).c_str());
    }
    std::printf("\n");
    PrintPorts("input", inputs_);
    std::printf("\n");
    PrintPorts("output", outputs_);
  }

  Json ToJson(const std::string& path, uint64_t size) const {
    Json report = {{"file", path}, {"format", header_ ? "ONNX" : "ORT"}, {"bytes", size}, {"engine", "onnxruntime"}};
    if (header_) {
      report["irVersion"] = header_->ir_version;
      report["producer"] = std::string(header_->producer_name);
      for (const OnnxOpset& opset : header_->opsets)
        report["opsets"][opset.domain.empty() ? "ai.onnx" : std::string(opset.domain)] = opset.version;
    }
    report["inputs"] = Json::array();
    report["outputs"] = Json::array();
    for (const OnnxPort& port : inputs_) report["inputs"].push_back(PortJson(port));
    for (const OnnxPort& port : outputs_) report["outputs"].push_back(PortJson(port));
    return report;
  }

 private:
  OnnxPort Port(UINT32 index, bool input) const {
    OnnxPort port;
    WINML_TENSOR_SCHEMA_DESC desc = {};
    LPCWSTR name = nullptr;
    Check(input ? schema_->GetInputTensorDesc(index, &desc) : schema_->GetOutputTensorDesc(index, &desc),
          "reading the schema");
    Check(input ? names_->GetInputName(index, &name) : names_->GetOutputName(index, &name), "reading names");
    port.name = openwinml::ToUtf8(name);
    port.dtype = static_cast<DType>(desc.dataType);
    port.dims.assign(desc.dimensions, desc.dimensions + desc.dimensionCount);
    if (header_) {
      for (const OnnxValue& info : input ? header_->inputs : header_->outputs) {
        if (info.name != port.name) continue;
        for (const OnnxDimension& dim : info.dims) port.dim_names.emplace_back(dim.symbol);
      }
    }
    return port;
  }

  static void PrintPorts(const char* title, const std::vector<OnnxPort>& ports) {
    Table table({"", title, "type and shape"});
    table.AlignRight(0);
    for (size_t i = 0; i < ports.size(); ++i)
      table.Add({std::to_string(i), OneLine(ports[i].name, 80), PortText(ports[i])});
    table.Print(stdout);
  }

  ComPtr<IWinMLModel> model_;
  ComPtr<IWinMLModelSchema> schema_;
  ComPtr<IWinMLOrtModelSchema> names_;
  std::unique_ptr<OnnxHeader> header_;
  std::vector<OnnxPort> inputs_;
  std::vector<OnnxPort> outputs_;
};

int Inspect(const std::string& path, bool as_json) {
  const auto file = MappedFile::Open(path);
  const FileIdentity kind = IdentifyFile(file->bytes().first(std::min(file->bytes().size(), kIdentityBytes)));
  if (kind == FileIdentity::kGguf) {
    InspectGguf(path, as_json);
    return kOk;
  }
  // Everything else goes through the runtime, which names what a foreign file is.
  const OnnxInspection inspection(path, file->bytes(), kind);
  if (as_json) {
    PrintJson(inspection.ToJson(path, file->bytes().size()));
  } else {
    inspection.Print(path, file->bytes().size());
  }
  return kOk;
}

}  // namespace

void AddInspect(CLI::App& app, const Globals& globals, Action& action) {
  auto path = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("inspect", "Show what a model file holds");
  verb->add_option("FILE", *path, "An .onnx, .ort or .gguf file, of a sharded GGUF model the first")->required();
  verb->footer(
      "Free dimensions show their name, or ? where they have none.\n\nExamples:\n"
      "  owml inspect model.onnx\n"
      "  owml inspect model.gguf --json | jq .tensorTypes");
  verb->callback([path, &globals, &action] { action = [path, &globals] { return Inspect(*path, globals.json); }; });
}

}  // namespace owml::cli
