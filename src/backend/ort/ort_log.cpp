// Levels of the two logs, and the callback.
#include "backend/ort/ort_log.h"

#include <string>

#include "base/log.h"

namespace owml {
namespace {

OwmlLogLevel LevelOf(OrtLoggingLevel severity) {
  switch (severity) {
    case ORT_LOGGING_LEVEL_VERBOSE:
      return OWML_LOG_LEVEL_DEBUG;
    case ORT_LOGGING_LEVEL_INFO:
      return OWML_LOG_LEVEL_INFO;
    case ORT_LOGGING_LEVEL_WARNING:
      return OWML_LOG_LEVEL_WARNING;
    default:
      return OWML_LOG_LEVEL_ERROR;
  }
}

}  // namespace

void ORT_API_CALL WriteOrtLog(void*, OrtLoggingLevel severity, const char*, const char*, const char*,
                              const char* message) {
  if (message) OwmlLogWrite(LevelOf(severity), "ort", message);
}

OrtLoggingLevel OrtSeverityForLog() {
  switch (OwmlLogGetLevel()) {
    case OWML_LOG_LEVEL_WARNING:
      return ORT_LOGGING_LEVEL_WARNING;
    case OWML_LOG_LEVEL_INFO:
      return ORT_LOGGING_LEVEL_INFO;
    case OWML_LOG_LEVEL_DEBUG:
    case OWML_LOG_LEVEL_TRACE:
      return ORT_LOGGING_LEVEL_VERBOSE;
    default:
      return ORT_LOGGING_LEVEL_ERROR;
  }
}

}  // namespace owml
