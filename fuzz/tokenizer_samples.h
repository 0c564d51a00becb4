// Small tokenizer.json files, together with every kind of model, normalizer, pre-tokenizer, post-processor and decoder.
// Used by the corpus writer and by the text target.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer/byte_alphabet.h"

namespace owml::fuzz {

inline std::string QuotedJson(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

inline std::string TokenizerFile(const std::string& parts, const std::string& model) {
  return "{\"version\": \"1.0\", " + parts + " \"model\": {" + model + "}}";
}

// Every byte, a few joined ones.
inline std::string ByteLevelModel() {
  std::string vocab;
  for (int byte = 0; byte < 256; ++byte) {
    vocab +=
        QuotedJson(text::ToByteAlphabet(std::string(1, static_cast<char>(byte)))) + ": " + std::to_string(byte) + ", ";
  }
  return R"("type": "BPE", "vocab": {)" + vocab +
         R"("aa": 256, "aaaa": 257, "Ġa": 258, "he": 259, "ll": 260, "hell": 261, "Ġhell": 262, "Ã©": 263},
         "merges": [["a", "a"], "aa aa", ["Ġ", "a"], ["h", "e"], ["l", "l"], ["he", "ll"], ["Ġ", "hell"], ["Ã", "©"]])";
}

// Letters, "<0x..>" for every byte.
inline std::string FallbackVocab(const std::string& before, const std::string& behind, const std::string& between) {
  std::string vocab;
  const std::string letters[] = {"<unk>", "<s>", "</s>", "▁",  "a",  "b",  "h", "e",
                                 "l",     "o",   "▁a",   "ab", "he", "ll", "é"};
  int id = 0;
  const auto add = [&](const std::string& token) {
    vocab += (id ? ", " : "") + before + QuotedJson(token) + between +
             (between == ": " ? std::to_string(id) : "-1." + std::to_string(id)) + behind;
    ++id;
  };
  for (const std::string& letter : letters) add(letter);
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) add(std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">");
  return vocab;
}

inline std::string AddedTokenList(int first) {
  const auto entry = [&](const std::string& content, const std::string& flags) {
    return "{\"id\": " + std::to_string(first++) + ", \"content\": \"" + content + "\"" + flags + "}";
  };
  return R"("added_tokens": [)" + entry("<|end|>", R"(, "special": true, "normalized": false)") + ", " +
         entry("<|left|>", R"(, "special": true, "normalized": false, "lstrip": true)") + ", " +
         entry("<|right|>", R"(, "special": false, "normalized": false, "rstrip": true)") + ", " +
         entry("word", R"(, "single_word": true, "normalized": true)") + ", " +
         entry("Né", R"(, "normalized": true, "special": false)") + "],";
}

inline std::vector<std::string> SampleTokenizerFiles() {
  std::vector<std::string> files;
  // Byte level, with a pattern of its own and ByteLevel as the last step.
  files.push_back(TokenizerFile(
      AddedTokenList(264) + R"("normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
       "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
      "post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel", "trim_offsets": false},
       {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [], "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [264], "tokens": ["<|end|>"]}}}]},
      "decoder": {"type": "ByteLevel"},)",
      ByteLevelModel()));
  // ByteLevel in the middle, so that later steps see the alphabet of bytes.
  files.push_back(TokenizerFile(R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [
      {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "ByteLevel", "add_prefix_space": true, "use_regex": true},
      {"type": "Digits", "individual_digits": false}, {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"},
       "behavior": "MergedWithPrevious", "invert": false}]}, "decoder": {"type": "ByteLevel"},)",
                                ByteLevelModel() + R"(, "ignore_merges": true)"));
  files.push_back(
      TokenizerFile(R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "ByteLevel"}]},
      "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "Ġ[^Ġ]*"}, "behavior": "MergedWithNext", "invert": true},
      "decoder": {"type": "ByteLevel"},)",
                    ByteLevelModel()));
  // SentencePiece as BPE, in its two spellings.
  files.push_back(TokenizerFile(
      AddedTokenList(271) + R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
       {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
      "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
       {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},)",
      R"("type": "BPE", "byte_fallback": true, "fuse_unk": true, "unk_token": "<unk>", "vocab": {)" +
          FallbackVocab("", "", ": ") + R"(}, "merges": ["▁ a", "a b", "h e", "l l"])"));
  files.push_back(TokenizerFile(
      R"("pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true},
      "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": true},)",
      R"("type": "BPE", "byte_fallback": true, "unk_token": "<unk>", "vocab": {)" + FallbackVocab("", "", ": ") +
          R"(}, "merges": [])"));
  // Unigram.
  files.push_back(TokenizerFile(
      AddedTokenList(271) +
          R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFD"}, {"type": "StripAccents"}, {"type": "Strip", "strip_left": true, "strip_right": true}]},
      "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}]},
      "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1]},
      "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Metaspace", "replacement": "▁"}]},)",
      R"("type": "Unigram", "byte_fallback": true, "unk_id": 0, "vocab": [)" + FallbackVocab("[", "]", ", ") + "]"));
  files.push_back(TokenizerFile(
      R"("normalizer": {"type": "NFKD"}, "pre_tokenizer": {"type": "FixedLength", "length": 4},)",
      R"("type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.5], ["b", -2], ["ab", -2.5], ["▁", -1]])"));
  // WordPiece, WordLevel.
  files.push_back(TokenizerFile(
      AddedTokenList(9) +
          R"("normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
      "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
      "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},)",
      R"("type": "WordPiece", "unk_token": "[UNK]", "max_input_chars_per_word": 20,
      "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "play": 3, "##ing": 4, "##a": 5, "a": 6, ".": 7, "ne": 8})"));
  files.push_back(TokenizerFile(
      R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, {"type": "Punctuation", "behavior": "MergedWithNext"}]},
      "decoder": {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": true},)",
      R"("type": "WordLevel", "unk_token": "<unk>", "vocab": {"<unk>": 0, "<pad>": 1, "|": 2, "a": 3, "b": 4, "don't": 5})"));
  // Prefix and suffix, unknown characters.
  files.push_back(TokenizerFile(
      R"("normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}]},
      "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "CharDelimiterSplit", "delimiter": "-"}]},
      "decoder": {"type": "BPEDecoder", "suffix": "</w>"},)",
      R"("type": "BPE", "unk_token": "[UNK]", "fuse_unk": true, "end_of_word_suffix": "</w>",
      "vocab": {"[UNK]": 0, "a": 1, "b": 2, "a</w>": 3, "b</w>": 4, "ab</w>": 5}, "merges": ["a b</w>"])"));
  files.push_back(TokenizerFile(R"("decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false},)",
                                R"("type": "BPE", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
      "vocab": {"[UNK]": 0, "a": 1, "##a": 2, "##b": 3, "##ab": 4, "aa": 5}, "merges": ["##a ##b", "a ##a"])"));
  return files;
}

}  // namespace owml::fuzz
