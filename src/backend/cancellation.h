// How a long run is ended early: what it looks at between its steps, and the ability to do so.
// Returned by an accessor of BackendSession; null where a session cannot.
#pragma once

#include <memory>

namespace owml {

class CancellationCheck {
 public:
  virtual ~CancellationCheck() = default;

  // Called often, from the thread of the run.
  virtual bool canceled() noexcept = 0;
};

class CancellableRuns {
 public:
  virtual ~CancellableRuns() = default;

  // Runs from now on look at `check`; null = none. One that finds itself cancelled throws ERROR_CANCELLED, and the
  // sequence is as before it, or empty where the session cannot go back so far.
  virtual void Watch(std::shared_ptr<CancellationCheck> check) = 0;
};

}  // namespace owml
