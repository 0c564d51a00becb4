// A text on its way through the normalizers and pre-tokenizers, which remembers, when asked to, what part of the
// original each of its bytes stands for. Used by every step of encoding before the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace owml::text {

// Bytes [begin, end) of some text.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator==(const Span&) const = default;
};

struct AlignedText {
  std::string text;
  bool aligned = false;
  std::vector<Span> sources;  // when aligned: for each byte of `text`, bytes of the original
  size_t first_source = 0;    // where the original of the first byte begins; known without alignment too
};

// Writes the next form of a text. Goes over the old one from front to back.
class AlignedWriter {
 public:
  explicit AlignedWriter(const AlignedText& from) : from_(from) {
    to_.aligned = from.aligned;
    to_.text.reserve(from.text.size() + from.text.size() / 8 + 16);
    to_.first_source = from.first_source;
  }

  // Bytes [begin, end) of the old text as they are.
  void Copy(size_t begin, size_t end) {
    if (begin == end) return;
    Begin(begin);
    to_.text.append(from_.text, begin, end - begin);
    if (to_.aligned) {
      to_.sources.insert(to_.sources.end(), from_.sources.begin() + static_cast<std::ptrdiff_t>(begin),
                         from_.sources.begin() + static_cast<std::ptrdiff_t>(end));
    }
  }

  // `bytes` in the place of bytes [begin, end) of the old text; an empty range stands for the border at `begin`.
  void Put(std::string_view bytes, size_t begin, size_t end) {
    if (bytes.empty()) return;
    Begin(begin);
    to_.text.append(bytes);
    if (to_.aligned) to_.sources.insert(to_.sources.end(), bytes.size(), SourceOf(begin, end));
  }

  size_t size() const { return to_.text.size(); }
  AlignedText Take() { return std::move(to_); }

 private:
  void Begin(size_t begin) {
    if (!to_.text.empty() || begin == 0) return;
    to_.first_source =
        from_.aligned && begin < from_.sources.size() ? from_.sources[begin].begin : from_.first_source + begin;
  }
  Span SourceOf(size_t begin, size_t end) const {
    if (begin == end) {
      const uint32_t at = begin < from_.sources.size() ? from_.sources[begin].begin
                          : from_.sources.empty()      ? static_cast<uint32_t>(from_.first_source)
                                                       : from_.sources.back().end;
      return {at, at};
    }
    return {from_.sources[begin].begin, from_.sources[end - 1].end};
  }

  const AlignedText& from_;
  AlignedText to_;
};

}  // namespace owml::text
