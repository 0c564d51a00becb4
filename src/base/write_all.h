// Writing the whole of some bytes to a file, however often the system takes only a part.
// Called where caches and memory files are filled.
#pragma once

#include <cstddef>
#include <span>

namespace owml {

// From where the descriptor stands. False with errno set; then a part may have been written.
bool WriteAll(int descriptor, std::span<const std::byte> bytes);

}  // namespace owml
