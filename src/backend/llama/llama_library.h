// The llama.cpp core in this process: started once, with the best CPU module for this machine and the accepted
// families. Called by the backend before anything else of llama.cpp.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"

namespace owml {

class LlamaLibrary {
 public:
  // Starts the core on the first call. Throws ERROR_NOT_SUPPORTED when no CPU module can be loaded; the next call tries
  // again.
  static const LlamaLibrary& Get();

  // "llama.cpp 0.5.0".
  const std::string& name() const { return name_; }

  // Accelerators of the accepted families.
  const std::vector<Device>& devices() const { return devices_; }

 private:
  LlamaLibrary();

  std::string name_;
  std::vector<Device> devices_;
};

}  // namespace owml
