// The process's log: level from OWML_LOG or the host, messages to the host's sink, or to standard error once a level
// was asked for. Exported by the runtime library.
#include <openwinml/log.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace {

OwmlLogLevel LevelFromEnvironment() {
  static constexpr struct {
    const char* name;
    OwmlLogLevel level;
  } kNames[] = {{"off", OWML_LOG_LEVEL_OFF},   {"error", OWML_LOG_LEVEL_ERROR}, {"warning", OWML_LOG_LEVEL_WARNING},
                {"info", OWML_LOG_LEVEL_INFO}, {"debug", OWML_LOG_LEVEL_DEBUG}, {"trace", OWML_LOG_LEVEL_TRACE}};
  const char* text = std::getenv("OWML_LOG");
  if (text) {
    for (const auto& row : kNames) {
      if (std::strcmp(text, row.name) == 0) return row.level;
    }
  }
  return OWML_LOG_LEVEL_OFF;
}

const char* NameOf(OwmlLogLevel level) {
  switch (level) {
    case OWML_LOG_LEVEL_ERROR:
      return "error";
    case OWML_LOG_LEVEL_WARNING:
      return "warning";
    case OWML_LOG_LEVEL_INFO:
      return "info";
    case OWML_LOG_LEVEL_DEBUG:
      return "debug";
    default:
      return "trace";
  }
}

std::atomic<int>& Level() {
  static std::atomic<int> level{LevelFromEnvironment()};
  return level;
}

struct Sink {
  OwmlLogSink function = nullptr;
  void* context = nullptr;
};

// Held while a sink runs, so that OwmlLogSetSink returns only when the old one is no longer inside. Recursive: a sink
// may log.
std::recursive_mutex& SinkMutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

Sink& CurrentSink() {
  static Sink sink;
  return sink;
}

}  // namespace

extern "C" {

void OwmlLogSetSink(OwmlLogSink sink, void* context) {
  const std::lock_guard lock(SinkMutex());
  CurrentSink() = {sink, context};
}

void OwmlLogSetLevel(OwmlLogLevel level) { Level().store(level, std::memory_order_relaxed); }

OwmlLogLevel OwmlLogGetLevel(void) { return static_cast<OwmlLogLevel>(Level().load(std::memory_order_relaxed)); }

void OwmlLogWrite(OwmlLogLevel level, const char* component, const char* message) {
  if (level == OWML_LOG_LEVEL_OFF || level > OwmlLogGetLevel() || !message) return;
  const std::lock_guard lock(SinkMutex());
  const Sink sink = CurrentSink();
  if (sink.function) {
    sink.function(sink.context, level, component ? component : "", message);
  } else {
    std::fprintf(stderr, "[%s] %s: %s\n", NameOf(level), component ? component : "", message);
  }
}

}  // extern "C"
