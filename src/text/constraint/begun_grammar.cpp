// The quotes and escapes are those of GBNF's own literals.
// See begun_grammar.h.
#include "text/constraint/begun_grammar.h"

#include "base/error.h"

namespace owml::text {
namespace {

constexpr std::string_view kMark = "%begun_with \"";

}  // namespace

std::string BegunGrammar(std::string_view begun_with, std::string_view rules) {
  if (begun_with.empty()) return std::string(rules);
  std::string result(kMark);
  for (char c : begun_with) {
    switch (c) {
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      case '"':
      case '\\':
        result += '\\';
        [[fallthrough]];
      default:
        result += c;
    }
  }
  result += "\"\n";
  result += rules;
  return result;
}

BegunGrammarParts SplitBegunGrammar(std::string_view grammar) {
  BegunGrammarParts parts{{}, grammar};
  if (!grammar.starts_with(kMark)) return parts;
  for (size_t at = kMark.size(); at < grammar.size(); ++at) {
    const char c = grammar[at];
    if (c == '"') {
      parts.rules = grammar.substr(at + 1);
      return parts;
    }
    if (c != '\\') {
      parts.begun_with += c;
      continue;
    }
    const char escaped = ++at < grammar.size() ? grammar[at] : '\0';
    parts.begun_with += escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped == 't' ? '\t' : escaped;
  }
  throw Error(E_INVALIDARG, "grammar, line 1: %begun_with is followed by a text without an end");
}

}  // namespace owml::text
