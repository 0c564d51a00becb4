// Guards for maps that a library has made of a file. Decision 0019.
// Used for models in llama.cpp, which maps them itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/map_guard.h"

namespace owml {

class FileMapGuards {
 public:
  // For every map of this open file in the process that has no guard yet; for none where the system does not list them.
  // The guards must go before the maps.
  void Add(int descriptor);

  // As MapGuard::RequireWhole, for all of them.
  void RequireWhole(const std::string& file) const;

 private:
  std::vector<std::unique_ptr<MapGuard>> guards_;
};

}  // namespace owml
