// The log and assertion callbacks that are handed to ggml.
// Installed before the first call of llama.cpp in each of our libraries.
#include "llama/llama_hooks.h"

#include <ggml.h>
#include <llama.h>

#include <mutex>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace owml {
namespace {

// Where this thread's error lines go while a LlamaErrorLines lives.
thread_local std::string* t_error_lines = nullptr;

thread_local const LlamaLogListener::Listener* t_listener = nullptr;

// What ggml was set to when this library came, if that was another library's hook.
ggml_log_callback g_next = nullptr;
void* g_next_data = nullptr;

OwmlLogLevel LevelOf(ggml_log_level level) {
  switch (level) {
    case GGML_LOG_LEVEL_ERROR:
      return t_error_lines ? OWML_LOG_LEVEL_DEBUG : OWML_LOG_LEVEL_ERROR;
    case GGML_LOG_LEVEL_WARN:
      return OWML_LOG_LEVEL_WARNING;
    case GGML_LOG_LEVEL_INFO:  // dozens of lines a model
      return OWML_LOG_LEVEL_DEBUG;
    default:
      return OWML_LOG_LEVEL_TRACE;
  }
}

void OnLog(ggml_log_level level, const char* text, void*) noexcept {
  if (!text) return;
  try {
    if (t_listener) (*t_listener)(text);
    std::string_view line = text;
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    // Continuations are progress dots and the like.
    if (line.empty() || level == GGML_LOG_LEVEL_CONT || level == GGML_LOG_LEVEL_NONE) return;
    if (level == GGML_LOG_LEVEL_ERROR && t_error_lines && t_error_lines->size() < 8192) {
      t_error_lines->append(line).append("\n");
    }
    if (g_next) {
      // The earlier hook does not know that this library is collecting.
      g_next(level == GGML_LOG_LEVEL_ERROR && t_error_lines ? GGML_LOG_LEVEL_DEBUG : level, text, g_next_data);
    } else {
      Log(LevelOf(level), "llama", std::string(line));
    }
  } catch (...) {
    // A lost log line is better than an exception through C frames.
  }
}

void OnAbort(const char* message) { throw LlamaAssertion(message ? message : "assertion failed"); }

}  // namespace

void InstallLlamaHooks() {
  static std::once_flag once;
  std::call_once(once, [] {
    ggml_log_callback current = nullptr;
    void* current_data = nullptr;
    ggml_log_get(&current, &current_data);
    ggml_log_callback initial = nullptr;
    void* initial_data = nullptr;
    ggml_log_set(nullptr, nullptr);
    ggml_log_get(&initial, &initial_data);
    if (current != initial) {
      g_next = current;
      g_next_data = current_data;
    }
    llama_log_set(OnLog, nullptr);  // sets that of ggml too
    ggml_set_abort_callback(OnAbort);
  });
}

LlamaErrorLines::LlamaErrorLines() : outer_(t_error_lines) { t_error_lines = &lines_; }

LlamaErrorLines::~LlamaErrorLines() { t_error_lines = outer_; }

std::string LlamaErrorLines::Reason() const {
  std::string_view line = std::string_view(lines_).substr(0, lines_.find('\n'));
  // "function: error loading model: what" becomes "what".
  for (const std::string_view prefix : {": error loading model: ", ": "}) {
    const size_t position = line.find(prefix);
    if (position != std::string_view::npos && line.substr(0, position).find(' ') == std::string_view::npos) {
      line.remove_prefix(position + prefix.size());
      break;
    }
  }
  return std::string(line);
}

LlamaLogListener::LlamaLogListener(Listener listener) : outer_(t_listener), listener_(std::move(listener)) {
  t_listener = &listener_;
}

LlamaLogListener::~LlamaLogListener() { t_listener = outer_; }

}  // namespace owml
