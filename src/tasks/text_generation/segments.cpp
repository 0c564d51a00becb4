// Malformed segments are refused before unsupported ones.
// See segments.h.
#include "tasks/text_generation/segments.h"

#include <string>

#include "com/guard.h"

namespace owml {
namespace {

void CheckSegment(const WINML_GENERATION_SEGMENT& segment, const std::string& name) {
  const bool has_tokens = segment.tokenCount != 0 || segment.tokenIds;
  const bool has_embeddings = segment.embeddings || segment.layout;
  if (segment.kind == WINML_GENERATION_SEGMENT_KIND_TOKENS) {
    Require(segment.tokenCount != 0 && segment.tokenIds, E_INVALIDARG, name + " is of tokens and has none");
    Require(!has_embeddings, E_INVALIDARG, name + " is of tokens and has embeddings or a layout as well");
  } else if (segment.kind == WINML_GENERATION_SEGMENT_KIND_EMBEDDINGS) {
    Require(segment.embeddings && segment.layout, E_INVALIDARG,
            name + " is of embeddings and lacks " + (segment.embeddings ? "their layout" : "them"));
    Require(!has_tokens, E_INVALIDARG, name + " is of embeddings and has tokens as well");
  } else {
    throw Error(E_INVALIDARG, name + " is of the unknown kind " + std::to_string(segment.kind));
  }
}

}  // namespace

std::vector<uint32_t> TokensOfSegments(std::span<const WINML_GENERATION_SEGMENT> segments) {
  Require(!segments.empty(), E_INVALIDARG, "there are no segments");
  bool embeddings = false;
  uint64_t count = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    CheckSegment(segments[i], "segment " + std::to_string(i));
    embeddings = embeddings || segments[i].kind == WINML_GENERATION_SEGMENT_KIND_EMBEDDINGS;
    count += segments[i].tokenCount;
  }
  Require(segments.back().kind == WINML_GENERATION_SEGMENT_KIND_TOKENS, E_INVALIDARG,
          "the last segment holds embeddings; tokens must follow, because only they give logits");
  Require(!embeddings, HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
          "segments of embeddings are not built yet; GetCapabilities says what is");
  Require(count <= UINT32_MAX, E_INVALIDARG, "the segments have more tokens than 32 bits can count");
  std::vector<uint32_t> tokens;
  tokens.reserve(static_cast<size_t>(count));
  for (const WINML_GENERATION_SEGMENT& segment : segments) {
    tokens.insert(tokens.end(), segment.tokenIds, segment.tokenIds + segment.tokenCount);
  }
  return tokens;
}

}  // namespace owml
