// OwmlQuantizeModel and the names of its types.
// Part of libwinml_runtime.so.
#include <openwinml/quantize.h>

#include <filesystem>

#include "com/guard.h"
#include "com/wide.h"
#ifdef OWML_HAS_LLAMA
#include "llama/quantize.h"
#endif

HRESULT OwmlQuantizeModel(LPCWSTR inputPath, LPCWSTR outputPath, const char* type, const OwmlQuantizeOptions* options,
                          OwmlQuantizeSink sink, void* context) noexcept {
  return owml::Guard("OwmlQuantizeModel", [&] {
    owml::RequirePointer(inputPath, "inputPath");
    owml::RequirePointer(outputPath, "outputPath");
    owml::RequirePointer(type, "type");
#ifdef OWML_HAS_LLAMA
    owml::QuantizeRequest request;
    request.input = std::filesystem::path(owml::ToUtf8(inputPath));
    request.output = std::filesystem::path(owml::ToUtf8(outputPath));
    request.type = type;
    if (options) {
      request.threads = options->threads;
      request.requantize = options->requantize != 0;
      request.keep_output_tensor = options->keepOutputTensor != 0;
      request.pure = options->pure != 0;
      request.overwrite = options->overwrite != 0;
    }
    const auto report = [&](const OwmlQuantizeEvent& event) {
      if (sink) sink(context, &event);
    };
    owml::QuantizeGguf(
        request,
        [&](const owml::QuantizeProgress& progress) {
          report(
              {OWML_QUANTIZE_EVENT_TENSOR, progress.done, progress.total, progress.tensor.c_str(), nullptr, nullptr});
        },
        [&](const owml::QuantizeFallback& fallback) {
          report({OWML_QUANTIZE_EVENT_FALLBACK, 0, 0, fallback.tensor.c_str(), fallback.wanted.c_str(),
                  fallback.used.c_str()});
        });
#else
    (void)options, (void)sink, (void)context;
    throw owml::Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "this build has no llama.cpp, whose quantizer it takes");
#endif
  });
}

const char* OwmlQuantizeTypeName(UINT32 index) noexcept {
#ifdef OWML_HAS_LLAMA
  return owml::QuantizeTypeName(index);
#else
  (void)index;
  return nullptr;
#endif
}
