// Prompts that come in segments, each tokens or embeddings.
// Used by sessions.
#pragma once

#include <WinMLTextGenerationTask.h>

#include <cstdint>
#include <span>
#include <vector>

namespace owml {

// The tokens of all segments in a row. Throws E_INVALIDARG for a segment that is neither form or both, or when the last
// one holds no tokens; ERROR_NOT_SUPPORTED for embeddings.
std::vector<uint32_t> TokensOfSegments(std::span<const WINML_GENERATION_SEGMENT> segments);

}  // namespace owml
