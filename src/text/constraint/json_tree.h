// A JSON text as a tree that keeps the order of keys and the digits of numbers.
// Used for schemas and for the values in them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer/json_reader.h"

namespace owml::text {

struct JsonTree {
  using Kind = JsonReader::Kind;

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text;                                                        // of a string; of a number, its digits
  std::vector<std::unique_ptr<JsonTree>> elements;                         // of an array
  std::vector<std::pair<std::string, std::unique_ptr<JsonTree>>> members;  // of an object

  bool is(Kind what) const { return kind == what; }
  // Null when absent.
  const JsonTree* Find(std::string_view key) const;
  std::unique_ptr<JsonTree> Copy() const;

  static constexpr size_t kMostValues = 200000;
  static constexpr size_t kLongestText = 8u << 20;

  // Throws E_INVALIDARG: "<label>: ...": not JSON, a key twice, too deep, too large.
  static std::unique_ptr<JsonTree> Read(std::string_view text, const std::string& label);
};

// A decimal number: digits * 10^exponent. No zeros around the digits; zero has none.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;

  bool is_zero() const { return digits.empty(); }
  bool operator==(const Decimal&) const = default;
  bool is_integer() const { return exponent >= 0; }
  std::string integer_part() const;  // "0" for none
  std::string fraction() const;      // without the point

  static constexpr int64_t kMostDigits = 400;

  // `text` is a JSON number. Throws E_INVALIDARG when writing it out takes more than kMostDigits digits.
  static Decimal Of(std::string_view text, const std::string& where);
};

// Whether JSON Schema takes both for the same value: 1 equals 1.0, the order of keys does not matter.
bool SameValue(const JsonTree& a, const JsonTree& b);

}  // namespace owml::text
