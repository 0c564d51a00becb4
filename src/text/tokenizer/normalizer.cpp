// The normalizers that work character by character or by pattern.
// Called by the Tokenizer.
#include "text/tokenizer/normalizer.h"

#include <algorithm>

#include "text/tokenizer/byte_alphabet.h"
#include "text/unicode/cases.h"
#include "text/unicode/classes.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

// Calls `rewrite(code, begin, end, writer)` for each character; it may copy, put something else, or drop it.
template <typename Rewrite>
void ForEachCharacter(AlignedText* text, const Rewrite& rewrite) {
  AlignedWriter writer(*text);
  for (size_t at = 0; at < text->text.size();) {
    const Character character = DecodeCharacter(text->text, at);
    rewrite(character.code, at, at + character.length, &writer);
    at += character.length;
  }
  *text = writer.Take();
}

class Sequence : public Normalizer {
 public:
  explicit Sequence(std::vector<NormalizerPtr> steps) : steps_(std::move(steps)) {}
  void Apply(AlignedText* text) const override {
    for (const NormalizerPtr& step : steps_) step->Apply(text);
  }

 private:
  std::vector<NormalizerPtr> steps_;
};

void NormalizeUnicode(AlignedText* text, NormalizationForm form) {
  NormalizationWalk walk(text->text, form);
  NormalizationWalk::Segment segment;
  if (!walk.Next(&segment) || (segment.unchanged && segment.end == text->text.size())) return;
  AlignedWriter writer(*text);
  do {
    if (segment.unchanged) {
      writer.Copy(segment.begin, segment.end);
      continue;
    }
    for (const NormalizedCharacter& character : *segment.characters) {
      writer.Put(ToUtf8(character.code), character.begin, character.end);
    }
  } while (walk.Next(&segment));
  *text = writer.Take();
}

class UnicodeNormalizer : public Normalizer {
 public:
  explicit UnicodeNormalizer(NormalizationForm form) : form_(form) {}
  void Apply(AlignedText* text) const override { NormalizeUnicode(text, form_); }

 private:
  NormalizationForm form_;
};

class Lowercase : public Normalizer {
 public:
  void Apply(AlignedText* text) const override {
    ForEachCharacter(text, [](char32_t code, size_t begin, size_t end, AlignedWriter* writer) {
      std::string lower;
      AppendLower(&lower, code);
      writer->Put(lower, begin, end);
    });
  }
};

class Strip : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void Apply(AlignedText* text) const override {
    size_t begin = 0;
    size_t end = text->text.size();
    while (left_ && begin < end) {
      const Character character = DecodeCharacter(text->text, begin);
      if (!IsWhiteSpace(character.code)) break;
      begin += character.length;
    }
    while (right_ && end > begin) {
      const size_t last = PreviousCharacter(text->text, end);
      if (!IsWhiteSpace(DecodeCharacter(text->text, last).code)) break;
      end = last;
    }
    if (begin == 0 && end == text->text.size()) return;
    AlignedWriter writer(*text);
    writer.Copy(begin, end);
    *text = writer.Take();
  }

 private:
  bool left_;
  bool right_;
};

class StripAccents : public Normalizer {
 public:
  void Apply(AlignedText* text) const override {
    ForEachCharacter(text, [](char32_t code, size_t begin, size_t end, AlignedWriter* writer) {
      if (!IsCombining(code)) writer->Copy(begin, end);
    });
  }
};

class Replace : public Normalizer {
 public:
  Replace(Regex pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void Apply(AlignedText* text) const override {
    const std::string& before = text->text;
    RegexMatcher matcher(pattern_);
    matcher.Start(before);
    std::optional<RegexMatch> match = matcher.Next();
    if (!match) return;
    AlignedWriter writer(*text);
    size_t done = 0;
    for (; match; match = matcher.Next()) {
      writer.Copy(done, match->begin);
      writer.Put(content_, match->begin, match->end);
      done = match->end;
    }
    writer.Copy(done, before.size());
    *text = writer.Take();
  }

 private:
  Regex pattern_;
  std::string content_;
};

class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}
  void Apply(AlignedText* text) const override {
    if (text->text.empty()) return;
    AlignedWriter writer(*text);
    writer.Put(prefix_, 0, 0);
    writer.Copy(0, text->text.size());
    *text = writer.Take();
  }

 private:
  std::string prefix_;
};

// What SentencePiece's models for translation normalize.
class Nmt : public Normalizer {
 public:
  void Apply(AlignedText* text) const override {
    ForEachCharacter(text, [](char32_t code, size_t begin, size_t end, AlignedWriter* writer) {
      const bool removed = (code >= 0x1 && code <= 0x8) || code == 0xB || (code >= 0xE && code <= 0x1F) ||
                           code == 0x7F || code == 0x8F || code == 0x9F;
      const bool space = code == 0x9 || code == 0xA || code == 0xC || code == 0xD || code == 0x1680 ||
                         (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
                         code == 0xFEFF || code == 0xFFFD;
      if (removed) return;
      if (space) {
        writer->Put(" ", begin, end);
      } else {
        writer->Copy(begin, end);
      }
    });
  }
};

// The blocks that BERT counts as Chinese; one of them begins at 2B920 there, not at 2B820.
bool IsChinese(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B73F) ||
         (code >= 0x2B740 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options) : options_(options) {}
  void Apply(AlignedText* text) const override {
    if (options_.clean_text) {
      ForEachCharacter(text, [](char32_t code, size_t begin, size_t end, AlignedWriter* writer) {
        if (code == 0 || code == kReplacementCharacter || IsControl(code)) return;
        if (code != ' ' && IsWhiteSpace(code)) {
          writer->Put(" ", begin, end);
        } else {
          writer->Copy(begin, end);
        }
      });
    }
    if (options_.handle_chinese_chars) {
      ForEachCharacter(text, [](char32_t code, size_t begin, size_t end, AlignedWriter* writer) {
        const bool chinese = IsChinese(code);
        if (chinese) writer->Put(" ", begin, end);
        writer->Copy(begin, end);
        if (chinese) writer->Put(" ", begin, end);
      });
    }
    if (options_.strip_accents) {
      NormalizeUnicode(text, NormalizationForm::kNfd);
      ForEachCharacter(text, [](char32_t code, size_t begin, size_t end, AlignedWriter* writer) {
        if (!IsNonspacing(code)) writer->Copy(begin, end);
      });
    }
    if (options_.lowercase) Lowercase().Apply(text);
  }

 private:
  BertNormalizerOptions options_;
};

class ByteLevel : public Normalizer {
 public:
  void Apply(AlignedText* text) const override {
    AlignedWriter writer(*text);
    for (size_t at = 0; at < text->text.size(); ++at) {
      writer.Put(ToUtf8(ByteCharacter(static_cast<uint8_t>(text->text[at]))), at, at + 1);
    }
    *text = writer.Take();
  }
};

}  // namespace

NormalizerPtr MakeNormalizerSequence(std::vector<NormalizerPtr> steps) {
  return std::make_unique<Sequence>(std::move(steps));
}
NormalizerPtr MakeUnicodeNormalizer(NormalizationForm form) { return std::make_unique<UnicodeNormalizer>(form); }
NormalizerPtr MakeLowercase() { return std::make_unique<Lowercase>(); }
NormalizerPtr MakeStrip(bool left, bool right) { return std::make_unique<Strip>(left, right); }
NormalizerPtr MakeStripAccents() { return std::make_unique<StripAccents>(); }
NormalizerPtr MakeReplace(Regex pattern, std::string content) {
  return std::make_unique<Replace>(std::move(pattern), std::move(content));
}
NormalizerPtr MakePrepend(std::string text) { return std::make_unique<Prepend>(std::move(text)); }
NormalizerPtr MakeNmt() { return std::make_unique<Nmt>(); }
NormalizerPtr MakeBertNormalizer(const BertNormalizerOptions& options) {
  return std::make_unique<BertNormalizer>(options);
}
NormalizerPtr MakeByteLevelNormalizer() { return std::make_unique<ByteLevel>(); }

}  // namespace owml::text
