// A model, normalizers, cuts and decoders for each kind of vocabulary.
// Called by the tokenizer factory.
#include "text/tokenizer/tokenizer_gguf.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer/gguf_end_tokens.h"
#include "text/tokenizer/gguf_pre_tokenizers.h"
#include "text/tokenizer/gguf_vocabulary.h"
#include "text/tokenizer/precompiled_normalizer.h"
#include "text/tokenizer/sentencepiece_merges.h"
#include "text/tokenizer/unigram_model.h"
#include "text/tokenizer/word_models.h"

namespace owml::text {
namespace {

constexpr std::string_view kBlock = "\u2581";  // stands for a space in SentencePiece vocabularies

class TokenizerGgufReader {
 public:
  explicit TokenizerGgufReader(const GgufFile& file)
      : file_(file), metadata_(file.metadata()), vocabulary_(ReadGgufVocabulary(file)) {
    parts_.label = file.label();
    parts_.bos = vocabulary_.bos;
    parts_.eos = FindGgufEnds(metadata_, &vocabulary_);
  }

  TokenizerParts Read() {
    if (vocabulary_.kind == "gpt2" || vocabulary_.kind == "gemma4") {
      BytePair();
    } else if (vocabulary_.kind == "llama") {
      SentencePieceBpe();
    } else if (vocabulary_.kind == "bert") {
      WordPiece();
    } else if (vocabulary_.kind == "t5") {
      Unigram();
    } else {
      NotSupported("'tokenizer.ggml.model' is " + Quoted(vocabulary_.kind));
    }
    ReadAddedTokens();
    ReadFrame();
    return std::move(parts_);
  }

 private:
  using Type = GgufVocabulary::Type;

  [[noreturn]] void Bad(const std::string& sentence) const { ThrowBadData(file_.label(), sentence); }
  [[noreturn]] void NotSupported(const std::string& sentence) const {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), file_.label() + ": " + sentence + ", which is not supported");
  }

  void AddAll(bool bytes) {
    auto table = std::make_shared<TokenTable>();
    auto others = std::make_shared<TokenTable>();
    table->Reserve(vocabulary_.tokens.size(), vocabulary_.tokens.size() * 8);
    std::string spelled;
    for (uint32_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      std::string_view text = vocabulary_.tokens[id];
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
    const std::string_view pre =
        vocabulary_.kind == "gemma4" ? "gemma4" : metadata_.FindString("tokenizer.ggml.pre").value_or("");
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
      options.unknown = vocabulary_.unknown;
      SpacesAsBlocks(metadata_.FindBool("tokenizer.ggml.add_space_prefix").value_or(false));
      add_bos_ = true;  // whatever the file says, as its models need it
      force_bos_ = vocabulary_.kind == "gemma4" || pre == "gemma4";
      BlockDecoders(/*prefix=*/false);
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

  void SentencePieceBpe() {
    AddAll(false);
    add_bos_ = true;
    SentencePieceMerges made = MakeSentencePieceMerges(vocabulary_, *parts_.table, file_.label());
    BpeOptions options;
    options.byte_fallback = true;
    options.fuse_unknown = true;
    options.unknown = vocabulary_.unknown;
    parts_.model = std::make_unique<BpeModel>(parts_.table, std::move(made.merges), std::move(options),
                                              std::move(made.part_texts));
    const bool prefix = metadata_.FindBool("tokenizer.ggml.add_space_prefix").value_or(true);
    SpacesAsBlocks(prefix);
    BlockDecoders(prefix);
  }

  // `prefix`: also one ahead of the text.
  void SpacesAsBlocks(bool prefix) {
    std::vector<NormalizerPtr> normalizers;
    if (prefix) normalizers.push_back(MakePrepend(std::string(kBlock)));
    normalizers.push_back(MakeReplace(Regex::Literal(" "), std::string(kBlock)));
    parts_.normalizer = MakeNormalizerSequence(std::move(normalizers));
  }

  void BlockDecoders(bool prefix) {
    parts_.decoders.push_back(MakeReplaceDecoder(Regex::Literal(kBlock), " "));
    parts_.decoders.push_back(MakeByteFallbackDecoder(BadBytes::kKeepCharacters));
    parts_.decoders.push_back(MakeFuseDecoder());
    if (prefix) parts_.decoders.push_back(MakeStripDecoder(' ', 1, 0));
  }

  // The converter writes "word" as U+2581 "word" and "##ing" as "ing"; both get their own spelling back.
  void WordPiece() {
    add_bos_ = true;
    std::vector<std::string> spelled(vocabulary_.tokens.size());
    auto table = std::make_shared<TokenTable>();
    for (uint32_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      std::string_view text = vocabulary_.tokens[id];
      if (text.starts_with(kBlock)) {
        spelled[id] = text.substr(kBlock.size());
      } else if (vocabulary_.types[id] == Type::kNormal &&
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
    options.unknown = vocabulary_.unknown;
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
    std::vector<std::optional<double>> scores(vocabulary_.tokens.size());
    double lowest = std::numeric_limits<double>::infinity();
    for (uint32_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      if (vocabulary_.types[id] == Type::kNormal) lowest = std::min(lowest, vocabulary_.scores[id]);
      if (vocabulary_.MayComeFromText(id))
        scores[id] = vocabulary_.types[id] == Type::kUserDefined ? 0.0 : vocabulary_.scores[id];
    }
    UnigramModel::Options options;
    options.unknown = vocabulary_.unknown;
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
    BlockDecoders(prefix);
  }

  void ReadAddedTokens() {
    const std::string model_name(metadata_.FindString("general.name").value_or(""));
    std::string lower = model_name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const bool phi3 = lower.find("phi-3") != std::string::npos || lower.find("phi3") != std::string::npos;
    for (uint32_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      const bool control = vocabulary_.types[id] == Type::kControl || vocabulary_.types[id] == Type::kUnknown;
      if ((!control && vocabulary_.types[id] != Type::kUserDefined) || vocabulary_.tokens[id].empty()) continue;
      AddedToken token;
      token.id = id;
      token.content = spelled_.empty() ? std::string(vocabulary_.tokens[id]) : spelled_[id];
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
    if (vocabulary_.kind == "bert") {
      if (vocabulary_.separator) parts_.after.push_back(*vocabulary_.separator);
    } else if (add_eos && vocabulary_.eos) {
      parts_.after.push_back(*vocabulary_.eos);
    }
  }

  const GgufFile& file_;
  const GgufMetadata& metadata_;
  GgufVocabulary vocabulary_;
  TokenizerParts parts_;
  std::vector<std::string> spelled_;  // where the file's spelling is not the vocabulary's own
  bool add_bos_ = false;
  bool add_eos_ = false;
  bool force_bos_ = false;
  std::string bytes_;
};

}  // namespace

TokenizerParts ReadTokenizerGguf(const GgufFile& file) { return TokenizerGgufReader(file).Read(); }

}  // namespace owml::text
