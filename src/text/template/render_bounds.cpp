// The bounds in figures.
// A conversation with a thousand messages takes some 100 000 steps and copies its text about fifty times.
#include "text/template/render_bounds.h"

#include <jinja/limits.h>

#include <chrono>

#include "base/error.h"
#include "text/template/large_stack.h"

namespace owml::text {
namespace {

constexpr size_t kStackBytes = size_t{1} << 30;  // address space; pages come as they are used
constexpr size_t kDepth = 2500;
constexpr size_t kDepthHere = 1000;  // of parsers, some kilobytes each
constexpr uint64_t kSteps = 3'000'000;
constexpr uint64_t kStepsPerByte = 40;
constexpr uint64_t kBytes = uint64_t{64} << 20;
constexpr uint64_t kBytesPerByte = 200;
constexpr std::chrono::milliseconds kTime{3000};  // far above what the steps take, for machines under load
constexpr uint64_t kBytesPerMillisecond = 2000;

class LimitsScope {
 public:
  LimitsScope(size_t input_bytes, size_t depth) : outer_(jinja::active_limits) {
    limits_.steps = kSteps + kStepsPerByte * input_bytes;
    limits_.bytes = kBytes + kBytesPerByte * input_bytes;
    limits_.depth = depth;
    limits_.deadline = std::chrono::steady_clock::now() + kTime +
                       std::chrono::milliseconds(static_cast<int64_t>(input_bytes / kBytesPerMillisecond));
    jinja::active_limits = &limits_;
  }
  ~LimitsScope() { jinja::active_limits = outer_; }
  LimitsScope(const LimitsScope&) = delete;
  LimitsScope& operator=(const LimitsScope&) = delete;

 private:
  jinja::limits limits_;
  jinja::limits* outer_;
};

void Run(size_t input_bytes, size_t depth, const std::string& what, const std::function<void()>& work) {
  const LimitsScope scope(input_bytes, depth);
  try {
    work();
  } catch (const jinja::limit_exceeded& limit) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA), what + " cannot be used: " + limit.what);
  }
}

}  // namespace

void RunBounded(size_t input_bytes, const std::string& what, const std::function<void()>& work) {
  RunOnLargeStack(kStackBytes, [&] { Run(input_bytes, kDepth, what, work); });
}

void RunBoundedHere(size_t input_bytes, const std::string& what, const std::function<void()>& work) {
  Run(input_bytes, kDepthHere, what, work);
}

}  // namespace owml::text
