// From the parts of a tokenizer.json to normalizers, pre-tokenizers, decoders and special tokens.
// Called by the reader of tokenizer.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/decoder.h"
#include "text/tokenizer/json_reader.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/pre_tokenizer.h"

namespace owml::text {

// A JSON object of a tokenizer file, with getters that say what is wrong. Throws ERROR_INVALID_DATA.
class Component {
 public:
  // `where` names it in messages: "pre_tokenizer". `value` must outlive the component.
  Component(const JsonValue& value, std::string label, std::string where);

  // Its "type", or a name for what has none.
  std::string Type() const;
  const std::string& label() const { return label_; }
  const std::string& where() const { return where_; }

  const std::string& String(std::string_view key) const;
  std::string String(std::string_view key, std::string_view absent) const;
  std::optional<std::string> OptionalString(std::string_view key) const;  // nothing when absent or null
  bool Bool(std::string_view key, bool absent) const;
  std::optional<bool> OptionalBool(std::string_view key) const;
  uint32_t UInt32(std::string_view key, uint32_t absent) const;
  char32_t Character(std::string_view key, char32_t absent) const;
  std::vector<Component> List(std::string_view key) const;
  // {"String": "..."}, {"Regex": "..."} or "...".
  Regex Pattern(std::string_view key) const;
  const JsonValue* Find(std::string_view key) const { return value_->Find(key); }

  [[noreturn]] void Fail(const std::string& what) const;
  [[noreturn]] void NotSupported(const std::string& what) const;

 private:
  const JsonValue& Require(std::string_view key, JsonValue::Kind kind, std::string_view kind_name) const;

  const JsonValue* value_;
  std::string label_;
  std::string where_;
};

NormalizerPtr ReadNormalizer(const Component& component);
PreTokenizerPtr ReadPreTokenizer(const Component& component, bool last = true);
void ReadDecoder(const Component& component, std::vector<TokenDecoderPtr>* decoders);

// Whether a step of that type is in it.
bool Holds(const Component& component, std::string_view list_key, std::string_view type);

// Special tokens around a single text.
struct SpecialFrame {
  std::vector<uint32_t> before;
  std::vector<uint32_t> after;
};
void ReadPostProcessor(const Component& component, SpecialFrame* frame);

}  // namespace owml::text
