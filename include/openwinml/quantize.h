// Writing a GGUF model again with smaller tensor types.
// For tools; exported by libwinml_runtime, usable from C and C++. Where llama.cpp was not built in, the answer is
// HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED).
#ifndef OPENWINML_QUANTIZE_H_
#define OPENWINML_QUANTIZE_H_

#include "platform.h"

/// Zero is the usual choice everywhere.
typedef struct OwmlQuantizeOptions {
  UINT32 threads;         ///< 0: as many as the process may use
  BOOL requantize;        ///< also tensors that are quantized already; loses quality
  BOOL keepOutputTensor;  ///< leaves output.weight as it is
  BOOL pure;              ///< every tensor gets the type itself instead of the recipe's mixture
  BOOL overwrite;         ///< replaces an output file that exists
} OwmlQuantizeOptions;

/// What happened to one tensor.
enum OwmlQuantizeEventKind WINML_ENUM_BASE {
  OWML_QUANTIZE_EVENT_TENSOR = 0,    ///< work on the tensor begins; `done` of `total` are finished
  OWML_QUANTIZE_EVENT_FALLBACK = 1,  ///< no block of `wantedType` divides the tensor's rows; it gets `usedType`
};
typedef enum OwmlQuantizeEventKind OwmlQuantizeEventKind;

/// Strings are UTF-8, valid during the call.
typedef struct OwmlQuantizeEvent {
  OwmlQuantizeEventKind kind;
  UINT32 done;
  UINT32 total;
  const char* tensor;
  const char* wantedType;  ///< null unless FALLBACK
  const char* usedType;    ///< null unless FALLBACK
} OwmlQuantizeEvent;

/// Called on the thread that called OwmlQuantizeModel; must not throw.
typedef void (*OwmlQuantizeSink)(void* context, const OwmlQuantizeEvent* event);

/// Reads the GGUF model at `inputPath`, or the first of its shards, and writes one at `outputPath`, which appears when
/// it is complete. `type` is a tensor type or one of llama.cpp's recipes: OwmlQuantizeTypeName lists them; any case.
/// `options` and `sink` may be null.
///
/// E_POINTER; E_INVALIDARG for an unknown type (the sentence lists the known ones) or an output that is the input;
/// HRESULT_FROM_WIN32 of ERROR_FILE_NOT_FOUND, ERROR_FILE_EXISTS, ERROR_INVALID_DATA, and ERROR_NOT_SUPPORTED for
/// quantized tensors without `requantize`.
OWML_API HRESULT OwmlQuantizeModel(LPCWSTR inputPath, LPCWSTR outputPath, const char* type,
                                   const OwmlQuantizeOptions* options, OwmlQuantizeSink sink,
                                   void* context) WINML_NOEXCEPT;

/// The name with this index, a constant; null behind the last.
OWML_API const char* OwmlQuantizeTypeName(UINT32 index) WINML_NOEXCEPT;

#endif  // OPENWINML_QUANTIZE_H_
