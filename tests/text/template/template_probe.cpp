// Renders templates under Python's rules: from standard input, in turn, the template and the variables (JSON), each
// behind its length in 32 bits; writes a byte, 1 for text and 0 for an error, and the text or the error.
// Run by jinja_oracle_test.py.
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/error.h"
#include "text/template/jinja_template.h"

namespace {

bool ReadText(std::string* text) {
  uint32_t size = 0;
  if (std::fread(&size, sizeof(size), 1, stdin) != 1) return false;
  text->resize(size);
  return std::fread(text->data(), 1, size, stdin) == size;
}

void WriteText(char kind, const std::string& text) {
  const auto size = static_cast<uint32_t>(text.size());
  std::fputc(kind, stdout);
  std::fwrite(&size, sizeof(size), 1, stdout);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

int main() {
  for (std::string source; ReadText(&source);) {
    owml::text::JinjaInput input;
    if (!ReadText(&input.variables_json)) return 2;
    input.bos = "<s>";
    input.eos = "</s>";
    input.unix_seconds = 1700000000;
    try {
      WriteText(1, owml::text::TextOf(owml::text::JinjaTemplate(source, "template").Render(input)));
    } catch (const owml::Error& error) {
      WriteText(0, error.what());
    }
  }
  return 0;
}
