// The most memory that this process has had.
// Called by `owml bench`.
#pragma once

#include <cstdint>

namespace owml::cli {

// Bytes in physical memory at most, mapped files included; 0 where the system does not tell.
uint64_t PeakMemoryBytes();

}  // namespace owml::cli
