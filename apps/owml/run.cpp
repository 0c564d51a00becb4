// `owml run`: one ONNX model, inputs from .npy files or random, outputs to .npy files or as a summary, timing.
// The quickest way to see that a model loads, runs and how fast.
#include <WinMLRuntimeOrt.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <openwinml/strings.hpp>

#include "base/mapped_file.h"
#include "commands.h"
#include "failure.h"
#include "formats/file_identity.h"
#include "formats/onnx_header.h"
#include "interrupt.h"
#include "json_output.h"
#include "model_session.h"
#include "npy.h"
#include "random_input.h"
#include "tensor_summary.h"
#include "terminal.h"

namespace owml::cli {
namespace {

struct RunArguments {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string output_folder;
  std::vector<std::string> dimensions;
  uint64_t seed = 0;
  uint32_t repeat = 1;
  uint32_t threads = 0;
};

struct Slot {
  std::string name;
  DType dtype = DType::kUndefined;
  Dims dims;
  ComPtr<IWinMLTensor> tensor;
  std::string origin;
};

std::pair<std::string, std::string> SplitPair(const std::string& text, const char* option) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) UsageError(fmt::format("{} '{}': write NAME=VALUE", option, text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

constexpr size_t kNameWidth = 80;

FileIdentity IdentityOf(const std::string& path) {
  const auto file = MappedFile::Open(path);
  return IdentifyFile(file->bytes().first(std::min(file->bytes().size(), kIdentityBytes)));
}

int64_t ParseExtent(const std::string& name, const std::string& text) {
  size_t used = 0;
  int64_t extent = 0;
  try {
    extent = std::stoll(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || extent < 1) {
    UsageError(fmt::format("--dim {}={}: the extent must be a whole number above 0", name, text));
  }
  return extent;
}

class RunCommand {
 public:
  explicit RunCommand(const RunArguments& arguments) : arguments_(arguments) {
    for (const std::string& text : arguments.dimensions) {
      const auto [name, value] = SplitPair(text, "--dim");
      if (!extents_.emplace(name, ParseExtent(name, value)).second) UsageError("--dim " + name + " is given twice");
    }
    for (const std::string& text : arguments.inputs) {
      const auto [name, file] = SplitPair(text, "--input");
      if (!files_.emplace(name, file).second) UsageError("--input " + name + " is given twice");
    }
    for (const std::string& text : arguments.outputs) {
      const auto [name, file] = SplitPair(text, "--output");
      if (!output_files_.emplace(name, file).second) UsageError("--output " + name + " is given twice");
    }
    if (IdentityOf(arguments.model) == FileIdentity::kGguf) {
      throw Failure("'" + arguments.model + "' is a GGUF model: `owml generate` and `owml chat` run it", E_INVALIDARG);
    }
    StageSettings settings;
    settings.threads = arguments.threads;
    settings.dimensions.assign(extents_.begin(), extents_.end());
    session_ = std::make_unique<ModelSession>(arguments.model, settings);
    Check(session_->model()->QueryInterface(IID_PPV_ARGS(names_.GetAddressOf())), "asking for input names");
  }

  int Execute(bool as_json) {
    BindInputs();
    PublishOutputs();
    InterruptScope interrupts;
    std::vector<double> milliseconds;
    for (uint32_t i = 0; i < arguments_.repeat && !InterruptScope::Requested(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      session_->Run();
      milliseconds.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    if (milliseconds.empty()) return kInterrupted;
    Report(milliseconds, as_json);
    return InterruptScope::Requested() ? kInterrupted : kOk;
  }

 private:
  void BindInputs() {
    ComPtr<IWinMLModelSchema> schema;
    Check(session_->model()->QueryInterface(IID_PPV_ARGS(schema.GetAddressOf())), "reading the schema");
    UINT32 count = 0;
    Check(schema->GetInputCount(&count), "reading the schema");
    // The file stays mapped while the header, which points into it, is in use. ORT files carry no symbolic names that
    // we read.
    const auto file_map = MappedFile::Open(arguments_.model);
    OnnxHeader header;
    if (IdentifyFile(file_map->bytes().first(std::min(file_map->bytes().size(), kIdentityBytes))) ==
        FileIdentity::kOnnx) {
      header = ReadOnnxHeader(file_map->bytes(), "'" + arguments_.model + "'");
    }
    RequireDimensions(header);
    for (UINT32 i = 0; i < count; ++i) {
      WINML_TENSOR_SCHEMA_DESC desc = {};
      Check(schema->GetInputTensorDesc(i, &desc), "reading the schema");
      LPCWSTR name = nullptr;
      Check(names_->GetInputName(i, &name), "reading input names");
      Slot slot;
      slot.name = openwinml::ToUtf8(name);
      slot.dtype = static_cast<DType>(desc.dataType);
      slot.dims.assign(desc.dimensions, desc.dimensions + desc.dimensionCount);
      const auto file = files_.find(slot.name);
      if (file != files_.end()) {
        const NpyArray array = Restore(ReadNpy(file->second), slot.dtype, file->second);
        slot.tensor = session_->MakeTensor(array.dtype, array.dims, array.data.data(), array.data.size());
        const HRESULT bound = session_->stage()->BindInput(i, slot.tensor.Get());
        if (bound == E_INVALIDARG) {  // the runtime's sentence knows neither the name nor the file
          throw Failure(fmt::format("input '{}' takes {}, '{}' holds {}", slot.name, ToString(slot.dtype, slot.dims),
                                    file->second, ToString(array.dtype, array.dims)),
                        bound);
        }
        Check(bound, "binding input '" + slot.name + "'");
        slot.dtype = array.dtype;
        slot.dims = array.dims;
        slot.origin = file->second;
        files_.erase(file);
      } else {
        SettleFreeDimensions(slot, header);
        const std::vector<std::byte> data = RandomData(slot.dtype, slot.dims, arguments_.seed, i, slot.name);
        slot.tensor = session_->MakeTensor(slot.dtype, slot.dims, data.data(), data.size());
        slot.origin = fmt::format("random, seed {}", arguments_.seed);
        Check(session_->stage()->BindInput(i, slot.tensor.Get()), "binding input '" + slot.name + "'");
      }
      inputs_.push_back(std::move(slot));
    }
    if (!files_.empty()) UsageError(fmt::format("the model has no input '{}'", files_.begin()->first));
  }

  // A --dim that names nothing would be ignored without a word. ORT files carry no names to compare with.
  void RequireDimensions(const OnnxHeader& header) {
    if (header.inputs.empty()) return;
    for (const auto& [name, extent] : extents_) {
      const auto has = [&name = name](const OnnxValue& port) {
        return std::any_of(port.dims.begin(), port.dims.end(), [&](const auto& dim) { return dim.symbol == name; });
      };
      if (std::none_of(header.inputs.begin(), header.inputs.end(), has) &&
          std::none_of(header.outputs.begin(), header.outputs.end(), has)) {
        UsageError(fmt::format("the model has no free dimension '{}'", name));
      }
    }
  }

  // An open extent takes --dim, else 1; either way the report says so.
  void SettleFreeDimensions(Slot& slot, const OnnxHeader& header) {
    const OnnxValue* info = nullptr;
    for (const OnnxValue& candidate : header.inputs) {
      if (candidate.name == slot.name) info = &candidate;
    }
    for (size_t axis = 0; axis < slot.dims.size(); ++axis) {
      if (slot.dims[axis] != kFreeDimension) continue;
      const std::string name = info && axis < info->dims.size() ? std::string(info->dims[axis].symbol) : std::string();
      const auto chosen = extents_.find(name);
      slot.dims[axis] = chosen != extents_.end() && !name.empty() ? static_cast<uint64_t>(chosen->second) : 1;
      if (chosen == extents_.end() || name.empty()) {
        notes_.push_back(
            name.empty()
                ? fmt::format("input '{}' axis {} is free and has no name: 1 used", slot.name, axis)
                : fmt::format("free dimension '{0}' of input '{1}': 1 used, --dim {0}=N sets it", name, slot.name));
      }
    }
  }

  void PublishOutputs() {
    ComPtr<IWinMLStageSchema> schema;
    Check(session_->stage()->QueryInterface(IID_PPV_ARGS(schema.GetAddressOf())), "reading the schema");
    UINT32 count = 0;
    Check(schema->GetOutputCount(&count), "reading the schema");
    for (UINT32 i = 0; i < count; ++i) {
      Check(session_->stage()->RequestOutput(i), "requesting an output");
      LPCWSTR name = nullptr;
      Check(names_->GetOutputName(i, &name), "reading output names");
      output_names_.push_back(openwinml::ToUtf8(name));
    }
    for (const auto& [name, file] : output_files_) {
      if (std::find(output_names_.begin(), output_names_.end(), name) == output_names_.end()) {
        UsageError(fmt::format("the model has no output '{}'", name));
      }
    }
    if (!arguments_.output_folder.empty()) std::filesystem::create_directories(arguments_.output_folder);
  }

  std::string FileFor(const std::string& name) {
    const auto file = output_files_.find(name);
    if (file != output_files_.end()) return file->second;
    if (arguments_.output_folder.empty()) return {};
    std::string safe = name;
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return c == '/' || c == '\\' || c == ':'; }, '_');
    return (std::filesystem::path(arguments_.output_folder) / (safe + ".npy")).string();
  }

  void Report(std::vector<double> times, bool as_json) {
    UINT32 threads = 0;
    session_->options()->GetIntraOpThreadCount(&threads);
    Json report = {{"model", arguments_.model}, {"engine", session_->EngineText()}, {"threads", threads},
                   {"notes", notes_},           {"inputs", Json::array()},          {"outputs", Json::array()}};
    Table inputs({"input", "type and shape", "from"});
    for (const Slot& slot : inputs_) {
      inputs.Add({OneLine(slot.name, kNameWidth), ToString(slot.dtype, slot.dims), slot.origin});
      report["inputs"].push_back(
          {{"name", slot.name}, {"type", Name(slot.dtype)}, {"shape", slot.dims}, {"from", slot.origin}});
    }
    Table outputs({"output", "type and shape", "min", "max", "mean", "first values"});
    for (UINT32 i = 0; i < output_names_.size(); ++i) report["outputs"].push_back(TakeOutput(i, outputs));
    std::sort(times.begin(), times.end());
    auto percentile = [&](double p) {
      return times[static_cast<size_t>(p * static_cast<double>(times.size() - 1) + 0.5)];
    };
    report["milliseconds"] = {{"runs", times.size()},   {"min", times.front()},    {"p50", percentile(0.5)},
                              {"p90", percentile(0.9)}, {"p99", percentile(0.99)}, {"max", times.back()}};
    if (as_json) {
      PrintJson(report);
      return;
    }
    inputs.Print(stdout);
    for (const std::string& note : notes_) std::printf("%s\n", Styled(stdout, Style::kYellow, note).c_str());
    std::printf("\n");
    outputs.Print(stdout);
    const std::string runs = times.size() == 1 ? "1 run" : fmt::format("{} runs", times.size());
    std::printf("\n%s\n", fmt::format("{}: min {:.3f} ms, median {:.3f}, p90 {:.3f}, p99 {:.3f}, max {:.3f}", runs,
                                      times.front(), percentile(0.5), percentile(0.9), percentile(0.99), times.back())
                              .c_str());
  }

  // Writes output `index` where a file is wanted; adds its row to the table and returns its part of the JSON report.
  Json TakeOutput(UINT32 index, Table& table) {
    const std::string& name = output_names_[index];
    ComPtr<IWinMLTensor> tensor;
    Check(session_->stage()->GetOutput(index, tensor.GetAddressOf()), "reading output '" + name + "'");
    const ReadLock lock(tensor.Get());
    const TensorSummary summary = Summarise(lock.dtype(), lock.dims(), lock.data());
    std::string first;
    for (double value : summary.first) first += fmt::format("{}{:.6g}", first.empty() ? "" : ", ", value);
    if (summary.not_finite) first += fmt::format("  ({} not finite)", summary.not_finite);
    table.Add({OneLine(name, kNameWidth), ToString(lock.dtype(), lock.dims()), fmt::format("{:.6g}", summary.minimum),
               fmt::format("{:.6g}", summary.maximum), fmt::format("{:.6g}", summary.mean), first});
    Json entry = {{"name", name},
                  {"type", Name(lock.dtype())},
                  {"shape", lock.dims()},
                  {"min", summary.minimum},
                  {"max", summary.maximum},
                  {"mean", summary.mean},
                  {"notFinite", summary.not_finite},
                  {"first", summary.first}};
    if (const std::string file = FileFor(name); !file.empty()) {
      WriteNpy(file, lock.dtype(), lock.dims(), {lock.data(), static_cast<size_t>(lock.size())});
      entry["file"] = file;
    }
    return entry;
  }

  const RunArguments& arguments_;
  std::map<std::string, int64_t> extents_;
  std::map<std::string, std::string> files_;         // input name -> .npy
  std::map<std::string, std::string> output_files_;  // output name -> .npy
  std::unique_ptr<ModelSession> session_;
  ComPtr<IWinMLOrtModelSchema> names_;
  std::vector<Slot> inputs_;
  std::vector<std::string> output_names_;
  std::vector<std::string> notes_;
};

}  // namespace

void AddRun(CLI::App& app, const Globals& globals, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand("run", "Run an ONNX model on given or random inputs");
  verb->add_option("MODEL", arguments->model, "An .onnx or .ort file")->required();
  verb->add_option("-i,--input", arguments->inputs, "NAME=FILE.npy; inputs not given are random");
  verb->add_option("-o,--output", arguments->outputs, "NAME=FILE.npy for one output");
  verb->add_option("--output-dir", arguments->output_folder, "Write every output to FOLDER/NAME.npy");
  verb->add_option("--dim", arguments->dimensions, "NAME=EXTENT of a free dimension");
  verb->add_option("--seed", arguments->seed, "Seed of random inputs")->envname("OWML_SEED")->capture_default_str();
  verb->add_option("--repeat", arguments->repeat, "How often to run; timing percentiles follow")
      ->check(CLI::Range(1u, 100000000u))
      ->envname("OWML_REPEAT")
      ->capture_default_str();
  verb->add_option("-t,--threads", arguments->threads, "Threads; 0 = all that the process may use")
      ->check(CLI::Range(0u, 4096u))
      ->envname("OWML_THREADS")
      ->capture_default_str();
  verb->footer(
      "Floats are random in [0, 1), integers 0 to 9.\n\nExamples:\n"
      "  owml run model.onnx\n"
      "  owml run model.onnx --dim batch=8 --repeat 100\n"
      "  owml run model.onnx -i image=cat.npy -o scores=scores.npy");
  verb->callback([arguments, &globals, &action] {
    action = [arguments, &globals] { return RunCommand(*arguments).Execute(globals.json); };
  });
}

}  // namespace owml::cli
