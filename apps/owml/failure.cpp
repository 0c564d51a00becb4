// From HRESULT to a sentence a person can act on.
// Used by every command after every call.
#include "failure.h"

#include <fmt/format.h>
#include <openwinml/error.h>

#include <algorithm>
#include <cctype>

namespace owml::cli {
namespace {

// The sentence opens with the method or function that failed ("IWinMLStage::BindInput: ..."), which helps a programmer
// and nobody else.
std::string WithoutFunction(const std::string& sentence) {
  const size_t colon = sentence.find(": ");
  if (colon == std::string::npos || colon + 2 == sentence.size()) return sentence;
  const std::string opening = sentence.substr(0, colon);
  const bool one_word = std::all_of(opening.begin(), opening.end(),
                                    [](unsigned char c) { return std::isalnum(c) || c == ':' || c == '_'; });
  const bool function = opening.find("::") != std::string::npos || opening.rfind("WinML", 0) == 0;
  return one_word && function ? sentence.substr(colon + 2) : sentence;
}

}  // namespace

void Check(HRESULT result, const std::string& what) {
  if (SUCCEEDED(result)) return;
  const std::string sentence = openwinml::LastErrorMessage();
  if (sentence.empty()) throw Failure(fmt::format("{} failed (0x{:08X})", what, static_cast<uint32_t>(result)), result);
  throw Failure(WithoutFunction(sentence), result);
}

void UsageError(const std::string& sentence) { throw Failure(sentence, E_INVALIDARG, kUsage); }

}  // namespace owml::cli
