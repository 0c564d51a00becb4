// Marks are single bytes, so that no cut through a string leaves half of one.
// Called by the formatters.
#include "text/template/marked_text.h"

#include "base/error.h"

namespace owml::text {

std::string MarkedInside(const std::string& text, const TextMarks& marks) {
  static constexpr const char* kSpace = " \t\n\v\f\r";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return text;
  const size_t last = text.find_last_not_of(kSpace);
  return text.substr(0, first) + marks.begin + text.substr(first, last + 1 - first) + marks.end + text.substr(last + 1);
}

RenderedText SplitMarked(const std::string& text, const TextMarks& marks) {
  RenderedText parts;
  bool inside = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != marks.begin && text[i] != marks.end) continue;
    if (i > begin) parts.push_back({text.substr(begin, i - begin), !inside});
    begin = i + 1;
    if (i == text.size()) break;
    if ((text[i] == marks.begin) == inside) throw Error(E_FAIL, "the origin of the rendered text was lost");
    inside = !inside;
  }
  if (inside) throw Error(E_FAIL, "the origin of the rendered text was lost");
  return parts;
}

}  // namespace owml::text
