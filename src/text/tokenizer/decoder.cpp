// The decoding steps.
// Called by the Tokenizer and the streaming decoder.
#include "text/tokenizer/decoder.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "text/tokenizer/byte_alphabet.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

void ReplaceAll(std::string* text, std::string_view from, std::string_view to) {
  if (from.empty() || text->find(from) == std::string::npos) return;
  std::string result;
  size_t done = 0;
  for (size_t at; (at = text->find(from, done)) != std::string::npos; done = at + from.size()) {
    result.append(*text, done, at - done);
    result.append(to);
  }
  result.append(*text, done);
  *text = std::move(result);
}

// Takes away the spaces that splitting into words has brought.
void CleanUp(std::string* text) {
  static constexpr std::pair<std::string_view, std::string_view> kReplacements[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},    {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kReplacements) ReplaceAll(text, from, to);
}

class ByteLevel : public TokenDecoder {
 public:
  void Apply(std::vector<std::string>* texts) const override {
    std::string all;
    std::string bytes;
    for (const std::string& text : *texts) all += FromByteAlphabet(text, &bytes) ? bytes : text;
    texts->assign(1, Repaired(all));
  }
  Streaming streaming() const override { return Streaming::kBytes; }
};

class Metaspace : public TokenDecoder {
 public:
  Metaspace(char32_t replacement, bool drop_first) : replacement_(ToUtf8(replacement)), drop_first_(drop_first) {}
  void Apply(std::vector<std::string>* texts) const override {
    for (size_t i = 0; i < texts->size(); ++i) {
      ReplaceAll(&(*texts)[i], replacement_, i == 0 && drop_first_ ? "" : " ");
    }
  }
  Streaming streaming() const override { return Streaming::kContext; }

 private:
  std::string replacement_;
  bool drop_first_;
};

class WordPiece : public TokenDecoder {
 public:
  WordPiece(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void Apply(std::vector<std::string>* texts) const override {
    for (size_t i = 0; i < texts->size(); ++i) {
      std::string& text = (*texts)[i];
      if (i > 0) {
        if (text.starts_with(prefix_)) {
          text.erase(0, prefix_.size());
        } else {
          text.insert(0, 1, ' ');
        }
      }
      if (cleanup_) CleanUp(&text);
    }
  }
  Streaming streaming() const override { return Streaming::kContext; }

 private:
  std::string prefix_;
  bool cleanup_;
};

class Bpe : public TokenDecoder {
 public:
  explicit Bpe(std::string suffix) : suffix_(std::move(suffix)) {}
  void Apply(std::vector<std::string>* texts) const override {
    for (size_t i = 0; i < texts->size(); ++i) ReplaceAll(&(*texts)[i], suffix_, i + 1 == texts->size() ? "" : " ");
  }
  Streaming streaming() const override { return Streaming::kContext; }

 private:
  std::string suffix_;
};

class ByteFallback : public TokenDecoder {
 public:
  explicit ByteFallback(BadBytes bad_bytes) : bad_bytes_(bad_bytes) {}
  void Apply(std::vector<std::string>* texts) const override {
    std::vector<std::string> result;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (ValidPrefix(bytes) == bytes.size()) {
        result.push_back(bytes);
      } else if (bad_bytes_ == BadBytes::kKeepCharacters) {
        result.push_back(Repaired(bytes));
      } else {
        result.insert(result.end(), bytes.size(), ToUtf8(kReplacementCharacter));
      }
      bytes.clear();
    };
    for (std::string& text : *texts) {
      if (const int byte = ByteOfFallbackToken(text); byte >= 0) {
        bytes.push_back(static_cast<char>(byte));
        continue;
      }
      flush();
      result.push_back(std::move(text));
    }
    flush();
    *texts = std::move(result);
  }
  Streaming streaming() const override { return Streaming::kFallback; }

 private:
  BadBytes bad_bytes_;
};

class Fuse : public TokenDecoder {
 public:
  void Apply(std::vector<std::string>* texts) const override {
    std::string all;
    for (const std::string& text : *texts) all += text;
    texts->assign(1, all);
  }
  Streaming streaming() const override { return Streaming::kFuse; }
};

class Strip : public TokenDecoder {
 public:
  Strip(char32_t content, uint32_t start, uint32_t stop) : content_(ToUtf8(content)), start_(start), stop_(stop) {}
  void Apply(std::vector<std::string>* texts) const override {
    for (std::string& text : *texts) {
      size_t begin = 0;
      for (uint32_t i = 0; i < start_ && std::string_view(text).substr(begin).starts_with(content_); ++i)
        begin += content_.size();
      size_t end = text.size();
      for (uint32_t i = 0; i < stop_ && std::string_view(text).substr(begin, end - begin).ends_with(content_); ++i) {
        end -= content_.size();
      }
      text = text.substr(begin, end - begin);
    }
  }
  Streaming streaming() const override { return stop_ == 0 && start_ <= 1 ? Streaming::kStart : Streaming::kContext; }

 private:
  std::string content_;
  uint32_t start_;
  uint32_t stop_;
};

class Replace : public TokenDecoder {
 public:
  Replace(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void Apply(std::vector<std::string>* texts) const override {
    RegexMatcher matcher(pattern_);
    for (std::string& text : *texts) {
      matcher.Start(text);
      std::optional<RegexMatch> match = matcher.Next();
      if (!match) continue;
      std::string result;
      size_t done = 0;
      for (; match; match = matcher.Next()) {
        result.append(text, done, match->begin - done);
        result += content_;
        done = match->end;
      }
      result.append(text, done);
      text = std::move(result);
    }
  }
  Streaming streaming() const override { return Streaming::kEach; }

 private:
  Regex pattern_;
  std::string content_;
};

class Ctc : public TokenDecoder {
 public:
  Ctc(std::string pad_token, std::string word_delimiter, bool cleanup)
      : pad_token_(std::move(pad_token)), word_delimiter_(std::move(word_delimiter)), cleanup_(cleanup) {}
  void Apply(std::vector<std::string>* texts) const override {
    texts->erase(std::unique(texts->begin(), texts->end()), texts->end());
    std::vector<std::string> result;
    for (std::string& text : *texts) {
      ReplaceAll(&text, pad_token_, "");
      if (cleanup_) {
        CleanUp(&text);
        ReplaceAll(&text, word_delimiter_, " ");
      }
      if (!text.empty()) result.push_back(std::move(text));
    }
    *texts = std::move(result);
  }
  Streaming streaming() const override { return Streaming::kContext; }

 private:
  std::string pad_token_;
  std::string word_delimiter_;
  bool cleanup_;
};

}  // namespace

TokenDecoderPtr MakeByteLevelDecoder() { return std::make_unique<ByteLevel>(); }
TokenDecoderPtr MakeMetaspaceDecoder(char32_t replacement, bool drop_first) {
  return std::make_unique<Metaspace>(replacement, drop_first);
}
TokenDecoderPtr MakeWordPieceDecoder(std::string prefix, bool cleanup) {
  return std::make_unique<WordPiece>(std::move(prefix), cleanup);
}
TokenDecoderPtr MakeBpeDecoder(std::string suffix) { return std::make_unique<Bpe>(std::move(suffix)); }
TokenDecoderPtr MakeByteFallbackDecoder(BadBytes bad_bytes) { return std::make_unique<ByteFallback>(bad_bytes); }
TokenDecoderPtr MakeFuseDecoder() { return std::make_unique<Fuse>(); }
TokenDecoderPtr MakeStripDecoder(char32_t content, uint32_t start, uint32_t stop) {
  return std::make_unique<Strip>(content, start, stop);
}
TokenDecoderPtr MakeReplaceDecoder(Regex pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
TokenDecoderPtr MakeCtcDecoder(std::string pad_token, std::string word_delimiter, bool cleanup) {
  return std::make_unique<Ctc>(std::move(pad_token), std::move(word_delimiter), cleanup);
}

}  // namespace owml::text
