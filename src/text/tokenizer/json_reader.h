// JSON read in one pass, value by value, without a tree: tokenizer files hold millions of strings. Depth is bounded,
// and what is wrong is told with its place. Used by the readers of tokenizer.json and of the files beside it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace owml::text {

class JsonReader {
 public:
  enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

  static constexpr size_t kMaxDepth = 128;

  // `text` must outlive the reader. Every method throws ERROR_INVALID_DATA: "<label>: byte 17: ...".
  JsonReader(std::string_view text, std::string label, size_t offset = 0);

  Kind Peek();

  void BeginObject();
  // The next key of the object, or false at its end.
  bool NextKey(std::string* key);
  void BeginArray();
  bool NextElement();

  void String(std::string* text);
  std::string String();
  bool Bool();
  double Number();
  // Rounded as Hugging Face's reader rounds, which may be off in the last bit: equal sums of scores must be equal.
  double Score();
  uint32_t UInt32();
  bool TakeNull();  // false, and nothing taken, when it is something else

  // The text of a value and where it begins, for a reader of its own later.
  std::pair<std::string_view, size_t> Raw();
  // Nothing but white space may follow.
  void End();

  [[noreturn]] void Fail(const std::string& what) const;
  const std::string& label() const { return label_; }

 private:
  void Space();
  char Next();
  void Expect(char c);
  void Push();
  bool Separated(char close);
  char32_t Escape();
  uint32_t Hex4();
  std::string_view NumberText();

  std::string_view text_;
  std::string label_;
  size_t offset_;
  size_t at_ = 0;
  std::vector<char> fresh_;  // for each open array or object: nothing was read of it yet
};

// A small JSON value as a tree.
class JsonValue {
 public:
  using Kind = JsonReader::Kind;

  JsonValue() = default;
  static JsonValue Read(JsonReader* reader);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_object() const { return kind_ == Kind::kObject; }
  const std::vector<JsonValue>& elements() const { return elements_; }
  const std::vector<std::pair<std::string, JsonValue>>& members() const { return members_; }
  // Null when absent.
  const JsonValue* Find(std::string_view key) const;

  bool boolean() const { return number_ != 0; }
  double number() const { return number_; }
  const std::string& string() const { return string_; }

 private:
  static JsonValue ReadAt(JsonReader* reader);

  Kind kind_ = Kind::kNull;
  double number_ = 0;
  std::string string_;
  std::vector<JsonValue> elements_;
  std::vector<std::pair<std::string, JsonValue>> members_;
};

}  // namespace owml::text
