// The sections of a tokenizer.json, in any order, and its models.
// Called by the tokenizer factory and the reader of model folders.
#include "text/tokenizer/tokenizer_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/component_reader.h"
#include "text/tokenizer/json_reader.h"
#include "text/tokenizer/unigram_model.h"
#include "text/tokenizer/word_models.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

struct RawValue {
  std::string_view text;
  size_t offset = 0;
  bool present() const { return !text.empty(); }
};

class TokenizerJsonReader {
 public:
  TokenizerJsonReader(std::string_view json, const std::string& label) : json_(json), label_(label) {
    parts_.label = label;
  }

  TokenizerParts Read() {
    ReadSections();
    const JsonValue pre_tokenizer = Section("pre_tokenizer");
    const JsonValue normalizer = Section("normalizer");
    if (!normalizer.is_null()) {
      const Component component(normalizer, label_, "normalizer");
      parts_.normalizer = ReadNormalizer(component);
      parts_.normalizes_to_alphabet = Holds(component, "normalizers", "ByteLevel");
      parts_.byte_level |= parts_.normalizes_to_alphabet;
    }
    if (!pre_tokenizer.is_null()) {
      const Component component(pre_tokenizer, label_, "pre_tokenizer");
      parts_.pre_tokenizer = ReadPreTokenizer(component);
      parts_.byte_level |= Holds(component, "pretokenizers", "ByteLevel");
    }
    const JsonValue decoder = Section("decoder");
    if (!decoder.is_null()) ReadDecoder(Component(decoder, label_, "decoder"), &parts_.decoders);
    const JsonValue processor = Section("post_processor");
    if (!processor.is_null()) {
      SpecialFrame frame;
      ReadPostProcessor(Component(processor, label_, "post_processor"), &frame);
      parts_.before = std::move(frame.before);
      parts_.after = std::move(frame.after);
    }
    ReadModel();
    ReadAddedTokens();
    for (const auto* ids : {&parts_.before, &parts_.after}) {
      for (const uint32_t id : *ids) {
        if (!IsToken(id)) Bad("'post_processor' names the id " + std::to_string(id) + ", which is no token");
      }
    }
    return std::move(parts_);
  }

 private:
  [[noreturn]] void Bad(const std::string& sentence) const { ThrowBadData(label_, sentence); }
  [[noreturn]] void NotSupported(const std::string& sentence) const {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), label_ + ": " + sentence + ", which is not supported");
  }

  // What a token's id may be: sparse ids are fine, ids that only make tables large are not.
  void CheckId(uint32_t id, std::string_view token) const {
    const uint64_t most = json_.size() * 4 + 1'000'000;
    if (id >= most)
      Bad("the token " + Quoted(token) + " has the id " + std::to_string(id) + ", far above what the file can hold");
  }

  bool IsToken(uint32_t id) const {
    if (parts_.table->Has(id) || (parts_.others && parts_.others->Has(id))) return true;
    return added_ids_.contains(id);
  }

  void ReadSections() {
    JsonReader reader(json_, label_);
    reader.BeginObject();
    std::string key;
    while (reader.NextKey(&key)) {
      if (key == "version") {
        const std::string version = reader.String();
        if (version != "1.0") NotSupported("'version' is " + Quoted(version));
        continue;
      }
      const auto [text, offset] = reader.Raw();
      if (!sections_.emplace(key, RawValue{text, offset}).second) Bad("'" + key + "' occurs twice");
    }
    reader.End();
    if (!sections_.contains("model")) Bad("there is no 'model'; is this a tokenizer.json?");
  }

  JsonValue Section(const std::string& name) const {
    const auto found = sections_.find(name);
    if (found == sections_.end()) return {};
    JsonReader reader(found->second.text, label_, found->second.offset);
    JsonValue value = JsonValue::Read(&reader);
    reader.End();
    return value;
  }

  void ReadModel() {
    const RawValue model = sections_.at("model");
    JsonReader reader(model.text, label_, model.offset);
    reader.BeginObject();
    std::string key;
    RawValue vocab;
    RawValue merges;
    // The rest is small: gathered into one object.
    std::string rest = "{";
    while (reader.NextKey(&key)) {
      const auto [text, offset] = reader.Raw();
      if (key == "vocab") {
        vocab = {text, offset};
      } else if (key == "merges") {
        merges = {text, offset};
      } else if (key.find_first_of("\"\\") == std::string::npos) {
        if (rest.size() > 1) rest += ',';
        rest += '"' + key + "\":";
        rest += text;
      }
    }
    reader.End();
    if (!vocab.present()) Bad("the model has no 'vocab'");
    JsonReader rest_reader(rest += '}', label_ + ": 'model'");
    const JsonValue options = JsonValue::Read(&rest_reader);
    const Component component(options, label_, "model");
    std::string type = component.String("type", "");
    if (type.empty()) {  // older files do not say it
      type = merges.present()                             ? "BPE"
             : vocab.text.front() == '['                  ? "Unigram"
             : component.Find("max_input_chars_per_word") ? "WordPiece"
                                                          : "WordLevel";
    }
    if (type == "BPE") {
      ReadVocab(vocab);
      ReadBpe(component, merges);
    } else if (type == "Unigram") {
      ReadUnigram(component, vocab);
    } else if (type == "WordPiece") {
      ReadVocab(vocab);
      WordPieceOptions word_piece;
      word_piece.unknown = FindModelToken(component.String("unk_token", "[UNK]"));
      word_piece.continuing_prefix = component.String("continuing_subword_prefix", "##");
      word_piece.longest_word = component.UInt32("max_input_chars_per_word", 100);
      parts_.model = std::make_unique<WordPieceModel>(parts_.table, std::move(word_piece));
    } else if (type == "WordLevel") {
      ReadVocab(vocab);
      parts_.model =
          std::make_unique<WordLevelModel>(parts_.table, FindModelToken(component.String("unk_token", "<unk>")));
    } else {
      NotSupported("the model has the type " + Quoted(type));
    }
  }

  void AddToken(std::string_view text, uint32_t id) {
    CheckId(id, text);
    if (table_->Has(id) || others_->Has(id))
      Bad("the tokens " + Quoted(SpellingOf(id)) + " and " + Quoted(text) + " have the same id " + std::to_string(id));
    bool added = false;
    if (!parts_.byte_level) {
      added = table_->Add(text, id);
    } else if (FromByteAlphabet(text, &bytes_)) {
      added = table_->Add(bytes_, id);
    } else {
      added = others_->Add(text, id);
    }
    if (!added) Bad("the token " + Quoted(text) + " occurs twice");
  }

  std::string SpellingOf(uint32_t id) const {
    if (others_->Has(id)) return std::string(others_->Text(id));
    return parts_.byte_level ? ToByteAlphabet(table_->Text(id)) : std::string(table_->Text(id));
  }

  void ReadVocab(const RawValue& vocab) {
    JsonReader reader(vocab.text, label_, vocab.offset);
    reader.BeginObject();
    table_->Reserve(vocab.text.size() / 20, vocab.text.size() / 2);
    std::string token;
    while (reader.NextKey(&token)) AddToken(token, reader.UInt32());
    reader.End();
    Publish();
  }

  void Publish() {
    parts_.table = table_;
    if (others_->size() > 0) parts_.others = others_;
  }

  uint32_t FindText(std::string_view spelling) {
    if (!parts_.byte_level) return table_->Find(spelling);
    if (FromByteAlphabet(spelling, &bytes_)) return table_->Find(bytes_);
    return others_->Find(spelling);
  }
  std::optional<uint32_t> FindModelToken(std::string_view spelling) {
    const uint32_t id = FindText(spelling);
    return id == kNoToken ? std::nullopt : std::optional(id);
  }

  void ReadBpe(const Component& component, const RawValue& merges) {
    if (!merges.present()) Bad("the BPE model has no 'merges'");
    const JsonValue* dropout = component.Find("dropout");
    if (dropout && dropout->number() != 0) NotSupported("the model drops merges at random ('dropout')");
    BpeOptions options;
    options.bytes = parts_.byte_level;
    options.byte_fallback = component.Bool("byte_fallback", false);
    options.ignore_merges = component.Bool("ignore_merges", false);
    options.fuse_unknown = component.Bool("fuse_unk", false);
    options.prefix = component.String("continuing_subword_prefix", "");
    options.suffix = component.String("end_of_word_suffix", "");
    if (const std::optional<std::string> unknown = component.OptionalString("unk_token")) {
      options.unknown = FindModelToken(*unknown);
    }
    const bool spelled = parts_.byte_level && !(options.prefix + options.suffix).empty();
    if (spelled) {
      std::string bytes;
      if (!FromByteAlphabet(options.prefix, &bytes))
        NotSupported("the prefix " + Quoted(options.prefix) + " is not in the alphabet of bytes");
      options.prefix = bytes;
      if (!FromByteAlphabet(options.suffix, &bytes))
        NotSupported("the suffix " + Quoted(options.suffix) + " is not in the alphabet of bytes");
      options.suffix = bytes;
    }
    parts_.model = std::make_unique<BpeModel>(parts_.table, ReadMerges(merges, options.prefix), std::move(options));
  }

  std::vector<BpeMerge> ReadMerges(const RawValue& raw, const std::string& prefix) {
    JsonReader reader(raw.text, label_, raw.offset);
    std::vector<BpeMerge> merges;
    merges.reserve(raw.text.size() / 16);
    std::string left;
    std::string right;
    std::string joined;
    uint32_t rank = 0;
    uint32_t last_joined = 0;
    reader.BeginArray();
    while (reader.NextElement()) {
      if (reader.Peek() == JsonReader::Kind::kString) {
        reader.String(&left);
        if (left.starts_with("#version")) continue;
        const size_t space = left.find(' ');
        if (space == std::string::npos || left.find(' ', space + 1) != std::string::npos) {
          Bad("merge " + std::to_string(rank) + ", " + Quoted(left) + ", is not two tokens with a space between");
        }
        right.assign(left, space + 1);
        left.resize(space);
      } else {
        reader.BeginArray();
        if (!reader.NextElement()) reader.Fail("a merge is an array of two strings");
        reader.String(&left);
        if (!reader.NextElement()) reader.Fail("a merge is an array of two strings");
        reader.String(&right);
        if (reader.NextElement()) reader.Fail("a merge is an array of two strings");
      }
      const std::string_view more = right;
      if (!more.starts_with(prefix)) {
        Bad("merge " + std::to_string(rank) + " has " + Quoted(right) + " on its right, which does not begin with " +
            Quoted(prefix));
      }
      joined.assign(left).append(more.substr(prefix.size()));
      BpeMerge merge;
      merge.rank = rank++;
      merge.left = MergeToken(left, merge.rank);
      merge.right = MergeToken(right, merge.rank);
      merge.joined = JoinedToken(joined, last_joined, merge.rank);
      last_joined = merge.joined;
      merges.push_back(merge);
    }
    reader.End();
    if (parts_.byte_level) {
      // Tokens outside the alphabet never come up.
      std::erase_if(merges, [&](const BpeMerge& m) {
        return !table_->Has(m.left) || !table_->Has(m.right) || !table_->Has(m.joined);
      });
    }
    return merges;
  }

  uint32_t MergeToken(std::string_view spelling, uint32_t rank) {
    const uint32_t id = FindText(spelling);
    if (id == kNoToken) Bad("merge " + std::to_string(rank) + " has " + Quoted(spelling) + ", which is no token");
    return id;
  }

  // Most merges make the token of the merge before, or the next one: no search needed.
  uint32_t JoinedToken(std::string_view spelling, uint32_t last, uint32_t rank) {
    const bool spelled = !parts_.byte_level || FromByteAlphabet(spelling, &bytes_);
    const std::string_view text = parts_.byte_level ? std::string_view(bytes_) : spelling;
    for (uint32_t id = last; spelled && id < last + 2; ++id) {
      if (table_->Has(id) && table_->Text(id) == text) return id;
    }
    return MergeToken(spelling, rank);
  }

  void ReadUnigram(const Component& component, const RawValue& vocab) {
    JsonReader reader(vocab.text, label_, vocab.offset);
    std::vector<std::optional<double>> scores;
    std::string token;
    double lowest = std::numeric_limits<double>::infinity();
    reader.BeginArray();
    while (reader.NextElement()) {
      reader.BeginArray();
      if (!reader.NextElement()) reader.Fail("a token of a Unigram vocabulary is an array of a string and a score");
      reader.String(&token);
      if (!reader.NextElement()) reader.Fail("a token of a Unigram vocabulary is an array of a string and a score");
      const double score = reader.Score();
      if (reader.NextElement()) reader.Fail("a token of a Unigram vocabulary is an array of a string and a score");
      if (!std::isfinite(score)) Bad("the token " + Quoted(token) + " has a score that is not finite");
      const auto id = static_cast<uint32_t>(scores.size());
      AddToken(token, id);
      scores.push_back(score);
      lowest = std::min(lowest, score);
    }
    reader.End();
    Publish();
    UnigramModel::Options options;
    options.byte_fallback = component.Bool("byte_fallback", false);
    options.bytes = parts_.byte_level;
    const JsonValue* unknown = component.Find("unk_id");
    if (unknown && !unknown->is_null()) {
      options.unknown = component.UInt32("unk_id", 0);
      if (*options.unknown >= scores.size())
        Bad("'unk_id' is " + std::to_string(*options.unknown) + "; there are " + std::to_string(scores.size()) +
            " tokens");
    }
    constexpr double kUnknownPenalty = 10.0;
    parts_.model = std::make_unique<UnigramModel>(parts_.table, std::move(scores), lowest - kUnknownPenalty, options);
  }

  // As Hugging Face's tokenizers do it: a token of the vocabulary keeps its id, others get the next free one, whatever
  // the file says.
  void ReadAddedTokens() {
    const auto found = sections_.find("added_tokens");
    if (found == sections_.end()) return;
    JsonReader reader(found->second.text, label_, found->second.offset);
    if (reader.TakeNull()) return;
    const size_t model_size = table_->size() + others_->size();
    auto next = static_cast<uint32_t>(model_size);
    std::unordered_map<std::string, size_t> seen;
    reader.BeginArray();
    while (reader.NextElement()) {
      AddedToken token = ReadAddedToken(&reader);
      if (token.content.empty()) continue;
      const auto known = seen.find(token.content);
      if (known != seen.end()) {
        token.id = parts_.added[known->second].id;
        parts_.added[known->second] = token;
        continue;
      }
      const uint32_t id = FindText(token.content);
      token.id = id != kNoToken ? id : next++;
      seen.emplace(token.content, parts_.added.size());
      added_ids_.insert(token.id);
      parts_.added.push_back(std::move(token));
    }
    reader.End();
    for (AddedToken& token : parts_.added) {
      token.pattern = token.content;
      if (!token.normalized || !parts_.normalizer) continue;
      AlignedText text;
      text.text = token.content;
      parts_.normalizer->Apply(&text);
      token.pattern = text.text;
    }
  }

  AddedToken ReadAddedToken(JsonReader* reader) {
    AddedToken token;
    token.normalized = true;
    std::string key;
    bool has_content = false;
    reader->BeginObject();
    while (reader->NextKey(&key)) {
      if (key == "content") {
        reader->String(&token.content);
        has_content = true;
      } else if (key == "id") {
        reader->UInt32();
      } else if (key == "single_word") {
        token.single_word = reader->Bool();
      } else if (key == "lstrip") {
        token.left_strip = reader->Bool();
      } else if (key == "rstrip") {
        token.right_strip = reader->Bool();
      } else if (key == "normalized") {
        token.normalized = reader->Bool();
      } else if (key == "special") {
        token.special = reader->Bool();
      } else {
        reader->Raw();
      }
    }
    if (!has_content) reader->Fail("an added token lacks 'content'");
    return token;
  }

  std::string_view json_;
  const std::string& label_;
  TokenizerParts parts_;
  std::unordered_map<std::string, RawValue> sections_;
  std::shared_ptr<TokenTable> table_ = std::make_shared<TokenTable>();
  std::shared_ptr<TokenTable> others_ = std::make_shared<TokenTable>();
  std::unordered_set<uint32_t> added_ids_;
  std::string bytes_;
};

}  // namespace

TokenizerParts ReadTokenizerJson(std::string_view json, const std::string& label) {
  return TokenizerJsonReader(json, label).Read();
}

}  // namespace owml::text
