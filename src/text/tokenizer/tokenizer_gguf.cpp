// The keys under 'tokenizer.ggml' and what they leave to the kind of vocabulary.
// Called by the tokenizer factory.
#include "text/tokenizer/tokenizer_gguf.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/gguf_pre_tokenizers.h"
#include "text/tokenizer/precompiled_normalizer.h"
#include "text/tokenizer/unigram_model.h"
#include "text/tokenizer/word_models.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr std::string_view kBlock = "\u2581";  // stands for a space in SentencePiece vocabularies

// Numbers of the format.
enum class TokenType : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// Texts of tokens that end a generation, in files that do not say so.
constexpr std::string_view kTurnEnds[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>",         "<|endoftext|>",      "<|end_of_text|>",
    "<EOT>",      "_<EOT>",     "[EOT]",   "<｜end▁of▁sentence｜>", "<end_of_utterance>",
};
constexpr std::string_view kOtherEnds[] = {
    "<|return|>", "<|call|>", "<|flush|>", "<|calls|>",        "</s>", "<|eom_id|>",
    "[EOS]",      "<eos>",    "<turn|>",   "<|tool_response>", "[e~[",
};
// Marked as control tokens in files of gpt-oss, whose text a reader must see.
constexpr std::string_view kShownTokens[] = {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"};

class TokenizerGgufReader {
 public:
  explicit TokenizerGgufReader(const GgufFile& file) : file_(file), metadata_(file.metadata()) {
    parts_.label = file.label();
  }

  TokenizerParts Read() {
    const bool absent = !metadata_.Find("tokenizer.ggml.model");
    kind_ = absent ? "none" : metadata_.RequireString("tokenizer.ggml.model");
    if (kind_ == "none" || kind_ == "no_vocab") {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), file_.label() + " carries no tokenizer");
    }
    ReadTokens();
    ReadTypes();
    ReadScores();
    ReadIds();
    FindEnds();
    if (kind_ == "gpt2" || kind_ == "gemma4") {
      BytePair();
    } else if (kind_ == "llama") {
      SentencePieceBpe();
    } else if (kind_ == "bert") {
      WordPiece();
    } else if (kind_ == "t5") {
      Unigram();
    } else {
      NotSupported("'tokenizer.ggml.model' is " + Quoted(kind_));
    }
    ReadAddedTokens();
    ReadFrame();
    return std::move(parts_);
  }

 private:
  [[noreturn]] void Bad(const std::string& sentence) const { ThrowBadData(file_.label(), sentence); }
  [[noreturn]] void NotSupported(const std::string& sentence) const {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), file_.label() + ": " + sentence + ", which is not supported");
  }

  void ReadTokens() {
    const std::optional<GgufStrings> tokens = metadata_.FindStrings("tokenizer.ggml.tokens");
    if (!tokens) Bad("'tokenizer.ggml.tokens' is missing");
    if (tokens->size() == 0 || tokens->size() > UINT32_MAX / 2) {
      Bad("'tokenizer.ggml.tokens' holds " + std::to_string(tokens->size()) + " tokens");
    }
    tokens_.assign(tokens->begin(), tokens->end());
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      if (!IsValidUtf8(tokens_[id]))
        Bad("token " + std::to_string(id) + ", " + Quoted(tokens_[id]) + ", is not well-formed UTF-8");
    }
  }

  const GgufValue* Parallel(const char* key) const {
    const GgufValue* value = metadata_.Find(key);
    if (!value) return nullptr;
    if (!value->is_array() || value->element_type == GgufValueType::kString ||
        value->element_type == GgufValueType::kArray) {
      Bad(std::string("'") + key + "' has type " + value->TypeName() + "; it must be an array of numbers");
    }
    if (value->count < tokens_.size()) {
      Bad(std::string("'") + key + "' has " + std::to_string(value->count) + " elements for " +
          std::to_string(tokens_.size()) + " tokens");
    }
    return value;
  }

  void ReadTypes() {
    types_.assign(tokens_.size(), TokenType::kNormal);
    const GgufValue* value = Parallel("tokenizer.ggml.token_type");
    if (!value) return;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      const std::optional<int64_t> type = value->Element(id).AsSigned();
      types_[id] = type && *type >= 1 && *type <= 6 ? static_cast<TokenType>(*type) : TokenType::kUnused;
    }
  }

  void ReadScores() {
    scores_.assign(tokens_.size(), 0.0f);
    const GgufValue* value = Parallel("tokenizer.ggml.scores");
    if (!value) return;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      const GgufValue element = value->Element(id);
      const std::optional<int64_t> whole = element.AsSigned();
      const double score = whole ? static_cast<double>(*whole) : element.AsFloat().value_or(std::nan(""));
      if (!std::isfinite(score)) Bad("the score of token " + std::to_string(id) + " is not finite");
      scores_[id] = score;
    }
  }

  // An id outside the vocabulary is common in published files and counts as not there.
  std::optional<uint32_t> SpecialId(const char* name) const {
    const std::optional<uint32_t> id = metadata_.FindUInt32("tokenizer.ggml." + std::string(name) + "_token_id");
    return id && *id < tokens_.size() ? id : std::nullopt;
  }

  void ReadIds() {
    parts_.bos = SpecialId("bos");
    eos_ = SpecialId("eos");
    unknown_ = SpecialId("unknown");
    separator_ = SpecialId("seperator");  // spelled so in the format
    for (uint32_t id = 0; id < tokens_.size(); ++id) ids_.emplace(tokens_[id], id);
    const auto absent = [this](const char* name) {
      return !metadata_.Find("tokenizer.ggml." + std::string(name) + "_token_id");
    };
    // What the kinds of old files without these keys mean, where such tokens are there.
    const auto presume = [&](std::optional<uint32_t>* id, const char* name,
                             std::initializer_list<std::string_view> texts) {
      for (const std::string_view text : texts) {
        const auto found = ids_.find(text);
        if (!*id && absent(name) && found != ids_.end()) *id = found->second;
      }
    };
    if (kind_ == "llama") {
      presume(&parts_.bos, "bos", {"<s>"});
      presume(&eos_, "eos", {"</s>"});
      presume(&unknown_, "unknown", {"<unk>"});
    } else if (kind_ == "bert") {
      presume(&parts_.bos, "bos", {"[CLS]"});
      presume(&unknown_, "unknown", {"[UNK]"});
      presume(&separator_, "seperator", {"[SEP]"});
    } else if (kind_ == "t5") {
      presume(&eos_, "eos", {"</s>"});
      presume(&unknown_, "unknown", {"<unk>"});
    }
  }

  void FindEnds() {
    const auto find = [this](std::string_view text) {
      const auto found = ids_.find(text);
      return found == ids_.end() ? std::nullopt : std::optional(found->second);
    };
    std::vector<uint32_t> ends;
    const auto add = [&](std::optional<uint32_t> id) {
      if (id && std::find(ends.begin(), ends.end(), *id) == ends.end()) ends.push_back(*id);
    };
    std::set<uint32_t> others;
    for (const std::string_view text : kTurnEnds) {
      if (const auto id = find(text)) others.insert(*id);
    }
    for (const std::string_view text : kOtherEnds) {
      if (const auto id = find(text)) others.insert(*id);
    }
    // In the harmony format a message ends with <|end|> and a turn does not.
    const bool calls = find("<|call|>") || find("<|calls|>");
    const bool harmony = calls && (find("<|return|>") || find("<|flush|>"));
    if (const auto id = find("<|end|>"); id && harmony) {
      others.erase(*id);
      types_[*id] = TokenType::kUserDefined;
    }
    // Where </s> is a word like others.
    if (const auto id = find("</s>"); id && (find("<|tool_response>") || find("<|plamo:eos|>"))) {
      others.erase(*id);
      types_[*id] = TokenType::kNormal;
    }
    add(eos_);
    add(SpecialId("eot"));
    for (const std::string_view text : kTurnEnds) {
      const auto id = find(text);
      if (id && others.contains(*id) && !SpecialId("eot")) {
        add(id);
        break;
      }
    }
    add(SpecialId("eom"));
    for (const uint32_t id : others) add(id);
    for (const char* name : {"fim_pad", "fim_rep", "fim_sep"}) add(SpecialId(name));
    for (const uint32_t id : ends) {
      if (types_[id] == TokenType::kNormal || types_[id] == TokenType::kUserDefined) types_[id] = TokenType::kControl;
    }
    for (const std::string_view text : kShownTokens) {
      if (const auto id = find(text)) types_[*id] = TokenType::kUserDefined;
    }
    parts_.eos = std::move(ends);
  }

  void AddAll(bool bytes) {
    auto table = std::make_shared<TokenTable>();
    auto others = std::make_shared<TokenTable>();
    table->Reserve(tokens_.size(), tokens_.size() * 8);
    std::string spelled;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      std::string_view text = tokens_[id];
      // Fillers without a text: told apart so that each id is a token.
      const std::string filler = text.empty() ? "[EMPTY_" + std::to_string(id) + "]" : "";
      if (text.empty()) text = filler;
      const bool is_text = bytes && FromByteAlphabet(text, &spelled);
      const bool added = !bytes ? table->Add(text, id) : is_text ? table->Add(spelled, id) : others->Add(text, id);
      if (!added) Bad("the token " + Quoted(text) + " occurs twice");
    }
    parts_.byte_level = bytes;
    parts_.table = std::move(table);
    if (others->size() > 0) parts_.others = std::move(others);
  }

  void BytePair() {
    const std::string_view pre = kind_ == "gemma4" ? "gemma4" : metadata_.FindString("tokenizer.ggml.pre").value_or("");
    const GgufPreTokenizer* rules = FindGgufPreTokenizer(pre);
    if (!rules) NotSupported("'tokenizer.ggml.pre' is " + Quoted(pre));
    add_bos_ = rules->add_bos;
    AddAll(!rules->spaces_as_blocks);
    std::vector<PreTokenizerPtr> steps;
    for (const char* pattern : rules->patterns) {
      steps.push_back(MakeSplit(Regex::Compile(pattern, file_.label()), SplitBehavior::kIsolated, false));
    }
    BpeOptions options;
    options.bytes = !rules->spaces_as_blocks;
    options.ignore_merges = rules->ignore_merges;
    if (rules->spaces_as_blocks) {
      options.byte_fallback = true;
      options.fuse_unknown = true;
      options.unknown = unknown_;
      std::vector<NormalizerPtr> normalizers;
      if (metadata_.FindBool("tokenizer.ggml.add_space_prefix").value_or(false)) {
        normalizers.push_back(MakePrepend(std::string(kBlock)));
      }
      normalizers.push_back(MakeReplace(Regex::Literal(" "), std::string(kBlock)));
      parts_.normalizer = MakeNormalizerSequence(std::move(normalizers));
      add_bos_ = true;  // whatever the file says, as its models need it
      force_bos_ = kind_ == "gemma4" || pre == "gemma4";
      parts_.decoders.push_back(MakeReplaceDecoder(Regex::Literal(kBlock), " "));
      parts_.decoders.push_back(MakeByteFallbackDecoder(BadBytes::kKeepCharacters));
      parts_.decoders.push_back(MakeFuseDecoder());
    } else {
      steps.push_back(MakeByteLevel(/*add_prefix_space=*/false, /*use_regex=*/false, /*last=*/true));
      parts_.decoders.push_back(MakeByteLevelDecoder());
    }
    parts_.pre_tokenizer = MakePreTokenizerSequence(std::move(steps));
    parts_.model = std::make_unique<BpeModel>(parts_.table, ReadMerges(), std::move(options));
  }

  uint32_t TokenOf(std::string_view spelling) {
    if (!parts_.byte_level) return parts_.table->Find(spelling);
    if (FromByteAlphabet(spelling, &bytes_)) return parts_.table->Find(bytes_);
    return kNoToken;
  }

  std::vector<BpeMerge> ReadMerges() {
    const std::optional<GgufStrings> lines = metadata_.FindStrings("tokenizer.ggml.merges");
    if (!lines) Bad("'tokenizer.ggml.merges' is missing");
    std::vector<BpeMerge> merges;
    std::string joined;
    uint32_t rank = 0;
    for (const std::string_view line : *lines) {
      const size_t space = line.size() > 1 ? line.find(' ', 1) : std::string_view::npos;
      if (space == std::string_view::npos) {
        Bad("merge " + std::to_string(rank) + ", " + Quoted(line) + ", is not two tokens with a space between");
      }
      joined.assign(line.substr(0, space)).append(line.substr(space + 1));
      const BpeMerge merge = {TokenOf(line.substr(0, space)), TokenOf(line.substr(space + 1)), TokenOf(joined), rank};
      if (merge.left == kNoToken || merge.right == kNoToken || merge.joined == kNoToken) {
        Bad("merge " + std::to_string(rank) + ", " + Quoted(line) + ", joins what is no token");
      }
      merges.push_back(merge);
      ++rank;
    }
    return merges;
  }

  bool MayComeFromText(uint32_t id) const {
    return types_[id] == TokenType::kNormal || types_[id] == TokenType::kUserDefined ||
           types_[id] == TokenType::kUnused;
  }

  // SentencePiece joins any two neighbours that form a token, the token with the highest score first: a merge for each
  // way to cut a token in two, equal scores with equal ranks.
  void SentencePieceBpe() {
    constexpr size_t kLongestToken = 1024;
    AddAll(false);
    add_bos_ = true;
    std::vector<double> order;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      if (MayComeFromText(id)) order.push_back(scores_[id]);
    }
    std::sort(order.begin(), order.end(), std::greater<>());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    std::map<std::string_view, uint32_t> parts;
    std::vector<std::string> part_texts;
    const auto symbol = [&](std::string_view text) -> uint32_t {
      const uint32_t token = parts_.table->Find(text);
      if (token != kNoToken && MayComeFromText(token)) return token;
      if (token != kNoToken || DecodeCharacter(text, 0).length != text.size()) return kNoToken;
      const auto [found, added] =
          parts.try_emplace(text, static_cast<uint32_t>(parts_.table->limit() + part_texts.size()));
      if (added) part_texts.emplace_back(text);
      return found->second;
    };
    std::vector<BpeMerge> merges;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      const std::string_view text = tokens_[id];
      if (!MayComeFromText(id) || text.empty()) continue;
      if (text.size() > kLongestToken)
        Bad("token " + std::to_string(id) + " has " + std::to_string(text.size()) + " bytes");
      const auto rank = static_cast<uint32_t>(
          std::lower_bound(order.begin(), order.end(), scores_[id], std::greater<>()) - order.begin());
      for (size_t at = DecodeCharacter(text, 0).length; at < text.size(); at += DecodeCharacter(text, at).length) {
        const uint32_t left = symbol(text.substr(0, at));
        if (left == kNoToken) continue;
        const uint32_t right = symbol(text.substr(at));
        if (right != kNoToken) merges.push_back({left, right, id, rank});
      }
    }
    BpeOptions options;
    options.byte_fallback = true;
    options.fuse_unknown = true;
    options.unknown = unknown_;
    parts_.model =
        std::make_unique<BpeModel>(parts_.table, std::move(merges), std::move(options), std::move(part_texts));
    const bool prefix = metadata_.FindBool("tokenizer.ggml.add_space_prefix").value_or(true);
    std::vector<NormalizerPtr> normalizers;
    if (prefix) normalizers.push_back(MakePrepend(std::string(kBlock)));
    normalizers.push_back(MakeReplace(Regex::Literal(" "), std::string(kBlock)));
    parts_.normalizer = MakeNormalizerSequence(std::move(normalizers));
    SentencePieceDecoders(prefix);
  }

  void SentencePieceDecoders(bool prefix) {
    parts_.decoders.push_back(MakeReplaceDecoder(Regex::Literal(kBlock), " "));
    parts_.decoders.push_back(MakeByteFallbackDecoder(BadBytes::kKeepCharacters));
    parts_.decoders.push_back(MakeFuseDecoder());
    if (prefix) parts_.decoders.push_back(MakeStripDecoder(' ', 1, 0));
  }

  // The converter writes "word" as U+2581 "word" and "##ing" as "ing"; both get their own spelling back.
  void WordPiece() {
    add_bos_ = true;
    std::vector<std::string> spelled(tokens_.size());
    auto table = std::make_shared<TokenTable>();
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      std::string_view text = tokens_[id];
      if (text.starts_with(kBlock)) {
        spelled[id] = text.substr(kBlock.size());
      } else if (types_[id] == TokenType::kNormal &&
                 !(text.starts_with('[') && text.ends_with(']') && text.size() > 2)) {
        spelled[id] = "##" + std::string(text);
      } else {
        spelled[id] = text;
      }
      if (!table->Add(spelled[id], id)) Bad("the token " + Quoted(text) + " occurs twice");
    }
    spelled_ = std::move(spelled);
    parts_.table = std::move(table);
    BertNormalizerOptions normalizer;
    normalizer.lowercase = metadata_.FindBool("tokenizer.ggml.normalizer.lowercase").value_or(true);
    normalizer.strip_accents =
        metadata_.FindBool("tokenizer.ggml.normalizer.strip_accents").value_or(normalizer.lowercase);
    parts_.normalizer = MakeBertNormalizer(normalizer);
    parts_.pre_tokenizer = MakeBertPreTokenizer();
    WordPieceOptions options;
    options.unknown = unknown_;
    options.continuing_prefix = "##";
    parts_.model = std::make_unique<WordPieceModel>(parts_.table, std::move(options));
    parts_.decoders.push_back(MakeWordPieceDecoder("##", true));
  }

  void Unigram() {
    if (metadata_.FindBool("tokenizer.ggml.treat_whitespace_as_suffix").value_or(false)) {
      NotSupported("'tokenizer.ggml.treat_whitespace_as_suffix' is true");
    }
    AddAll(false);
    add_eos_ = true;
    std::vector<std::optional<double>> scores(tokens_.size());
    double lowest = std::numeric_limits<double>::infinity();
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      if (types_[id] == TokenType::kNormal) lowest = std::min(lowest, scores_[id]);
      if (MayComeFromText(id)) scores[id] = types_[id] == TokenType::kUserDefined ? 0.0 : scores_[id];
    }
    UnigramModel::Options options;
    options.unknown = unknown_;
    constexpr double kUnknownPenalty = 10.0;
    parts_.model = std::make_unique<UnigramModel>(parts_.table, std::move(scores), lowest - kUnknownPenalty, options);
    std::vector<NormalizerPtr> normalizers;
    if (const GgufValue* charsmap = metadata_.Find("tokenizer.ggml.precompiled_charsmap")) {
      const bool is_bytes = charsmap->is_array() && (charsmap->element_type == GgufValueType::kUInt8 ||
                                                     charsmap->element_type == GgufValueType::kInt8);
      if (!is_bytes)
        Bad("'tokenizer.ggml.precompiled_charsmap' has type " + charsmap->TypeName() +
            "; it must be an array of bytes");
      const auto bytes = charsmap->payload;
      normalizers.push_back(
          MakePrecompiledNormalizerFromBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                             file_.label() + ": 'tokenizer.ggml.precompiled_charsmap'"));
    }
    if (metadata_.FindBool("tokenizer.ggml.remove_extra_whitespaces").value_or(false)) {
      normalizers.push_back(MakeReplace(Regex::Compile("^ +| +$|(?<= ) +", file_.label()), ""));
    }
    const bool prefix = metadata_.FindBool("tokenizer.ggml.add_space_prefix").value_or(true);
    if (prefix) normalizers.push_back(MakePrepend(" "));
    normalizers.push_back(MakeReplace(Regex::Literal(" "), std::string(kBlock)));
    parts_.normalizer = MakeNormalizerSequence(std::move(normalizers));
    SentencePieceDecoders(prefix);
  }

  void ReadAddedTokens() {
    const std::string model_name(metadata_.FindString("general.name").value_or(""));
    std::string lower = model_name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const bool phi3 = lower.find("phi-3") != std::string::npos || lower.find("phi3") != std::string::npos;
    for (uint32_t id = 0; id < tokens_.size(); ++id) {
      const bool control = types_[id] == TokenType::kControl || types_[id] == TokenType::kUnknown;
      if ((!control && types_[id] != TokenType::kUserDefined) || tokens_[id].empty()) continue;
      AddedToken token;
      token.id = id;
      token.content = spelled_.empty() ? std::string(tokens_[id]) : spelled_[id];
      token.pattern = token.content;
      token.special = control;
      // The format has no place for this; its models need it.
      const bool plain = token.content == "<unk>" || token.content == "<s>" || token.content == "<|endoftext|>";
      token.right_strip = phi3 && !plain;
      token.left_strip = token.content == "<mask>" || token.content == "[MASK]";
      parts_.added.push_back(std::move(token));
    }
  }

  void ReadFrame() {
    bool add_bos = metadata_.FindBool("tokenizer.ggml.add_bos_token").value_or(add_bos_);
    add_bos |= force_bos_;
    const bool add_eos = metadata_.FindBool("tokenizer.ggml.add_eos_token").value_or(add_eos_);
    if (add_bos && parts_.bos) parts_.before.push_back(*parts_.bos);
    if (kind_ == "bert") {
      if (separator_) parts_.after.push_back(*separator_);
    } else if (add_eos && eos_) {
      parts_.after.push_back(*eos_);
    }
  }

  const GgufFile& file_;
  const GgufMetadata& metadata_;
  TokenizerParts parts_;
  std::string_view kind_;
  std::vector<std::string_view> tokens_;
  std::vector<TokenType> types_;
  std::vector<double> scores_;
  std::map<std::string_view, uint32_t> ids_;
  std::vector<std::string> spelled_;  // where the file's spelling is not the vocabulary's own
  std::optional<uint32_t> eos_;
  std::optional<uint32_t> unknown_;
  std::optional<uint32_t> separator_;
  bool add_bos_ = false;
  bool add_eos_ = false;
  bool force_bos_ = false;
  std::string bytes_;
};

}  // namespace

TokenizerParts ReadTokenizerGguf(const GgufFile& file) { return TokenizerGgufReader(file).Read(); }

}  // namespace owml::text
