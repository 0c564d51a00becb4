// `owml run`: one ONNX model, inputs from .npy files or random, outputs to .npy files or as a summary, timing.
// The quickest way to see that a model loads, runs and how fast.
#include <WinMLRuntimeOrt.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <openwinml/strings.hpp>
#include <random>

#include "base/mapped_file.h"
#include "commands.h"
#include "failure.h"
#include "formats/file_identity.h"
#include "formats/onnx_header.h"
#include "half.h"
#include "interrupt.h"
#include "model_session.h"
#include "npy.h"
#include "terminal.h"

namespace owml::cli {
namespace {

using nlohmann::json;

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

// Floats in [0, 1), integers 0 to 9, booleans 0 or 1; the same seed gives the same values everywhere.
std::vector<std::byte> RandomData(DType dtype, const Dims& dims, std::mt19937_64& generator, const std::string& name) {
  constexpr uint64_t kLimit = uint64_t{1} << 36;
  const std::optional<uint64_t> size = ByteSize(dtype, dims);
  if (!size || *size > kLimit)
    throw Failure(fmt::format("input '{}' {} is too large", name, ToString(dtype, dims)), E_INVALIDARG);
  std::vector<std::byte> data(static_cast<size_t>(*size));
  const size_t width = static_cast<size_t>(BytesPerElement(dtype));
  auto unit = [&] { return static_cast<double>(generator() >> 11) * 0x1p-53; };
  auto put = [&](size_t at, auto value) { std::memcpy(data.data() + at, &value, sizeof value); };
  if (width == 0) {
    for (auto& byte : data) byte = static_cast<std::byte>(generator() & 0x77);
    return data;
  }
  for (size_t at = 0; at + width <= data.size(); at += width) {
    switch (dtype) {
      case DType::kFloat32:
        put(at, static_cast<float>(unit()));
        break;
      case DType::kFloat64:
        put(at, unit());
        break;
      case DType::kFloat16:
        put(at, FloatToHalf(static_cast<float>(unit())));
        break;
      case DType::kBFloat16:
        put(at, FloatToBFloat16(static_cast<float>(unit())));
        break;
      case DType::kBool:
        put(at, static_cast<uint8_t>(generator() & 1));
        break;
      default: {
        const uint64_t value = generator() % 10;  // little-endian: the low bytes are the value in every width
        std::memcpy(data.data() + at, &value, width);
      }
    }
  }
  return data;
}

// The value of element `index` as a double, for the summary.
double ElementAt(DType dtype, const std::byte* data, uint64_t index) {
  auto get = [&](auto zero) {
    std::memcpy(&zero, data + index * sizeof zero, sizeof zero);
    return zero;
  };
  switch (dtype) {
    case DType::kFloat32:
      return get(0.0f);
    case DType::kFloat64:
      return get(0.0);
    case DType::kFloat16:
      return HalfToFloat(get(uint16_t{0}));
    case DType::kBFloat16:
      return BFloat16ToFloat(get(uint16_t{0}));
    case DType::kInt8:
      return get(int8_t{0});
    case DType::kInt16:
      return get(int16_t{0});
    case DType::kUInt16:
      return get(uint16_t{0});
    case DType::kInt32:
      return get(int32_t{0});
    case DType::kUInt32:
      return get(uint32_t{0});
    case DType::kInt64:
      return static_cast<double>(get(int64_t{0}));
    case DType::kUInt64:
      return static_cast<double>(get(uint64_t{0}));
    case DType::kInt4:
    case DType::kUInt4: {
      const int byte = static_cast<int>(data[index / 2]);
      const int nibble = index % 2 ? byte >> 4 : byte & 15;
      return dtype == DType::kInt4 && nibble > 7 ? nibble - 16 : nibble;
    }
    default:
      return get(uint8_t{0});
  }
}

struct Summary {
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  uint64_t not_finite = 0;
  std::vector<double> first;
};

Summary Summarise(const ReadLock& lock) {
  Summary summary;
  const uint64_t count = ElementCount(lock.dims()).value_or(0);
  uint64_t finite = 0;
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double value = ElementAt(lock.dtype(), lock.data(), i);
    if (i < 6) summary.first.push_back(value);
    if (!std::isfinite(value)) {
      ++summary.not_finite;
      continue;
    }
    summary.minimum = finite ? std::min(summary.minimum, value) : value;
    summary.maximum = finite ? std::max(summary.maximum, value) : value;
    sum += value;
    ++finite;
  }
  summary.mean = finite ? sum / static_cast<double>(finite) : 0;
  return summary;
}

class RunCommand {
 public:
  explicit RunCommand(const RunArguments& arguments) : arguments_(arguments) {
    for (const std::string& text : arguments.dimensions) {
      const auto [name, value] = SplitPair(text, "--dim");
      extents_[name] = ParseExtent(name, value);
    }
    StageSettings settings;
    settings.threads = arguments.threads;
    settings.dimensions.assign(extents_.begin(), extents_.end());
    session_ = std::make_unique<ModelSession>(arguments.model, settings);
    ComPtr<IWinMLOrtModelSchema> names;
    Check(session_->model()->QueryInterface(IID_PPV_ARGS(names.GetAddressOf())),
          "asking for input names: `owml run` takes ONNX models");
    names_ = names;
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
    Report(milliseconds, as_json);
    return InterruptScope::Requested() ? kInterrupted : kOk;
  }

 private:
  void BindInputs() {
    ComPtr<IWinMLModelSchema> schema;
    Check(session_->model()->QueryInterface(IID_PPV_ARGS(schema.GetAddressOf())), "reading the schema");
    UINT32 count = 0;
    Check(schema->GetInputCount(&count), "reading the schema");
    std::map<std::string, std::string> files;
    for (const std::string& text : arguments_.inputs) files.insert(SplitPair(text, "--input"));
    // The file stays mapped while the header, which points into it, is in use. ORT files carry no symbolic names that
    // we read.
    const auto file_map = MappedFile::Open(arguments_.model);
    OnnxHeader header;
    if (IdentifyFile(file_map->bytes().first(std::min(file_map->bytes().size(), kIdentityBytes))) ==
        FileIdentity::kOnnx) {
      header = ReadOnnxHeader(file_map->bytes(), "'" + arguments_.model + "'");
    }
    std::mt19937_64 generator(arguments_.seed);
    for (UINT32 i = 0; i < count; ++i) {
      WINML_TENSOR_SCHEMA_DESC desc = {};
      Check(schema->GetInputTensorDesc(i, &desc), "reading the schema");
      LPCWSTR name = nullptr;
      Check(names_->GetInputName(i, &name), "reading input names");
      Slot slot;
      slot.name = openwinml::ToUtf8(name);
      slot.dtype = static_cast<DType>(desc.dataType);
      slot.dims.assign(desc.dimensions, desc.dimensions + desc.dimensionCount);
      const auto file = files.find(slot.name);
      if (file != files.end()) {
        const NpyArray array = ReadNpy(file->second);
        slot.tensor = session_->MakeTensor(array.dtype, array.dims, array.data.data(), array.data.size());
        slot.dtype = array.dtype;
        slot.dims = array.dims;
        slot.origin = file->second;
        files.erase(file);
      } else {
        SettleFreeDimensions(slot, header);
        const std::vector<std::byte> data = RandomData(slot.dtype, slot.dims, generator, slot.name);
        slot.tensor = session_->MakeTensor(slot.dtype, slot.dims, data.data(), data.size());
        slot.origin = fmt::format("random, seed {}", arguments_.seed);
      }
      Check(session_->stage()->BindInput(i, slot.tensor.Get()), "binding input '" + slot.name + "'");
      inputs_.push_back(std::move(slot));
    }
    if (!files.empty()) UsageError(fmt::format("the model has no input '{}'", files.begin()->first));
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
  }

  std::string FileFor(const std::string& name) {
    for (const std::string& text : arguments_.outputs) {
      const auto [wanted, file] = SplitPair(text, "--output");
      if (wanted == name) return file;
    }
    if (arguments_.output_folder.empty()) return {};
    std::string safe = name;
    std::replace_if(
        safe.begin(), safe.end(), [](char c) { return c == '/' || c == '\\' || c == ':'; }, '_');
    return (std::filesystem::path(arguments_.output_folder) / (safe + ".npy")).string();
  }

  void Report(std::vector<double> times, bool as_json) {
    for (const std::string& text : arguments_.outputs) {
      const std::string name = SplitPair(text, "--output").first;
      if (std::find(output_names_.begin(), output_names_.end(), name) == output_names_.end()) {
        UsageError(fmt::format("the model has no output '{}'", name));
      }
    }
    if (!arguments_.output_folder.empty()) std::filesystem::create_directories(arguments_.output_folder);
    json report = {{"model", arguments_.model}, {"engine", session_->EngineText()}, {"notes", notes_}};
    report["inputs"] = json::array();
    report["outputs"] = json::array();
    Table inputs({"input", "type and shape", "from"});
    for (const Slot& slot : inputs_) {
      inputs.Add({slot.name, ToString(slot.dtype, slot.dims), slot.origin});
      report["inputs"].push_back(
          {{"name", slot.name}, {"type", Name(slot.dtype)}, {"shape", slot.dims}, {"from", slot.origin}});
    }
    Table outputs({"output", "type and shape", "min", "max", "mean", "first values"});
    for (UINT32 i = 0; i < output_names_.size(); ++i) {
      ComPtr<IWinMLTensor> tensor;
      Check(session_->stage()->GetOutput(i, tensor.GetAddressOf()), "reading output '" + output_names_[i] + "'");
      const ReadLock lock(tensor.Get());
      const Summary summary = Summarise(lock);
      std::string first;
      for (double value : summary.first) first += fmt::format("{}{:.6g}", first.empty() ? "" : ", ", value);
      if (summary.not_finite) first += fmt::format("  ({} not finite)", summary.not_finite);
      outputs.Add({output_names_[i], ToString(lock.dtype(), lock.dims()), fmt::format("{:.6g}", summary.minimum),
                   fmt::format("{:.6g}", summary.maximum), fmt::format("{:.6g}", summary.mean), first});
      json entry = {{"name", output_names_[i]},        {"type", Name(lock.dtype())}, {"shape", lock.dims()},
                    {"min", summary.minimum},          {"max", summary.maximum},     {"mean", summary.mean},
                    {"notFinite", summary.not_finite}, {"first", summary.first}};
      if (const std::string file = FileFor(output_names_[i]); !file.empty()) {
        WriteNpy(file, lock.dtype(), lock.dims(), {lock.data(), lock.size()});
        entry["file"] = file;
      }
      report["outputs"].push_back(std::move(entry));
    }
    std::sort(times.begin(), times.end());
    auto percentile = [&](double p) {
      return times[static_cast<size_t>(p * static_cast<double>(times.size() - 1) + 0.5)];
    };
    if (!times.empty()) {
      report["milliseconds"] = {{"runs", times.size()},   {"min", times.front()},    {"p50", percentile(0.5)},
                                {"p90", percentile(0.9)}, {"p99", percentile(0.99)}, {"max", times.back()}};
    }
    if (as_json) {
      std::printf("%s\n", report.dump(2, ' ', false, json::error_handler_t::replace).c_str());
      return;
    }
    inputs.Print(stdout);
    for (const std::string& note : notes_) std::printf("%s\n", Styled(stdout, Style::kYellow, note).c_str());
    std::printf("\n");
    outputs.Print(stdout);
    if (!times.empty()) {
      std::printf("\n%s\n", fmt::format("{} run{}: min {:.3f} ms, median {:.3f}, p90 {:.3f}, p99 {:.3f}, max {:.3f}",
                                        times.size(), times.size() == 1 ? "" : "s", times.front(), percentile(0.5),
                                        percentile(0.9), percentile(0.99), times.back())
                                .c_str());
    }
  }

  const RunArguments& arguments_;
  std::map<std::string, int64_t> extents_;
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
