// Where the time of runs goes: operations and when they ran. Returned by an accessor of BackendSession; null where a
// session cannot tell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace owml {

struct ProfiledOperation {
  std::string name;
  uint64_t calls = 0;
  uint64_t nanoseconds = 0;
  uint64_t arithmetic = 0;  // multiplications and additions; 0 where they are not counted
  uint64_t bytes = 0;       // of weights and cache; 0 where they are not counted
};

struct ProfiledSpan {
  uint32_t operation = 0;  // its number
  uint32_t layer = 0;
  uint32_t lane = 0;   // 0: the operation as a whole; n: the part of thread n - 1
  uint64_t start = 0;  // nanoseconds since the profile was started
  uint64_t duration = 0;
};

// Bytes for what is between the operations of a batch.
struct WorkBuffers {
  uint64_t reserved = 0;
  uint64_t unshared = 0;  // if no two of them shared a place
};

class ProfiledRuns {
 public:
  virtual ~ProfiledRuns() = default;

  // Forgets what there is and takes the times of the runs that follow, until the capacity of the sequence changes.
  virtual void Start() = 0;
  virtual void Stop() = 0;

  // Of the runs since the start; some may have no calls.
  virtual const std::vector<ProfiledOperation>& operations() const = 0;
  virtual const std::vector<ProfiledSpan>& spans() const = 0;
  virtual uint64_t lost_spans() const = 0;  // beyond what is kept
  virtual WorkBuffers work_buffers() const = 0;
};

}  // namespace owml
