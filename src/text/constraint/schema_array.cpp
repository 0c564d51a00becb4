// Arrays: prefix, rest, number of elements, `contains`, and unique elements where they have few values.
// Called by SchemaGrammar.
#include "text/constraint/schema_array.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"

namespace owml::text {
namespace {
constexpr uint64_t kMostElements = 100000;
constexpr size_t kMostUnique = 8;
}  // namespace

SchemaArrayWriter::SchemaArrayWriter(SchemaGrammar* owner, const SchemaBranch& branch)
    : owner_(owner), grammar_(owner->grammar_), branch_(branch) {
  for (const auto& elements : branch_.elements) prefix_ = std::max<uint64_t>(prefix_, elements.prefix.size());
}

Literals SchemaArrayWriter::ElementAt(uint64_t index) const {
  Literals literals;
  for (const auto& elements : branch_.elements) {
    if (index < elements.prefix.size()) {
      AddLiterals(&literals, elements.prefix[index]);
    } else if (elements.rest) {
      AddLiterals(&literals, *elements.rest);
    }
  }
  return literals;
}

Grammar::Node SchemaArrayWriter::Write() {
  const uint64_t fewest = branch_.element_count.least;
  if (branch_.element_count.empty()) return grammar_->Nothing();
  if (fewest > kMostElements || branch_.element_count.most.value_or(0) > kMostElements) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "JSON schema: \"minItems\" and \"maxItems\" are supported up to " + std::to_string(kMostElements));
  }
  if (branch_.unique && branch_.element_count.most.value_or(2) > 1) return Unique();
  if (branch_.contains.empty()) return Simple();
  const Grammar::Rule rule = Counting(0, Counts(branch_.contains.size(), 0));
  while (!open_.empty()) {
    const auto [state, at] = open_.back();
    open_.pop_back();
    WriteCounting(state.first, state.second, at);
  }
  return grammar_->Sequence({grammar_->Literal("["), grammar_->Call(rule)});
}

Grammar::Node SchemaArrayWriter::Simple() {
  const uint64_t fewest = branch_.element_count.least;
  const std::optional<uint64_t> most = branch_.element_count.most;
  const Node close = grammar_->Literal("]");
  // Behind the prefix.
  Node tail = close;
  if (!most || *most > prefix_) {
    const Node element = owner_->ValueOf(ElementAt(prefix_));
    const auto bound = [&](uint64_t written) {
      return most ? static_cast<uint32_t>(*most - written) : Grammar::kUnbounded;
    };
    const auto missing = [&](uint64_t written) {
      return static_cast<uint32_t>(fewest > written ? fewest - written : 0);
    };
    const Node next = grammar_->Sequence({owner_->Comma(), element});
    if (prefix_ > 0) {
      tail = grammar_->Sequence({grammar_->Repeat(next, missing(prefix_), bound(prefix_)), close});
    } else {
      const Node some = grammar_->Sequence({element, grammar_->Repeat(next, missing(1), bound(1))});
      tail = grammar_->Sequence({fewest == 0 ? grammar_->Optional(some) : some, close});
    }
  }
  // The prefix from its end; each step is a rule, so that a long one does not nest.
  uint64_t last = prefix_;
  if (most) last = std::min(last, *most);
  for (uint64_t i = last; i-- > 0;) {
    std::vector<Node> parts;
    if (i > 0) parts.push_back(owner_->Comma());
    parts.push_back(owner_->ValueOf(ElementAt(i)));
    parts.push_back(tail);
    std::vector<Node> choices{grammar_->Sequence(std::move(parts))};
    if (i >= fewest) choices.push_back(close);
    const Grammar::Rule rule = owner_->NewRule();
    grammar_->Define(rule, grammar_->Choice(std::move(choices)));
    tail = grammar_->Call(rule);
  }
  return grammar_->Sequence({grammar_->Literal("["), tail});
}

Grammar::Rule SchemaArrayWriter::Counting(uint64_t index, const Counts& counts) {
  // Past everything that depends on it the place does not matter, only that there is an element before.
  uint64_t last = std::max(std::max(prefix_, branch_.element_count.least), uint64_t{1});
  for (const auto& contains : branch_.contains) last = std::max<uint64_t>(last, contains.from);
  if (branch_.element_count.most) last = std::max(last, *branch_.element_count.most);
  const std::pair<uint64_t, Counts> state{std::min(index, last), counts};
  const auto [place, fresh] = known_.try_emplace(state, 0);
  if (fresh) {
    place->second = owner_->NewRule();
    open_.emplace_back(state, place->second);
  }
  return place->second;
}

void SchemaArrayWriter::WriteCounting(uint64_t index, const Counts& counts, Grammar::Rule rule) {
  std::vector<Node> choices;
  bool enough = index >= branch_.element_count.least;
  for (size_t i = 0; i < counts.size(); ++i) enough &= counts[i] >= branch_.contains[i].minimum;
  if (enough) choices.push_back(grammar_->Literal("]"));
  if (!branch_.element_count.most || index < *branch_.element_count.most) {
    struct Choice {
      Literals literals;
      Counts counts;
    };
    std::vector<Choice> elements{{ElementAt(index), counts}};
    for (size_t i = 0; i < counts.size(); ++i) {
      const SchemaBranch::Contains& contains = branch_.contains[i];
      if (index < contains.from) continue;
      std::vector<Choice> split;
      for (const Choice& element : elements) {
        // With an upper limit every element is told apart; without, some are only claimed to count.
        if (contains.maximum || counts[i] < contains.minimum) {
          if (!contains.maximum || counts[i] < *contains.maximum) {
            Choice counted = element;
            AddLiterals(&counted.literals, {contains.value});
            ++counted.counts[i];
            split.push_back(std::move(counted));
          }
          Choice other = element;
          if (contains.maximum) AddLiterals(&other.literals, {{contains.value.schema, !contains.value.holds}});
          split.push_back(std::move(other));
        } else {
          split.push_back(element);
        }
      }
      elements = std::move(split);
      if (elements.size() > 64) {
        throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "JSON schema: too many \"contains\" about one array");
      }
    }
    for (const Choice& element : elements) {
      std::vector<Node> parts;
      if (index > 0) parts.push_back(owner_->Comma());
      parts.push_back(owner_->ValueOf(element.literals));
      parts.push_back(grammar_->Call(Counting(index + 1, element.counts)));
      choices.push_back(grammar_->Sequence(std::move(parts)));
    }
  }
  grammar_->Define(rule, grammar_->Choice(std::move(choices)));
}

std::vector<const JsonTree*> SchemaArrayWriter::FewValues(const Literals& literals) const {
  static const auto kBooleans = [] {
    std::array<JsonTree, 2> values;
    values[0].kind = values[1].kind = JsonTree::Kind::kBool;
    values[0].boolean = true;
    return values;
  }();
  for (const Literal& literal : literals) {
    const JsonTree* schema = literal.schema;
    for (int i = 0; i < 32 && literal.holds && schema->is(JsonTree::Kind::kObject); ++i) {
      std::vector<const JsonTree*> values;
      if (const JsonTree* list = schema->Find("enum"); list && list->is(JsonTree::Kind::kArray)) {
        for (const auto& value : list->elements) values.push_back(value.get());
        return values;
      }
      if (const JsonTree* value = schema->Find("const")) return {value};
      const JsonTree* type = schema->Find("type");
      if (type && type->is(JsonTree::Kind::kString) && type->text == "boolean") return {&kBooleans[0], &kBooleans[1]};
      const JsonTree* reference = schema->Find("$ref");
      if (!reference || !reference->is(JsonTree::Kind::kString)) break;
      schema = owner_->document_->Resolve(schema, reference->text);
    }
  }
  return {};
}

Grammar::Node SchemaArrayWriter::Unique() {
  const auto refuse = [&]() {
    owner_->document_->Refuse(branch_.unique, "uniqueItems",
                              "is supported for elements with at most " + std::to_string(kMostUnique) +
                                  " values (enum, const, boolean) and for arrays of at most one element");
  };
  if (!branch_.contains.empty()) refuse();
  // Where the array must end.
  std::optional<uint64_t> most = branch_.element_count.most;
  for (const Literal& literal : ElementAt(prefix_)) {
    if (literal.holds && literal.schema->is(JsonTree::Kind::kBool) && !literal.schema->boolean) {
      most = std::min(most.value_or(prefix_), prefix_);
    }
  }
  std::vector<const JsonTree*> values;
  for (uint64_t i = 0; i <= prefix_ && (!most || i < *most); ++i) {
    const auto few = FewValues(ElementAt(i));
    if (few.empty()) refuse();
    for (const JsonTree* value : few) {
      if (std::none_of(values.begin(), values.end(), [&](const auto* other) { return SameValue(*value, *other); })) {
        values.push_back(value);
      }
    }
    if (values.size() > kMostUnique) refuse();
  }
  std::vector<const JsonTree*> schemas;
  for (const JsonTree* value : values) {
    if (value->is(JsonTree::Kind::kArray) || value->is(JsonTree::Kind::kObject)) refuse();
    JsonTree* schema = owner_->document_->Make(branch_.unique);
    schema->kind = JsonTree::Kind::kObject;
    schema->members.emplace_back("const", value->Copy());
    schemas.push_back(schema);
  }
  // A rule for each set of values that were there.
  std::vector<Grammar::Rule> rules;
  for (size_t set = 0; set < size_t{1} << schemas.size(); ++set) rules.push_back(owner_->NewRule());
  for (size_t set = 0; set < rules.size(); ++set) {
    const auto index = static_cast<uint64_t>(__builtin_popcountll(set));
    std::vector<Node> choices;
    if (index >= branch_.element_count.least) choices.push_back(grammar_->Literal("]"));
    for (size_t i = 0; i < schemas.size() && (!most || index < *most); ++i) {
      if ((set >> i) & 1) continue;
      Literals element = ElementAt(index);
      AddLiterals(&element, {{schemas[i], true}});
      std::vector<Node> parts;
      if (index > 0) parts.push_back(owner_->Comma());
      parts.push_back(owner_->ValueOf(element));
      parts.push_back(grammar_->Call(rules[set | (size_t{1} << i)]));
      choices.push_back(grammar_->Sequence(std::move(parts)));
    }
    grammar_->Define(rules[set], grammar_->Choice(std::move(choices)));
  }
  return grammar_->Sequence({grammar_->Literal("["), grammar_->Call(rules[0])});
}

}  // namespace owml::text
