// The few helpers that llama.cpp's chat code needs from the rest of its common/ folder, without what comes with them
// there: command lines, downloads, a logging thread that prints. Called by the sources of owml-llama-common only.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "common.h"
#include "log.h"

namespace {

// Splits at every occurrence of a delimiter; a text without one is a single part.
std::vector<std::string> SplitAt(const std::string& text, const std::string& delimiter) {
  if (delimiter.empty()) throw std::invalid_argument("string_split: empty delimiter");
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(delimiter, begin)) != std::string::npos; begin = end + delimiter.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string Joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace

std::vector<std::string> string_split(const std::string& str, const std::string& delimiter) {
  return SplitAt(str, delimiter);
}

std::string string_join(const std::vector<std::string>& values, const std::string& separator) {
  return Joined(values, separator);
}

std::string string_repeat(const std::string& str, size_t n) {
  if (!str.empty() && n > str.max_size() / str.size()) throw std::length_error("string_repeat: text too long");
  std::string text;
  text.reserve(str.size() * n);
  while (n-- > 0) text += str;
  return text;
}

void string_replace_all(std::string& s, const std::string& search, const std::string& replace) {
  if (!search.empty()) s = Joined(SplitAt(s, search), replace);
}

// llama_tokenize and llama_token_to_piece answer minus the size they need when the space given does not suffice.
std::vector<llama_token> common_tokenize(const llama_vocab* vocab, const std::string& text, bool add_special,
                                         bool parse_special) {
  if (text.size() > INT32_MAX) throw std::length_error("common_tokenize: text of 2 GiB or more");
  const auto length = static_cast<int32_t>(text.size());
  std::vector<llama_token> tokens(text.size() + 2);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int32_t count = llama_tokenize(vocab, text.data(), length, tokens.data(),
                                         static_cast<int32_t>(tokens.size()), add_special, parse_special);
    if (count == INT32_MIN) break;
    tokens.resize(count < 0 ? -count : count);
    if (count >= 0) return tokens;
  }
  throw std::runtime_error("common_tokenize: the vocabulary cannot encode the text");
}

std::string common_token_to_piece(const llama_vocab* vocab, llama_token token, bool special) {
  std::string piece(32, '\0');
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int32_t size =
        llama_token_to_piece(vocab, token, piece.data(), static_cast<int32_t>(piece.size()), 0, special);
    piece.resize(size < 0 ? -size : size);
    if (size >= 0) return piece;
  }
  throw std::runtime_error("common_token_to_piece: token " + std::to_string(token) + " has no text");
}

// The log goes where ggml's own goes: to the callback set by ggml_log_set.
int common_log_get_verbosity_thold() { return LOG_LEVEL_INFO; }

struct common_log* common_log_main() { return nullptr; }

void common_log_add(struct common_log*, ggml_log_level level, const char* fmt, ...) {
  ggml_log_callback callback = nullptr;
  void* user_data = nullptr;
  ggml_log_get(&callback, &user_data);
  if (callback == nullptr) return;
  va_list arguments;
  va_start(arguments, fmt);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, fmt, arguments);
  va_end(arguments);
  if (length >= 0) {
    std::string text(static_cast<size_t>(length) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), fmt, again);
    callback(level, text.c_str(), user_data);
  }
  va_end(again);
}
