// Cutting by patterns and by classes of characters, and the pre-tokenizers that rewrite the text while they cut.
// Called by the Tokenizer.
#include "text/tokenizer/pre_tokenizer.h"

#include <string_view>

#include "text/tokenizer/byte_alphabet.h"
#include "text/unicode/classes.h"
#include "text/unicode/scripts.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

// Receives the parts of one piece in order, matched and not, and joins them as the behavior says.
class PartJoiner {
 public:
  PartJoiner(SplitBehavior behavior, std::vector<Span>* spans) : behavior_(behavior), spans_(spans) {}

  void Add(Span part, bool matched) {
    switch (behavior_) {
      case SplitBehavior::kIsolated:
        spans_->push_back(part);
        break;
      case SplitBehavior::kRemoved:
        if (!matched) spans_->push_back(part);
        break;
      case SplitBehavior::kContiguous:
        if (any_ && matched == last_matched_) {
          spans_->back().end = part.end;
        } else {
          spans_->push_back(part);
        }
        break;
      case SplitBehavior::kMergedWithPrevious:
        if (matched && !last_matched_ && any_) {
          spans_->back().end = part.end;
        } else {
          spans_->push_back(part);
        }
        break;
      case SplitBehavior::kMergedWithNext:
        // Only the last of several matches in a row joins what follows.
        if (any_ && last_matched_ && !matched) {
          spans_->back().end = part.end;
        } else {
          spans_->push_back(part);
        }
        break;
    }
    any_ = true;
    last_matched_ = matched;
  }

 private:
  SplitBehavior behavior_;
  std::vector<Span>* spans_;
  bool any_ = false;
  bool last_matched_ = false;
};

class Sequence : public PreTokenizer {
 public:
  explicit Sequence(std::vector<PreTokenizerPtr> steps) : steps_(std::move(steps)) {}
  void Apply(Pieces* pieces) const override {
    for (const PreTokenizerPtr& step : steps_) step->Apply(pieces);
  }

 private:
  std::vector<PreTokenizerPtr> steps_;
};

std::string_view TextOf(const Pieces& pieces, Span span) {
  return std::string_view(pieces.text.text).substr(span.begin, span.end - span.begin);
}

void SplitByRegex(const Regex& pattern, SplitBehavior behavior, bool invert, Pieces* pieces) {
  RegexMatcher matcher(pattern);
  std::vector<Span> spans;
  spans.reserve(pieces->text.text.size() / 5 + 8);
  for (const Span piece : pieces->spans) {
    PartJoiner joiner(behavior, &spans);
    matcher.Start(TextOf(*pieces, piece));
    uint32_t done = piece.begin;
    while (const std::optional<RegexMatch> match = matcher.Next()) {
      const Span part{piece.begin + static_cast<uint32_t>(match->begin),
                      piece.begin + static_cast<uint32_t>(match->end)};
      if (part.begin > done) joiner.Add({done, part.begin}, invert);
      if (part.end > part.begin) joiner.Add(part, !invert);
      done = part.end;
    }
    if (done < piece.end) joiner.Add({done, piece.end}, invert);
  }
  pieces->spans = std::move(spans);
}

class Split : public PreTokenizer {
 public:
  Split(Regex pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void Apply(Pieces* pieces) const override { SplitByRegex(pattern_, behavior_, invert_, pieces); }

 private:
  Regex pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

// Each character for which `matches` holds is a match of its own.
template <typename Matches>
void SplitByCharacter(const Matches& matches, SplitBehavior behavior, Pieces* pieces) {
  std::vector<Span> spans;
  const std::string& text = pieces->text.text;
  for (const Span piece : pieces->spans) {
    PartJoiner joiner(behavior, &spans);
    uint32_t done = piece.begin;
    for (uint32_t at = piece.begin; at < piece.end;) {
      const Character character = DecodeCharacter(text, at);
      const uint32_t next = at + character.length;
      if (matches(character.code)) {
        if (at > done) joiner.Add({done, at}, false);
        joiner.Add({at, next}, true);
        done = next;
      }
      at = next;
    }
    if (done < piece.end) joiner.Add({done, piece.end}, false);
  }
  pieces->spans = std::move(spans);
}

template <typename Matches>
class CharacterSplit : public PreTokenizer {
 public:
  CharacterSplit(Matches matches, SplitBehavior behavior) : matches_(matches), behavior_(behavior) {}
  void Apply(Pieces* pieces) const override { SplitByCharacter(matches_, behavior_, pieces); }

 private:
  Matches matches_;
  SplitBehavior behavior_;
};

template <typename Matches>
PreTokenizerPtr MakeCharacterSplit(Matches matches, SplitBehavior behavior) {
  return std::make_unique<CharacterSplit<Matches>>(matches, behavior);
}

// Writes a new text piece by piece.
class PieceWriter {
 public:
  explicit PieceWriter(Pieces* pieces) : pieces_(pieces), writer_(pieces->text) {}

  AlignedWriter& writer() { return writer_; }
  void Begin() { start_ = writer_.size(); }
  void End() {
    if (writer_.size() > start_) {
      spans_.push_back({static_cast<uint32_t>(start_), static_cast<uint32_t>(writer_.size())});
    }
  }
  void Finish() {
    pieces_->text = writer_.Take();
    pieces_->spans = std::move(spans_);
  }

 private:
  Pieces* pieces_;
  AlignedWriter writer_;
  std::vector<Span> spans_;
  size_t start_ = 0;
};

class ByteLevel : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, bool use_regex, bool last)
      : add_prefix_space_(add_prefix_space), use_regex_(use_regex), last_(last) {}

  void Apply(Pieces* pieces) const override {
    if (add_prefix_space_) AddSpaces(pieces);
    if (use_regex_) {
      static const Regex pattern =
          Regex::Compile(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", "ByteLevel");
      SplitByRegex(pattern, SplitBehavior::kIsolated, false, pieces);
    }
    if (last_) {
      pieces->form = Pieces::Form::kBytes;
      return;
    }
    PieceWriter out(pieces);
    for (const Span piece : pieces->spans) {
      out.Begin();
      for (uint32_t at = piece.begin; at < piece.end; ++at) {
        out.writer().Put(ToUtf8(ByteCharacter(static_cast<uint8_t>(pieces->text.text[at]))), at, at + 1);
      }
      out.End();
    }
    out.Finish();
    pieces->form = Pieces::Form::kByteAlphabet;
  }

 private:
  static void AddSpaces(Pieces* pieces) {
    bool needed = false;
    for (const Span piece : pieces->spans) needed |= pieces->text.text[piece.begin] != ' ';
    if (!needed) return;
    PieceWriter out(pieces);
    for (const Span piece : pieces->spans) {
      out.Begin();
      if (pieces->text.text[piece.begin] != ' ') out.writer().Put(" ", piece.begin, piece.begin);
      out.writer().Copy(piece.begin, piece.end);
      out.End();
    }
    out.Finish();
  }

  bool add_prefix_space_;
  bool use_regex_;
  bool last_;
};

class Metaspace : public PreTokenizer {
 public:
  Metaspace(char32_t replacement, PrependScheme scheme, bool split)
      : replacement_(ToUtf8(replacement)), code_(replacement), scheme_(scheme), split_(split) {}

  void Apply(Pieces* pieces) const override {
    PieceWriter out(pieces);
    const std::string& text = pieces->text.text;
    for (const Span piece : pieces->spans) {
      out.Begin();
      const std::string_view all = TextOf(*pieces, piece);
      const bool marked = all.starts_with(' ') || all.starts_with(replacement_);
      const bool wanted =
          scheme_ == PrependScheme::kAlways || (scheme_ == PrependScheme::kFirst && IsFirst(*pieces, piece));
      if (wanted && !marked) out.writer().Put(replacement_, piece.begin, piece.begin);
      for (size_t at = piece.begin; at < piece.end;) {
        size_t space = text.find(' ', at);
        if (space == std::string::npos || space > piece.end) space = piece.end;
        out.writer().Copy(at, space);
        if (space < piece.end) out.writer().Put(replacement_, space, space + 1);
        at = space + 1;
      }
      out.End();
    }
    out.Finish();
    if (split_) {
      SplitByCharacter([this](char32_t code) { return code == code_; }, SplitBehavior::kMergedWithNext, pieces);
    }
  }

 private:
  static bool IsFirst(const Pieces& pieces, Span piece) {
    if (pieces.text.aligned) return pieces.text.sources[piece.begin].begin == 0;
    return piece.begin == 0 && pieces.text.first_source == 0;
  }

  std::string replacement_;
  char32_t code_;
  PrependScheme scheme_;
  bool split_;
};

// Runs of word characters and runs of others, without white space.
class Whitespace : public PreTokenizer {
 public:
  void Apply(Pieces* pieces) const override {
    enum class Class : uint8_t { kSpace, kWord, kOther };
    std::vector<Span> spans;
    for (const Span piece : pieces->spans) {
      Class last = Class::kSpace;
      for (uint32_t at = piece.begin; at < piece.end;) {
        const Character character = DecodeCharacter(pieces->text.text, at);
        const Class now = IsPlainWord(character.code)    ? Class::kWord
                          : IsWhiteSpace(character.code) ? Class::kSpace
                                                         : Class::kOther;
        if (now != Class::kSpace) {
          if (now != last) spans.push_back({at, at});
          spans.back().end = at + character.length;
        }
        last = now;
        at += character.length;
      }
    }
    pieces->spans = std::move(spans);
  }
};

class FixedLength : public PreTokenizer {
 public:
  explicit FixedLength(uint32_t length) : length_(length) {}
  void Apply(Pieces* pieces) const override {
    std::vector<Span> spans;
    for (const Span piece : pieces->spans) {
      uint32_t taken = 0;
      for (uint32_t at = piece.begin; at < piece.end; ++taken) {
        if (taken % length_ == 0) spans.push_back({at, at});
        at += DecodeCharacter(pieces->text.text, at).length;
        spans.back().end = at;
      }
    }
    pieces->spans = std::move(spans);
  }

 private:
  uint32_t length_;
};

class UnicodeScripts : public PreTokenizer {
 public:
  void Apply(Pieces* pieces) const override {
    std::vector<Span> spans;
    for (const Span piece : pieces->spans) {
      uint8_t last = 0;
      bool open = false;
      for (uint32_t at = piece.begin; at < piece.end;) {
        const Character character = DecodeCharacter(pieces->text.text, at);
        const uint8_t script = SplitScript(character.code);
        if (script != 0 && script != last) {
          spans.push_back({at, at});
          open = true;
        }
        if (script != 0) last = script;
        at += character.length;
        // What comes before the first character with a script is dropped, as in Hugging Face's tokenizers.
        if (open) spans.back().end = at;
      }
    }
    pieces->spans = std::move(spans);
  }
};

}  // namespace

PreTokenizerPtr MakePreTokenizerSequence(std::vector<PreTokenizerPtr> steps) {
  return std::make_unique<Sequence>(std::move(steps));
}
PreTokenizerPtr MakeSplit(Regex pattern, SplitBehavior behavior, bool invert) {
  return std::make_unique<Split>(std::move(pattern), behavior, invert);
}
PreTokenizerPtr MakeByteLevel(bool add_prefix_space, bool use_regex, bool last) {
  return std::make_unique<ByteLevel>(add_prefix_space, use_regex, last);
}
PreTokenizerPtr MakeDigits(bool individual) {
  return MakeCharacterSplit(IsNumeric, individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}
PreTokenizerPtr MakePunctuation(SplitBehavior behavior) { return MakeCharacterSplit(IsPunctuation, behavior); }
PreTokenizerPtr MakeWhitespaceSplit() { return MakeCharacterSplit(IsWhiteSpace, SplitBehavior::kRemoved); }
PreTokenizerPtr MakeBertPreTokenizer() {
  std::vector<PreTokenizerPtr> steps;
  steps.push_back(MakeWhitespaceSplit());
  steps.push_back(MakePunctuation(SplitBehavior::kIsolated));
  return MakePreTokenizerSequence(std::move(steps));
}
PreTokenizerPtr MakeWhitespace() { return std::make_unique<Whitespace>(); }
PreTokenizerPtr MakeCharDelimiterSplit(char32_t delimiter) {
  return MakeCharacterSplit([delimiter](char32_t code) { return code == delimiter; }, SplitBehavior::kRemoved);
}
PreTokenizerPtr MakeFixedLength(uint32_t length) { return std::make_unique<FixedLength>(length); }
PreTokenizerPtr MakeUnicodeScripts() { return std::make_unique<UnicodeScripts>(); }
PreTokenizerPtr MakeMetaspace(char32_t replacement, PrependScheme scheme, bool split) {
  return std::make_unique<Metaspace>(replacement, scheme, split);
}

void WriteOutBytes(Pieces* pieces) {
  PieceWriter out(pieces);
  const std::string& text = pieces->text.text;
  for (const Span piece : pieces->spans) {
    out.Begin();
    for (uint32_t at = piece.begin; at < piece.end;) {
      const Character character = DecodeCharacter(text, at);
      const uint32_t next = at + character.length;
      const int byte = CharacterByte(character.code);
      if (byte >= 0) {
        const char value = static_cast<char>(byte);
        out.writer().Put({&value, 1}, at, next);
      } else {
        out.writer().Copy(at, next);  // came in behind the byte-level step
      }
      at = next;
    }
    out.End();
  }
  out.Finish();
  pieces->form = Pieces::Form::kBytes;
}

}  // namespace owml::text
