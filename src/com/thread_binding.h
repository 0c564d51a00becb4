// Objects that the spec binds to their creation thread.
// Used by sessions, streams and constraints.
#pragma once

#include <thread>

#include "base/error.h"

namespace owml {

class ThreadBinding {
 public:
  // Throws RPC_E_WRONG_THREAD off the creation thread.
  void Check() const {
    if (std::this_thread::get_id() != owner_) {
      throw Error(RPC_E_WRONG_THREAD, "called on another thread than the one that created the object");
    }
  }

 private:
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace owml
