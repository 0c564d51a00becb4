// The sentence behind the last failed call of this thread.
// For host applications; exported by libwinml_runtime. GetErrorInfo takes the error object away, these leave it.
#ifndef OPENWINML_ERROR_H_
#define OPENWINML_ERROR_H_

#include "platform.h"

/// Copies the sentence as UTF-8 and returns its length in bytes without the terminator; 0 when there is none. With room
/// for less, what fits is copied (it always ends in a terminator, and may end within a character); `buffer` may be
/// null.
OWML_API size_t OwmlGetLastErrorMessage(char* buffer, size_t capacity);

#ifdef __cplusplus
#include <string>

namespace openwinml {

/// The sentence as UTF-8; empty when there is none.
inline std::string LastErrorMessage() {
  std::string text(OwmlGetLastErrorMessage(nullptr, 0), '\0');
  if (!text.empty()) OwmlGetLastErrorMessage(text.data(), text.size() + 1);
  return text;
}

}  // namespace openwinml
#endif

#endif  // OPENWINML_ERROR_H_
