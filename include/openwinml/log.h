// The process's log: one level, one sink. Messages of the runtime, of ONNX Runtime and of llama.cpp all end here.
// For host applications; exported by libwinml_runtime, usable from C and C++, callable from any thread.
//
// The level begins as the environment variable OWML_LOG says (off, error, warning, info, debug, trace), else off.
// Without a sink of the host, messages up to the level go to standard error; with level off nothing is written
// anywhere.
#ifndef OPENWINML_LOG_H_
#define OPENWINML_LOG_H_

#include "platform.h"

/// Each level includes those before it.
enum OwmlLogLevel WINML_ENUM_BASE {
  OWML_LOG_LEVEL_OFF = 0,
  OWML_LOG_LEVEL_ERROR = 1,
  OWML_LOG_LEVEL_WARNING = 2,
  OWML_LOG_LEVEL_INFO = 3,
  OWML_LOG_LEVEL_DEBUG = 4,
  OWML_LOG_LEVEL_TRACE = 5,
};
typedef enum OwmlLogLevel OwmlLogLevel;

/// Receives one message: UTF-8 without a newline, valid during the call. Called on the thread that writes, one call at
/// a time; must not throw. `component` is a short word such as "ort".
typedef void (*OwmlLogSink)(void* context, OwmlLogLevel level, const char* component, const char* message);

/// Replaces the sink; null restores standard error. When it returns, the old sink is not running and never runs again.
OWML_API void OwmlLogSetSink(OwmlLogSink sink, void* context);

/// Messages above the level are dropped before they are formatted.
OWML_API void OwmlLogSetLevel(OwmlLogLevel level);

OWML_API OwmlLogLevel OwmlLogGetLevel(void);

/// Writes a message of the host's own. A null `message` or level OFF writes nothing.
OWML_API void OwmlLogWrite(OwmlLogLevel level, const char* component, const char* message);

#endif  // OPENWINML_LOG_H_
