// From HRESULT to a sentence a person can act on.
// Used by every command after every call.
#include "failure.h"

#include <fmt/format.h>
#include <openwinml/error.h>

#include <algorithm>
#include <cctype>

namespace owml::cli {
namespace {

bool NamesFunction(const std::string& part) {
  const bool one_word =
      std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isalnum(c) || c == ':' || c == '_'; });
  return one_word && (part.find("::") != std::string::npos || part.rfind("WinML", 0) == 0);
}

// The sentence names the methods or functions that failed ("IWinMLStage::BindInput: ..."), each in front of what it
// says, which helps a programmer and nobody else.
std::string WithoutFunctions(const std::string& sentence) {
  std::string plain;
  size_t from = 0;
  for (size_t colon = sentence.find(": "); colon != std::string::npos; colon = sentence.find(": ", from)) {
    const std::string part = sentence.substr(from, colon - from);
    if (!NamesFunction(part)) plain += part + ": ";
    from = colon + 2;
  }
  plain += sentence.substr(from);
  return plain;
}

}  // namespace

void Check(HRESULT result, const std::string& what) {
  if (SUCCEEDED(result)) return;
  const std::string sentence = openwinml::LastErrorMessage();
  if (sentence.empty()) throw Failure(fmt::format("{} failed (0x{:08X})", what, static_cast<uint32_t>(result)), result);
  throw Failure(WithoutFunctions(sentence), result);
}

void UsageError(const std::string& sentence) { throw Failure(sentence, E_INVALIDARG, kUsage); }

}  // namespace owml::cli
