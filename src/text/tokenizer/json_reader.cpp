// The JSON grammar (RFC 8259), strictly.
// Called by the readers of tokenizer files.
#include "text/tokenizer/json_reader.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "formats/bad_data.h"
#include "text/unicode/utf8.h"

namespace owml::text {

namespace {

// What ends a word or a number, and what matters between the strings of an array or object.
constexpr uint8_t kEndsValue = 1;
constexpr uint8_t kEndsRest = 2;
constexpr std::array<uint8_t, 256> kCharacterKinds = [] {
  std::array<uint8_t, 256> kinds = {};
  for (const char c : std::string_view(",}] \n\r\t")) kinds[static_cast<uint8_t>(c)] |= kEndsValue;
  for (const char c : std::string_view("\"{}[]")) kinds[static_cast<uint8_t>(c)] |= kEndsRest;
  return kinds;
}();

}  // namespace

JsonReader::JsonReader(std::string_view text, std::string label, size_t offset)
    : text_(text), label_(std::move(label)), offset_(offset) {
  if (offset == 0 && text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

void JsonReader::Fail(const std::string& what) const {
  ThrowBadData(label_, "byte " + std::to_string(offset_ + at_) + ": " + what);
}

void JsonReader::Space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return;
    ++at_;
  }
}

char JsonReader::Next() {
  Space();
  if (at_ >= text_.size()) Fail("the JSON text ends too early");
  return text_[at_];
}

void JsonReader::Expect(char c) {
  if (Next() != c) Fail(std::string("'") + c + "' expected");
  ++at_;
}

void JsonReader::Push() {
  if (fresh_.size() >= kMaxDepth) Fail("the JSON text is nested more than " + std::to_string(kMaxDepth) + " deep");
  fresh_.push_back(1);
}

JsonReader::Kind JsonReader::Peek() {
  switch (Next()) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBool;
    case 'n':
      return Kind::kNull;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
      return Kind::kNumber;
    default:
      Fail("a JSON value expected");
  }
}

void JsonReader::BeginObject() {
  Expect('{');
  Push();
}

void JsonReader::BeginArray() {
  Expect('[');
  Push();
}

bool JsonReader::Separated(char close) {
  const bool first = fresh_.back() != 0;
  fresh_.back() = 0;
  if (Next() == close) {
    ++at_;
    fresh_.pop_back();
    return false;
  }
  if (!first) Expect(',');
  return true;
}

bool JsonReader::NextKey(std::string* key) {
  if (!Separated('}')) return false;
  String(key);
  Expect(':');
  return true;
}

bool JsonReader::NextElement() {
  if (!Separated(']')) return false;
  if (Next() == ']') Fail("a JSON value expected");
  return true;
}

uint32_t JsonReader::Hex4() {
  if (text_.size() - at_ < 4) Fail("the JSON text ends too early");
  uint32_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, begin + 4, value, 16);
  if (error != std::errc() || end != begin + 4) Fail("four hexadecimal digits expected");
  at_ += 4;
  return value;
}

char32_t JsonReader::Escape() {
  if (at_ >= text_.size()) Fail("the JSON text ends too early");
  switch (text_[at_++]) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '/':
      return '/';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'u':
      break;
    default:
      --at_;
      Fail("unknown escape in a JSON string");
  }
  const uint32_t high = Hex4();
  if (high < 0xD800 || high > 0xDFFF) return high;
  if (high <= 0xDBFF && text_.substr(at_).starts_with("\\u")) {
    at_ += 2;
    const uint32_t low = Hex4();
    if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  Fail("a JSON string holds half of a surrogate pair");
}

void JsonReader::String(std::string* text) {
  Expect('"');
  text->clear();
  size_t start = at_;
  bool ascii = true;
  for (;;) {
    if (at_ >= text_.size()) Fail("the JSON text ends inside a string");
    const auto c = static_cast<uint8_t>(text_[at_]);
    if (c == '"' || c == '\\') {
      text->append(text_.substr(start, at_ - start));
      ++at_;
      if (c == '"') break;
      AppendCharacter(text, Escape());
      start = at_;
      continue;
    }
    if (c < 0x20) Fail("a control character in a JSON string");
    ascii &= c < 0x80;
    ++at_;
  }
  if (!ascii && ValidPrefix(*text) != text->size()) Fail("the JSON string before is not well-formed UTF-8");
}

std::string JsonReader::String() {
  std::string text;
  String(&text);
  return text;
}

bool JsonReader::Bool() {
  Next();
  for (const bool value : {true, false}) {
    const std::string_view word = value ? "true" : "false";
    if (text_.substr(at_).starts_with(word)) {
      at_ += word.size();
      return value;
    }
  }
  Fail("true or false expected");
}

std::string_view JsonReader::NumberText() {
  Next();
  const size_t start = at_;
  while (at_ < text_.size() && (std::string_view("+-.eE").find(text_[at_]) != std::string_view::npos ||
                                (text_[at_] >= '0' && text_[at_] <= '9'))) {
    ++at_;
  }
  return text_.substr(start, at_ - start);
}

double JsonReader::Number() {
  const std::string_view number = NumberText();
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || end != number.data() + number.size() || error == std::errc::invalid_argument)
    Fail("a number expected");
  // Out of range: as far as it goes, which is what readers of doubles do.
  if (error == std::errc::result_out_of_range) return number.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  return value;
}

double JsonReader::Score() {
  const size_t start = at_;
  const double exact = Number();
  std::string_view number = text_.substr(start, at_ - start);
  number.remove_prefix(number.find_first_of("-0123456789"));
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  uint64_t digits = 0;
  int exponent = 0;
  bool fraction = false;
  bool full = false;  // what no longer fits is dropped
  size_t at = 0;
  for (; at < number.size() && number[at] != 'e' && number[at] != 'E'; ++at) {
    if (number[at] == '.') {
      fraction = true;
      continue;
    }
    const auto digit = static_cast<uint64_t>(number[at] - '0');
    full |= digits > (UINT64_MAX - digit) / 10;
    if (!full) digits = digits * 10 + digit;
    exponent += (full ? 1 : 0) - (fraction ? 1 : 0);
  }
  if (at < number.size()) {
    std::string_view power = number.substr(at + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    int value = 0;
    if (std::from_chars(power.data(), power.data() + power.size(), value).ec != std::errc() || std::abs(value) > 1000) {
      return exact;
    }
    exponent += value;
  }
  constexpr int kLargestPower = 308;
  if (std::abs(exponent) > kLargestPower) return exact;
  const std::string power_text = "1e" + std::to_string(std::abs(exponent));
  double power = 0;
  std::from_chars(power_text.data(), power_text.data() + power_text.size(), power);
  const double rounded = exponent < 0 ? static_cast<double>(digits) / power : static_cast<double>(digits) * power;
  return negative ? -rounded : rounded;
}

uint32_t JsonReader::UInt32() {
  const std::string_view number = NumberText();
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (number.empty() || error != std::errc() || end != number.data() + number.size()) {
    Fail(Quoted(number) + " is no whole number from 0 to 4294967295");
  }
  return value;
}

bool JsonReader::TakeNull() {
  Next();
  if (!text_.substr(at_).starts_with("null")) return false;
  at_ += 4;
  return true;
}

std::pair<std::string_view, size_t> JsonReader::Raw() {
  Next();
  const size_t start = at_;
  size_t depth = 0;
  for (;;) {
    if (at_ >= text_.size()) Fail("the JSON text ends too early");
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      if (at_ >= text_.size()) Fail("the JSON text ends inside a string");
      ++at_;
    } else if (c == '{' || c == '[') {
      ++at_;
      if (fresh_.size() + ++depth > kMaxDepth) {
        Fail("the JSON text is nested more than " + std::to_string(kMaxDepth) + " deep");
      }
    } else if (c == '}' || c == ']') {
      if (depth == 0) Fail("a JSON value expected");
      ++at_;
      --depth;
    } else {
      ++at_;
      const uint8_t stop = depth == 0 ? kEndsValue : kEndsRest;
      while (at_ < text_.size() && !(kCharacterKinds[static_cast<uint8_t>(text_[at_])] & stop)) ++at_;
      if (depth > 0) continue;
      return {text_.substr(start, at_ - start), offset_ + start};
    }
    if (depth == 0) return {text_.substr(start, at_ - start), offset_ + start};
  }
}

void JsonReader::End() {
  Space();
  if (at_ < text_.size()) Fail("something follows the JSON text");
}

JsonValue JsonValue::Read(JsonReader* reader) { return ReadAt(reader); }

// The reader bounds the depth.
JsonValue JsonValue::ReadAt(JsonReader* reader) {
  JsonValue value;
  value.kind_ = reader->Peek();
  switch (value.kind_) {
    case Kind::kNull:
      if (!reader->TakeNull()) reader->Fail("null expected");
      break;
    case Kind::kBool:
      value.number_ = reader->Bool() ? 1 : 0;
      break;
    case Kind::kNumber:
      value.number_ = reader->Number();
      break;
    case Kind::kString:
      reader->String(&value.string_);
      break;
    case Kind::kArray:
      reader->BeginArray();
      while (reader->NextElement()) value.elements_.push_back(ReadAt(reader));
      break;
    case Kind::kObject: {
      reader->BeginObject();
      std::string key;
      while (reader->NextKey(&key)) {
        JsonValue member = ReadAt(reader);
        value.members_.emplace_back(key, std::move(member));
      }
      break;
    }
  }
  return value;
}

const JsonValue* JsonValue::Find(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace owml::text
