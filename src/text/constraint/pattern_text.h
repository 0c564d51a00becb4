// The text of a pattern while it is read: its characters, where one stands, and messages that say so.
// Used by the parser of patterns and the reader of character classes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace owml::text {

class PatternText {
 public:
  static constexpr char32_t kEnd = 0x110000;

  // Throws E_INVALIDARG: too long, or no UTF-8. Both must outlive this.
  PatternText(std::string_view source, const std::string& where);

  bool AtEnd() const { return at_ >= characters_.size(); }
  char32_t Peek(size_t ahead = 0) const { return at_ + ahead < characters_.size() ? characters_[at_ + ahead] : kEnd; }
  bool Take(char32_t code);
  char32_t Next();

  size_t position() const { return at_; }
  void GoTo(size_t position) { at_ = position; }

  // Throws E_INVALIDARG: "<where>: the pattern "..." <what>, at character 3".
  [[noreturn]] void Fail(const std::string& what) const;

 private:
  std::string_view source_;
  const std::string& where_;
  std::vector<char32_t> characters_;
  size_t at_ = 0;
};

inline bool IsDigit(char32_t code) { return code >= '0' && code <= '9'; }

}  // namespace owml::text
