// A rendered conversation with the origin of each piece: the template's own words, or the caller's.
// Made by the formatters; only the template's words may become control tokens.
#pragma once

#include <string>
#include <vector>

namespace owml::text {

struct RenderedPart {
  std::string text;
  bool from_template = true;
};

using RenderedText = std::vector<RenderedPart>;

inline std::string TextOf(const RenderedText& parts) {
  std::string text;
  for (const RenderedPart& part : parts) text += part.text;
  return text;
}

}  // namespace owml::text
