// From HRESULT to a sentence a person can act on.
// Used by every command after every call.
#include "failure.h"

#include <fmt/format.h>
#include <openwinml/error.h>

namespace owml::cli {

void Check(HRESULT result, const std::string& what) {
  if (SUCCEEDED(result)) return;
  const std::string sentence = openwinml::LastErrorMessage();
  if (sentence.empty()) throw Failure(fmt::format("{} failed (0x{:08X})", what, static_cast<uint32_t>(result)), result);
  // The sentence opens with the method that failed, which helps a programmer and nobody else.
  const size_t colon = sentence.find(": ");
  const bool has_method = colon != std::string::npos && sentence.find("::") < colon;
  throw Failure(has_method ? sentence.substr(colon + 2) : sentence, result);
}

void UsageError(const std::string& sentence) { throw Failure(sentence, E_INVALIDARG, kUsage); }

}  // namespace owml::cli
