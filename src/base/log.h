// Writing to the process's one log sink, which the host can replace (openwinml/log.h).
// Used by every floor; nothing here prints by itself.
#pragma once

#include <openwinml/log.h>

#include <string>

namespace owml {

// True when a message of `level` would reach the sink; guards costly formatting.
inline bool LogEnabled(OwmlLogLevel level) { return level <= OwmlLogGetLevel(); }

// `component` is a short constant such as "ort"; `message` is UTF-8 without a newline.
inline void Log(OwmlLogLevel level, const char* component, const std::string& message) {
  if (LogEnabled(level)) OwmlLogWrite(level, component, message.c_str());
}

}  // namespace owml
