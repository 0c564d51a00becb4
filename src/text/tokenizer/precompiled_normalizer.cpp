// The table is a double array of 32-bit units, followed by the replacements, each ended by a zero.
// Called by the Tokenizer.
#include "text/tokenizer/precompiled_normalizer.h"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "formats/bad_data.h"
#include "text/unicode/graphemes.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

std::string FromBase64(std::string_view text, const std::string& label) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    uint32_t digit = 0;
    if (c >= 'A' && c <= 'Z') {
      digit = static_cast<uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      digit = static_cast<uint32_t>(c - 'a') + 26;
    } else if (c >= '0' && c <= '9') {
      digit = static_cast<uint32_t>(c - '0') + 52;
    } else if (c == '+') {
      digit = 62;
    } else if (c == '/') {
      digit = 63;
    } else {
      ThrowBadData(label, "'precompiled_charsmap' is no base64");
    }
    bits = bits << 6 | digit;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>(bits >> count & 0xFF));
    }
  }
  return bytes;
}

class Precompiled : public Normalizer {
 public:
  Precompiled(std::string_view charsmap, const std::string& label) {
    uint32_t size = 0;
    if (charsmap.size() < sizeof(size)) ThrowBadData(label, "the precompiled charsmap ends too early");
    std::memcpy(&size, charsmap.data(), sizeof(size));
    charsmap.remove_prefix(sizeof(size));
    if (size > charsmap.size() || size % sizeof(uint32_t) != 0 || size == 0) {
      ThrowBadData(label, "the precompiled charsmap has a table of " + std::to_string(size) + " bytes; there are " +
                              std::to_string(charsmap.size()));
    }
    units_.resize(size / sizeof(uint32_t));
    std::memcpy(units_.data(), charsmap.data(), size);
    replacements_ = charsmap.substr(size);
    if (replacements_.empty() || replacements_.back() != '\0') {
      ThrowBadData(label, "the precompiled charsmap ends inside a replacement");
    }
    if (ValidPrefix(replacements_) != replacements_.size()) {
      ThrowBadData(label, "the precompiled charsmap has a replacement that is not well-formed UTF-8");
    }
  }

  void Apply(AlignedText* text) const override {
    AlignedWriter writer(*text);
    bool changed = false;
    const std::string& all = text->text;
    for (size_t at = 0; at < all.size();) {
      const size_t end = GraphemeEnd(all, at);
      if (end - at < 6) {
        if (const std::optional<std::string_view> found = Find(std::string_view(all).substr(at, end - at))) {
          writer.Put(*found, at, end);
          changed = true;
          at = end;
          continue;
        }
      }
      while (at < end) {
        const size_t next = at + DecodeCharacter(all, at).length;
        if (const std::optional<std::string_view> found = Find(std::string_view(all).substr(at, next - at))) {
          writer.Put(*found, at, next);
          changed = true;
        } else {
          writer.Copy(at, next);
        }
        at = next;
      }
    }
    if (changed) *text = writer.Take();
  }

 private:
  // The replacement of the shortest entry that `text` begins with; it takes the place of all of it. So do Hugging
  // Face's tokenizers.
  std::optional<std::string_view> Find(std::string_view text) const {
    size_t node = Offset(units_[0]);
    for (const char byte : text) {
      const auto label = static_cast<uint8_t>(byte);
      node ^= label;
      if (label == 0 || node >= units_.size()) return std::nullopt;
      const uint32_t unit = units_[node];
      if ((unit & (0x80000000u | 0xFF)) != label) return std::nullopt;
      node ^= Offset(unit);
      if (node >= units_.size()) return std::nullopt;
      if ((unit >> 8) & 1) {
        const uint32_t start = units_[node] & 0x7FFFFFFFu;
        if (start >= replacements_.size()) return std::nullopt;
        return std::string_view(replacements_.c_str() + start);
      }
    }
    return std::nullopt;
  }
  static size_t Offset(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & 0x200u) >> 6); }

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace

NormalizerPtr MakePrecompiledNormalizer(std::string_view base64, const std::string& label) {
  return MakePrecompiledNormalizerFromBytes(FromBase64(base64, label), label);
}

NormalizerPtr MakePrecompiledNormalizerFromBytes(std::string_view charsmap, const std::string& label) {
  return std::make_unique<Precompiled>(charsmap, label);
}

}  // namespace owml::text
