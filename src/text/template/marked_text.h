// Marks around the caller's text inside a rendered string, for renderers that hand out nothing but a string.
// Used by the formatters that stand on llama.cpp's chat formats.
#pragma once

#include <string>

#include "text/template/rendered_text.h"

namespace owml::text {

// Two bytes that occur in none of the texts.
struct TextMarks {
  char begin = 0;
  char end = 0;
};

// Marks around the text; white space at its ends stays outside, where a renderer may trim it. Nothing around a text
// that is only white space.
std::string MarkedInside(const std::string& text, const TextMarks& marks);

// The parts between the marks, which are gone. E_FAIL for marks that are not in pairs.
RenderedText SplitMarked(const std::string& text, const TextMarks& marks);

}  // namespace owml::text
