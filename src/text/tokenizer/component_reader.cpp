// The table of types that a tokenizer.json may name, and their options.
// Called by the reader of tokenizer.json.
#include "text/tokenizer/component_reader.h"

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/tokenizer/precompiled_normalizer.h"
#include "text/unicode/utf8.h"

namespace owml::text {

Component::Component(const JsonValue& value, std::string label, std::string where)
    : value_(&value), label_(std::move(label)), where_(std::move(where)) {
  if (!value.is_object()) Fail("is no object");
}

void Component::Fail(const std::string& what) const { ThrowBadData(label_, "'" + where_ + "' " + what); }

void Component::NotSupported(const std::string& what) const {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              label_ + ": '" + where_ + "' " + what + ", which is not supported");
}

std::string Component::Type() const { return String("type"); }

const JsonValue& Component::Require(std::string_view key, JsonValue::Kind kind, std::string_view kind_name) const {
  const JsonValue* value = value_->Find(key);
  if (!value) Fail("lacks '" + std::string(key) + "'");
  if (value->kind() != kind) Fail("has '" + std::string(key) + "', which is no " + std::string(kind_name));
  return *value;
}

const std::string& Component::String(std::string_view key) const {
  return Require(key, JsonValue::Kind::kString, "string").string();
}

std::string Component::String(std::string_view key, std::string_view absent) const {
  return OptionalString(key).value_or(std::string(absent));
}

std::optional<std::string> Component::OptionalString(std::string_view key) const {
  const JsonValue* value = value_->Find(key);
  if (!value || value->is_null()) return std::nullopt;
  return String(key);
}

std::optional<bool> Component::OptionalBool(std::string_view key) const {
  const JsonValue* value = value_->Find(key);
  if (!value || value->is_null()) return std::nullopt;
  return Require(key, JsonValue::Kind::kBool, "boolean").boolean();
}

bool Component::Bool(std::string_view key, bool absent) const { return OptionalBool(key).value_or(absent); }

uint32_t Component::UInt32(std::string_view key, uint32_t absent) const {
  const JsonValue* value = value_->Find(key);
  if (!value || value->is_null()) return absent;
  const double number = Require(key, JsonValue::Kind::kNumber, "number").number();
  if (!(number >= 0 && number <= UINT32_MAX) || number != static_cast<double>(static_cast<uint32_t>(number))) {
    Fail("has '" + std::string(key) + "' " + std::to_string(number) +
         ", which is no whole number from 0 to 4294967295");
  }
  return static_cast<uint32_t>(number);
}

char32_t Component::Character(std::string_view key, char32_t absent) const {
  const std::optional<std::string> text = OptionalString(key);
  if (!text) return absent;
  if (text->empty() || DecodeCharacter(*text, 0).length != text->size()) {
    Fail("has '" + std::string(key) + "' " + Quoted(*text) + ", which is not one character");
  }
  return DecodeCharacter(*text, 0).code;
}

std::vector<Component> Component::List(std::string_view key) const {
  std::vector<Component> list;
  for (const JsonValue& element : Require(key, JsonValue::Kind::kArray, "array").elements()) {
    list.emplace_back(element, label_, where_ + "." + std::string(key) + "[" + std::to_string(list.size()) + "]");
  }
  return list;
}

Regex Component::Pattern(std::string_view key) const {
  const JsonValue* value = value_->Find(key);
  if (!value) Fail("lacks '" + std::string(key) + "'");
  if (value->kind() == JsonValue::Kind::kString) return Regex::Literal(value->string());
  const JsonValue* literal = value->Find("String");
  const JsonValue* regex = value->Find("Regex");
  if (literal && literal->kind() == JsonValue::Kind::kString) return Regex::Literal(literal->string());
  if (regex && regex->kind() == JsonValue::Kind::kString)
    return Regex::Compile(regex->string(), label_ + ": '" + where_ + "'");
  Fail("has '" + std::string(key) + "', which is neither a String nor a Regex");
}

bool Holds(const Component& component, std::string_view list_key, std::string_view type) {
  const std::string own = component.Type();
  if (own == type) return true;
  if (own != "Sequence") return false;
  for (const Component& step : component.List(list_key)) {
    if (Holds(step, list_key, type)) return true;
  }
  return false;
}

NormalizerPtr ReadNormalizer(const Component& component) {
  const std::string type = component.Type();
  if (type == "Sequence") {
    std::vector<NormalizerPtr> steps;
    for (const Component& step : component.List("normalizers")) steps.push_back(ReadNormalizer(step));
    return MakeNormalizerSequence(std::move(steps));
  }
  if (type == "NFC") return MakeUnicodeNormalizer(NormalizationForm::kNfc);
  if (type == "NFD") return MakeUnicodeNormalizer(NormalizationForm::kNfd);
  if (type == "NFKC") return MakeUnicodeNormalizer(NormalizationForm::kNfkc);
  if (type == "NFKD") return MakeUnicodeNormalizer(NormalizationForm::kNfkd);
  if (type == "Lowercase") return MakeLowercase();
  if (type == "Strip") return MakeStrip(component.Bool("strip_left", true), component.Bool("strip_right", true));
  if (type == "StripAccents") return MakeStripAccents();
  if (type == "Replace") return MakeReplace(component.Pattern("pattern"), component.String("content"));
  if (type == "Prepend") return MakePrepend(component.String("prepend"));
  if (type == "Nmt") return MakeNmt();
  if (type == "ByteLevel") return MakeByteLevelNormalizer();
  if (type == "BertNormalizer") {
    BertNormalizerOptions options;
    options.clean_text = component.Bool("clean_text", true);
    options.handle_chinese_chars = component.Bool("handle_chinese_chars", true);
    options.lowercase = component.Bool("lowercase", true);
    options.strip_accents = component.Bool("strip_accents", options.lowercase);
    return MakeBertNormalizer(options);
  }
  if (type == "Precompiled") {
    return MakePrecompiledNormalizer(component.String("precompiled_charsmap"),
                                     component.label() + ": '" + component.where() + "'");
  }
  component.NotSupported("has the type " + Quoted(type));
}

namespace {

SplitBehavior ReadBehavior(const Component& component, std::string_view absent) {
  const std::string name = component.String("behavior", absent);
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  component.NotSupported("has the behavior " + Quoted(name));
}

PrependScheme ReadPrependScheme(const Component& component) {
  const std::optional<bool> add_prefix_space = component.OptionalBool("add_prefix_space");
  const std::string name = component.String("prepend_scheme", add_prefix_space == false ? "never" : "always");
  if (name == "first") return PrependScheme::kFirst;
  if (name == "never") return PrependScheme::kNever;
  if (name == "always") return PrependScheme::kAlways;
  component.NotSupported("has the prepend_scheme " + Quoted(name));
}

constexpr char32_t kLowerBlock = 0x2581;

}  // namespace

PreTokenizerPtr ReadPreTokenizer(const Component& component, bool last) {
  const std::string type = component.Type();
  if (type == "Sequence") {
    std::vector<PreTokenizerPtr> steps;
    const std::vector<Component> list = component.List("pretokenizers");
    for (size_t i = 0; i < list.size(); ++i) steps.push_back(ReadPreTokenizer(list[i], last && i + 1 == list.size()));
    return MakePreTokenizerSequence(std::move(steps));
  }
  if (type == "Split") {
    return MakeSplit(component.Pattern("pattern"), ReadBehavior(component, ""), component.Bool("invert", false));
  }
  if (type == "ByteLevel") {
    return MakeByteLevel(component.Bool("add_prefix_space", true), component.Bool("use_regex", true), last);
  }
  if (type == "Digits") return MakeDigits(component.Bool("individual_digits", false));
  if (type == "Punctuation") return MakePunctuation(ReadBehavior(component, "Isolated"));
  if (type == "BertPreTokenizer") return MakeBertPreTokenizer();
  if (type == "Whitespace") return MakeWhitespace();
  if (type == "WhitespaceSplit") return MakeWhitespaceSplit();
  if (type == "UnicodeScripts") return MakeUnicodeScripts();
  if (type == "CharDelimiterSplit") {
    component.String("delimiter");
    return MakeCharDelimiterSplit(component.Character("delimiter", ' '));
  }
  if (type == "FixedLength") {
    const uint32_t length = component.UInt32("length", 5);
    if (length == 0) component.Fail("has the length 0");
    return MakeFixedLength(length);
  }
  if (type == "Metaspace") {
    return MakeMetaspace(component.Character("replacement", kLowerBlock), ReadPrependScheme(component),
                         component.Bool("split", true));
  }
  component.NotSupported("has the type " + Quoted(type));
}

void ReadDecoder(const Component& component, std::vector<TokenDecoderPtr>* decoders) {
  const std::string type = component.Type();
  if (type == "Sequence") {
    for (const Component& step : component.List("decoders")) ReadDecoder(step, decoders);
  } else if (type == "ByteLevel") {
    decoders->push_back(MakeByteLevelDecoder());
  } else if (type == "Metaspace") {
    decoders->push_back(MakeMetaspaceDecoder(component.Character("replacement", kLowerBlock),
                                             ReadPrependScheme(component) != PrependScheme::kNever));
  } else if (type == "WordPiece") {
    decoders->push_back(MakeWordPieceDecoder(component.String("prefix", "##"), component.Bool("cleanup", true)));
  } else if (type == "BPEDecoder") {
    decoders->push_back(MakeBpeDecoder(component.String("suffix", "</w>")));
  } else if (type == "ByteFallback") {
    decoders->push_back(MakeByteFallbackDecoder());
  } else if (type == "Fuse") {
    decoders->push_back(MakeFuseDecoder());
  } else if (type == "Strip") {
    component.String("content");
    decoders->push_back(MakeStripDecoder(component.Character("content", ' '), component.UInt32("start", 0),
                                         component.UInt32("stop", 0)));
  } else if (type == "Replace") {
    decoders->push_back(MakeReplaceDecoder(component.Pattern("pattern"), component.String("content")));
  } else if (type == "CTC") {
    decoders->push_back(MakeCtcDecoder(component.String("pad_token", "<pad>"),
                                       component.String("word_delimiter_token", "|"), component.Bool("cleanup", true)));
  } else {
    component.NotSupported("has the type " + Quoted(type));
  }
}

namespace {

uint32_t TokenId(const Component& component, const JsonValue& value) {
  const double number = value.number();
  if (value.kind() != JsonValue::Kind::kNumber || !(number >= 0 && number < UINT32_MAX) ||
      number != static_cast<double>(static_cast<uint32_t>(number))) {
    component.Fail("has a token id that is no whole number");
  }
  return static_cast<uint32_t>(number);
}

// ["[CLS]", 101].
uint32_t PairId(const Component& component, std::string_view key) {
  const JsonValue* pair = component.Find(key);
  if (!pair || pair->elements().size() != 2) component.Fail("lacks '" + std::string(key) + "', a token and its id");
  return TokenId(component, pair->elements()[1]);
}

void ReadTemplate(const Component& component, SpecialFrame* frame) {
  const JsonValue* special = component.Find("special_tokens");
  std::vector<uint32_t> before;
  std::vector<uint32_t> after;
  bool text_seen = false;
  const JsonValue* single = component.Find("single");
  if (!single || single->kind() != JsonValue::Kind::kArray) component.Fail("lacks 'single', an array");
  for (const JsonValue& piece : single->elements()) {
    if (piece.Find("Sequence")) {
      if (text_seen) component.NotSupported("puts the text into its template twice");
      text_seen = true;
      continue;
    }
    const JsonValue* token = piece.Find("SpecialToken");
    const JsonValue* id = token ? token->Find("id") : nullptr;
    if (!id) component.Fail("has a template with something that is neither Sequence nor SpecialToken");
    const JsonValue* entry = special ? special->Find(id->string()) : nullptr;
    const JsonValue* ids = entry ? entry->Find("ids") : nullptr;
    if (!ids) component.Fail("lacks the ids of the special token " + Quoted(id->string()));
    for (const JsonValue& element : ids->elements())
      (text_seen ? after : before).push_back(TokenId(component, element));
  }
  if (!text_seen) component.NotSupported("has a template without the text");
  frame->before.insert(frame->before.begin(), before.begin(), before.end());
  frame->after.insert(frame->after.end(), after.begin(), after.end());
}

}  // namespace

void ReadPostProcessor(const Component& component, SpecialFrame* frame) {
  const std::string type = component.Type();
  if (type == "Sequence") {
    for (const Component& step : component.List("processors")) ReadPostProcessor(step, frame);
  } else if (type == "TemplateProcessing") {
    ReadTemplate(component, frame);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    frame->before.insert(frame->before.begin(), PairId(component, "cls"));
    frame->after.push_back(PairId(component, "sep"));
  } else if (type != "ByteLevel") {  // which only trims offsets
    component.NotSupported("has the type " + Quoted(type));
  }
}

}  // namespace owml::text
