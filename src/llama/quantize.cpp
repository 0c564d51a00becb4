// The run of llama.cpp's quantizer: names of types, what its log says of tensors, the finished file put in place.
// Called once for a model.
#include "llama/quantize.h"

#include <llama.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "base/cpu_info.h"
#include "base/error.h"
#include "formats/gguf_types.h"
#include "llama/llama_artifact.h"
#include "llama/llama_hooks.h"

namespace owml {
namespace {

namespace fs = std::filesystem;

struct TypeName {
  const char* name;
  llama_ftype type;
  bool pure = false;
};

// Q4_K and the like stand for the middle recipe, as everywhere. MXFP4 has no recipe for dense models.
constexpr TypeName kTypes[] = {
    {"F32", LLAMA_FTYPE_ALL_F32},
    {"F16", LLAMA_FTYPE_MOSTLY_F16},
    {"BF16", LLAMA_FTYPE_MOSTLY_BF16},
    {"Q8_0", LLAMA_FTYPE_MOSTLY_Q8_0},
    {"Q4_0", LLAMA_FTYPE_MOSTLY_Q4_0},
    {"Q4_1", LLAMA_FTYPE_MOSTLY_Q4_1},
    {"Q5_0", LLAMA_FTYPE_MOSTLY_Q5_0},
    {"Q5_1", LLAMA_FTYPE_MOSTLY_Q5_1},
    {"Q2_K", LLAMA_FTYPE_MOSTLY_Q2_K},
    {"Q3_K", LLAMA_FTYPE_MOSTLY_Q3_K_M},
    {"Q3_K_S", LLAMA_FTYPE_MOSTLY_Q3_K_S},
    {"Q3_K_M", LLAMA_FTYPE_MOSTLY_Q3_K_M},
    {"Q3_K_L", LLAMA_FTYPE_MOSTLY_Q3_K_L},
    {"Q4_K", LLAMA_FTYPE_MOSTLY_Q4_K_M},
    {"Q4_K_S", LLAMA_FTYPE_MOSTLY_Q4_K_S},
    {"Q4_K_M", LLAMA_FTYPE_MOSTLY_Q4_K_M},
    {"Q5_K", LLAMA_FTYPE_MOSTLY_Q5_K_M},
    {"Q5_K_S", LLAMA_FTYPE_MOSTLY_Q5_K_S},
    {"Q5_K_M", LLAMA_FTYPE_MOSTLY_Q5_K_M},
    {"Q6_K", LLAMA_FTYPE_MOSTLY_Q6_K},
    {"IQ4_NL", LLAMA_FTYPE_MOSTLY_IQ4_NL},
    {"IQ4_XS", LLAMA_FTYPE_MOSTLY_IQ4_XS},
    {"MXFP4", LLAMA_FTYPE_MOSTLY_MXFP4_MOE, true},
    {"MXFP4_MOE", LLAMA_FTYPE_MOSTLY_MXFP4_MOE},
};

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

const TypeName& FindType(const std::string& name) {
  const std::string upper = Upper(name);
  for (const TypeName& type : kTypes) {
    if (upper == type.name) return type;
  }
  std::string known;
  for (const TypeName& type : kTypes) known += (known.empty() ? "" : ", ") + std::string(type.name);
  throw Error(E_INVALIDARG, "'" + name + "' is no type to quantize to; known are " + known);
}

// A file that goes away again unless it is put in place.
class PartialFile {
 public:
  explicit PartialFile(const fs::path& target) : target_(target), path_(target) {
    path_ += ".partial-" + std::to_string(getpid());
    // The quantizer would only say that a stream failed.
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    if (!file) ThrowErrno(errno, "cannot write '" + target_.string() + "'");
    std::fclose(file);
  }
  ~PartialFile() {
    std::error_code error;
    fs::remove(path_, error);
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const fs::path& path() const { return path_; }
  void PutInPlace() const {
    std::error_code error;
    fs::rename(path_, target_, error);
    if (error) ThrowErrno(error.value(), "cannot write '" + target_.string() + "'");
  }

 private:
  fs::path target_;
  fs::path path_;
};

// Lines of the quantizer's log: "[  12/ 272] blk.0.attn_q.weight - [...], type = ..." and "warning: NAME - ncols ...
// (required for type q4_K) -> falling back to q5_0".
class LogReader {
 public:
  LogReader(const QuantizeProgressSink& progress, const QuantizeFallbackSink& fallback)
      : progress_(progress), fallback_(fallback) {}

  void Take(std::string_view text) {
    if (text.starts_with('[')) ReadProgress(std::string(text));
    // The sentence about a fallback comes in pieces.
    warning_ = text.starts_with("warning: ") ? std::string(text) : warning_ + std::string(text);
    if (warning_.size() > 4096) warning_.clear();
    if (!warning_.ends_with('\n')) return;
    ReadFallback();
    warning_.clear();
  }

 private:
  void ReadProgress(const std::string& line) const {
    unsigned done = 0, total = 0;
    char name[256] = {};
    if (std::sscanf(line.c_str(), "[%u/%u] %255s", &done, &total, name) != 3 || !progress_ || done == 0) return;
    progress_({done - 1, total, name});
  }

  void ReadFallback() {
    const auto word_after = [this](std::string_view mark) {
      const size_t at = warning_.find(mark);
      if (at == std::string::npos) return std::string();
      const size_t begin = warning_.find_first_not_of(' ', at + mark.size());
      return begin == std::string::npos ? std::string()
                                        : warning_.substr(begin, warning_.find_first_of(" )\n", begin) - begin);
    };
    const std::string used = word_after("falling back to");
    if (used.empty() || !fallback_) return;
    fallback_({word_after("warning:"), Upper(word_after("for type")), Upper(used)});
  }

  const QuantizeProgressSink& progress_;
  const QuantizeFallbackSink& fallback_;
  std::string warning_;
};

// A number of this type is none, or infinite, when all bits of its exponent are set.
template <typename Bits>
bool AllFinite(std::span<const std::byte> bytes, Bits exponent) {
  for (size_t at = 0; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    if ((bits & exponent) == exponent) return false;
  }
  return true;
}

void RequireFinite(const GgufFile& file) {
  for (const GgufTensor& tensor : file.tensors()) {
    const bool finite = tensor.type == GgmlType::kF32    ? AllFinite<uint32_t>(tensor.data, 0x7F800000u)
                        : tensor.type == GgmlType::kF16  ? AllFinite<uint16_t>(tensor.data, 0x7C00u)
                        : tensor.type == GgmlType::kBF16 ? AllFinite<uint16_t>(tensor.data, 0x7F80u)
                                                         : true;
    if (finite) continue;
    throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
                file.label() + ": tensor '" + std::string(tensor.name) + "' holds numbers that are not finite");
  }
}

void RequireUnquantized(const GgufFile& file) {
  for (const GgufTensor& tensor : file.tensors()) {
    const GgmlTypeInfo& info = InfoOf(tensor.type);
    if (info.block_elements <= 1) continue;
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                file.label() + ": tensor '" + std::string(tensor.name) + "' is " + std::string(info.name) +
                    " already; quantizing again loses quality and has to be asked for");
  }
}

}  // namespace

const char* QuantizeTypeName(size_t index) { return index < std::size(kTypes) ? kTypes[index].name : nullptr; }

void QuantizeGguf(const QuantizeRequest& request, const QuantizeProgressSink& progress,
                  const QuantizeFallbackSink& fallback) {
  const TypeName& type = FindType(request.type);
  if (request.output.empty()) throw Error(E_INVALIDARG, "the path of the output is empty");
  const std::string output_label = "'" + request.output.string() + "'";
  std::error_code error;
  if (fs::equivalent(request.input, request.output, error) && !error) {
    throw Error(E_INVALIDARG, output_label + " is the input itself");
  }
  if (fs::exists(request.output, error) && !request.overwrite) {
    throw Error(HRESULT_FROM_WIN32(ERROR_FILE_EXISTS), output_label + " exists already");
  }
  {
    const auto artifact = LlamaArtifact::OpenFile(request.input);
    if (!request.requantize) RequireUnquantized(artifact->gguf());
    RequireFinite(artifact->gguf());
  }

  const PartialFile partial(request.output);
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = type.type;
  params.nthread = static_cast<int32_t>(request.threads > 0 ? request.threads : UsableCpuCount());
  params.allow_requantize = request.requantize;
  params.quantize_output_tensor = !request.keep_output_tensor;
  params.pure = request.pure || type.pure;
  constexpr std::string_view kFailed = "failed to quantize: ";
  InstallLlamaHooks();
  const LlamaErrorLines errors;
  LogReader reader(progress, fallback);
  const LlamaLogListener listener([&](std::string_view text) { reader.Take(text); });
  if (llama_model_quantize(request.input.c_str(), partial.path().c_str(), &params) != 0) {
    std::string reason = errors.Reason();
    if (reason.starts_with(kFailed)) reason.erase(0, kFailed.size());
    if (reason.find("iostream") != std::string::npos) {
      throw Error(HRESULT_FROM_WIN32(ERROR_DISK_FULL), "cannot write all of " + output_label);
    }
    throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), "'" + request.input.string() + "' cannot be quantized to " +
                                                            type.name + ": " +
                                                            (reason.empty() ? "llama.cpp gave no reason" : reason));
  }
  partial.PutInPlace();
}

}  // namespace owml
