// Reading JSON trees and decimal numbers.
// Called by the schema compiler.
#include "text/constraint/json_tree.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace owml::text {
namespace {

// As RFC 8259 writes numbers.
bool IsNumber(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - begin;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool zero = at < text.size() && text[at] == '0';
  if (const size_t count = digits(); count == 0 || (zero && count > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

class TreeReader {
 public:
  TreeReader(std::string_view text, const std::string& label) : reader_(text, label) {}

  std::unique_ptr<JsonTree> Read() {
    auto tree = Value();
    reader_.End();
    return tree;
  }

 private:
  std::unique_ptr<JsonTree> Value() {
    if (++values_ > JsonTree::kMostValues)
      reader_.Fail("more than " + std::to_string(JsonTree::kMostValues) + " values");
    auto tree = std::make_unique<JsonTree>();
    tree->kind = reader_.Peek();
    switch (tree->kind) {
      case JsonTree::Kind::kNull:
        reader_.TakeNull();
        break;
      case JsonTree::Kind::kBool:
        tree->boolean = reader_.Bool();
        break;
      case JsonTree::Kind::kNumber:
        tree->text = reader_.Raw().first;
        if (!IsNumber(tree->text)) reader_.Fail("\"" + tree->text.substr(0, 100) + "\" is no number");
        break;
      case JsonTree::Kind::kString:
        reader_.String(&tree->text);
        break;
      case JsonTree::Kind::kArray:
        reader_.BeginArray();
        while (reader_.NextElement()) tree->elements.push_back(Value());
        break;
      case JsonTree::Kind::kObject: {
        reader_.BeginObject();
        std::set<std::string> keys;
        std::string key;
        while (reader_.NextKey(&key)) {
          if (!keys.insert(key).second) reader_.Fail("the key \"" + key.substr(0, 100) + "\" is there twice");
          std::string name = key;
          tree->members.emplace_back(std::move(name), Value());
        }
        break;
      }
    }
    return tree;
  }

  JsonReader reader_;
  size_t values_ = 0;
};

}  // namespace

const JsonTree* JsonTree::Find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return value.get();
  }
  return nullptr;
}

std::unique_ptr<JsonTree> JsonTree::Copy() const {
  auto copy = std::make_unique<JsonTree>();
  copy->kind = kind;
  copy->boolean = boolean;
  copy->text = text;
  for (const auto& element : elements) copy->elements.push_back(element->Copy());
  for (const auto& [key, value] : members) copy->members.emplace_back(key, value->Copy());
  return copy;
}

std::unique_ptr<JsonTree> JsonTree::Read(std::string_view text, const std::string& label) {
  if (text.size() > kLongestText) {
    throw Error(E_INVALIDARG,
                label + ": " + std::to_string(text.size()) + " bytes are more than " + std::to_string(kLongestText));
  }
  try {
    return TreeReader(text, label).Read();
  } catch (const Error& error) {
    throw Error(E_INVALIDARG, error.what());
  }
}

std::string Decimal::integer_part() const {
  const auto size = static_cast<int64_t>(digits.size());
  if (size + exponent <= 0) return "0";
  if (exponent >= 0) return digits + std::string(static_cast<size_t>(exponent), '0');
  return digits.substr(0, static_cast<size_t>(size + exponent));
}

std::string Decimal::fraction() const {
  if (exponent >= 0) return {};
  const auto size = static_cast<int64_t>(digits.size());
  if (size + exponent >= 0) return digits.substr(static_cast<size_t>(size + exponent));
  return std::string(static_cast<size_t>(-(size + exponent)), '0') + digits;
}

Decimal Decimal::Of(std::string_view text, const std::string& where) {
  Decimal decimal;
  size_t at = 0;
  if (at < text.size() && text[at] == '-') {
    decimal.negative = true;
    ++at;
  }
  bool point = false;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      point = true;
    } else {
      decimal.digits.push_back(text[at]);
      if (point) --decimal.exponent;
    }
  }
  int64_t power = 0;
  if (at < text.size()) {
    bool minus = false;
    for (++at; at < text.size(); ++at) {
      if (text[at] == '-') minus = true;
      if (text[at] >= '0' && text[at] <= '9' && power < 1000000000) power = power * 10 + (text[at] - '0');
    }
    if (minus) power = -power;
  }
  decimal.exponent += power;
  const size_t zeros = std::min(decimal.digits.find_first_not_of('0'), decimal.digits.size());
  decimal.digits.erase(0, zeros);
  while (!decimal.digits.empty() && decimal.digits.back() == '0') {
    decimal.digits.pop_back();
    ++decimal.exponent;
  }
  if (decimal.digits.empty()) return Decimal{};
  const auto size = static_cast<int64_t>(decimal.digits.size());
  if (size > kMostDigits || decimal.exponent > kMostDigits - size || decimal.exponent < -kMostDigits) {
    throw Error(E_INVALIDARG, where + ": the number " + std::string(text.substr(0, 60)) + " takes more than " +
                                  std::to_string(kMostDigits) + " digits");
  }
  return decimal;
}

bool SameValue(const JsonTree& a, const JsonTree& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case JsonTree::Kind::kNull:
      return true;
    case JsonTree::Kind::kBool:
      return a.boolean == b.boolean;
    case JsonTree::Kind::kNumber:
      return Decimal::Of(a.text, "number") == Decimal::Of(b.text, "number");
    case JsonTree::Kind::kString:
      return a.text == b.text;
    case JsonTree::Kind::kArray:
      return std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(),
                        [](const auto& x, const auto& y) { return SameValue(*x, *y); });
    case JsonTree::Kind::kObject:
      break;
  }
  if (a.members.size() != b.members.size()) return false;
  return std::all_of(a.members.begin(), a.members.end(), [&](const auto& member) {
    const JsonTree* other = b.Find(member.first);
    return other && SameValue(*member.second, *other);
  });
}

}  // namespace owml::text
