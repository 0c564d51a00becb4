// Objects member by member.
// Called by SchemaGrammar.
#include "text/constraint/schema_object.h"

#include <algorithm>

#include "base/error.h"

namespace owml::text {
namespace {

constexpr size_t kMostLoose = 8;
constexpr size_t kMostClaims = 4;
constexpr size_t kMostKinds = 64;
constexpr uint64_t kMostMembers = 10000;

[[noreturn]] void RefuseObject(const std::string& why) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "JSON schema: " + why);
}

}  // namespace

SchemaObjectWriter::SchemaObjectWriter(SchemaGrammar* owner, const SchemaBranch& branch, std::vector<std::string> order)
    : owner_(owner), grammar_(owner->grammar_), branch_(branch) {
  const auto append = [&](const std::string& name) {
    if (names_.insert(name).second) order.push_back(name);
  };
  names_.insert(order.begin(), order.end());
  for (const auto& members : branch_.members) {
    if (members.properties) {
      for (const auto& [name, value] : members.properties->members) append(name);
    }
    for (const std::string& name : members.known) append(name);
  }
  std::set<std::string> loose = branch_.required;
  for (const auto& [name, value] : branch_.values) loose.insert(name);
  std::erase_if(loose, [&](const std::string& name) { return names_.count(name) != 0; });
  if (branch_.some_members.size() > kMostClaims) RefuseObject("too many conditions on some member of an object");
  if (loose.size() > kMostLoose) {
    for (const std::string& name : loose) append(name);
    loose.clear();
  }
  for (const std::string& name : order) named_.push_back(Describe(name));
  for (const std::string& name : loose) {
    loose_.push_back(Describe(name));
    names_.insert(name);
  }
  for (const auto* list : {&named_, &loose_}) {
    for (const Named& named : *list) {
      if (named.required && !named.allowed) possible_ = false;
    }
  }
  names_.insert(branch_.absent.begin(), branch_.absent.end());
  const uint64_t most = branch_.member_count.most.value_or(0);
  if (branch_.member_count.empty()) possible_ = false;
  if (branch_.member_count.least > kMostMembers || most > kMostMembers) {
    RefuseObject("\"minProperties\" and \"maxProperties\" are supported up to " + std::to_string(kMostMembers));
  }
  count_limit_ = std::max({uint64_t{1}, branch_.member_count.least, most});
}

SchemaObjectWriter::Named SchemaObjectWriter::Describe(const std::string& name) const {
  Named named;
  named.name = name;
  named.required = branch_.required.count(name) != 0;
  named.allowed = branch_.absent.count(name) == 0 && (!branch_.names || branch_.names->Accepts(name));
  for (const auto& members : branch_.members) {
    bool known = members.known.count(name) != 0;
    if (members.properties) {
      if (const JsonTree* value = members.properties->Find(name)) {
        AddLiterals(&named.value, {{value, true}});
        known = true;
      }
    }
    for (const auto& [keys, value] : members.patterns) {
      if (!keys->Accepts(name)) continue;
      AddLiterals(&named.value, value);
      known = true;
    }
    if (!known && members.additional) AddLiterals(&named.value, *members.additional);
  }
  for (const auto& [key, value] : branch_.values) {
    if (key == name) AddLiterals(&named.value, {value});
  }
  for (size_t i = 0; i < branch_.some_members.size(); ++i) {
    if (branch_.some_members[i].keys->Accepts(name)) named.claims |= 1u << i;
  }
  // A value that nothing can be is an absent member.
  for (const Literal& literal : named.value) {
    if (literal.schema->is(JsonTree::Kind::kBool) && literal.schema->boolean != literal.holds) named.allowed = false;
  }
  return named;
}

void SchemaObjectWriter::FindOthers() {
  Automaton rest = branch_.names ? *branch_.names : Automaton::Everything();
  if (!names_.empty()) rest = rest.Without(Automaton::AnyOf(names_));
  std::vector<Others> kinds;
  kinds.push_back({std::move(rest), {}, 0, 0});
  // Cuts every kind into the keys that are in `keys` and the rest.
  const auto cut = [&](const Automaton& keys, auto&& inside, auto&& outside) {
    std::vector<Others> result;
    for (Others& kind : kinds) {
      Others in = kind, out = kind;
      in.keys = kind.keys.Intersection(keys);
      out.keys = kind.keys.Without(keys);
      inside(&in);
      outside(&out);
      if (!in.keys.empty()) result.push_back(std::move(in));
      if (!out.keys.empty()) result.push_back(std::move(out));
    }
    kinds = std::move(result);
    if (kinds.size() > kMostKinds) RefuseObject("too many patterns for the keys of one object");
  };
  for (const auto& members : branch_.members) {
    // The node of a kind is borrowed to note whether one of this schema's patterns has matched.
    for (Others& kind : kinds) kind.key = 0;
    for (const auto& pattern : members.patterns) {
      cut(
          *pattern.first,
          [&](Others* in) {
            AddLiterals(&in->value, pattern.second);
            in->key = 1;
          },
          [](Others*) {});
    }
    if (!members.additional) continue;
    for (Others& kind : kinds) {
      if (kind.key == 0) AddLiterals(&kind.value, *members.additional);
    }
  }
  for (size_t i = 0; i < branch_.some_members.size(); ++i) {
    cut(
        *branch_.some_members[i].keys, [&](Others* in) { in->claims |= 1u << i; }, [](Others*) {});
  }
  for (Others& kind : kinds) {
    const bool never = std::any_of(kind.value.begin(), kind.value.end(), [](const Literal& literal) {
      return literal.schema->is(JsonTree::Kind::kBool) && literal.schema->boolean != literal.holds;
    });
    if (never || kind.keys.empty()) continue;
    kind.key = owner_->Key(kind.keys);
    others_.push_back(std::move(kind));
  }
}

Grammar::Node SchemaObjectWriter::Write() {
  if (!possible_) return grammar_->Nothing();
  FindOthers();
  const Grammar::Rule rule = RuleAt({});
  while (!open_.empty()) {
    const auto [place, at] = open_.back();
    open_.pop_back();
    WriteAt(place, at);
  }
  return grammar_->Sequence({grammar_->Literal("{"), grammar_->Call(rule)});
}

Grammar::Rule SchemaObjectWriter::RuleAt(const Place& place) {
  const auto [entry, fresh] = known_.try_emplace(place, 0);
  if (fresh) {
    entry->second = owner_->NewRule();
    open_.emplace_back(place, entry->second);
  }
  return entry->second;
}

void SchemaObjectWriter::WriteAt(const Place& place, Grammar::Rule rule) {
  std::vector<Node> choices;
  if (place.next < named_.size()) {
    const Named& named = named_[place.next];
    Place then = place;
    ++then.next;
    if (named.allowed) AddMember(place, owner_->Key(named.name), named.value, named.claims, then, &choices);
    if (!named.required) choices.push_back(grammar_->Call(RuleAt(then)));
  } else {
    bool enough = place.count >= branch_.member_count.least && place.claims + 1 == 1u << branch_.some_members.size();
    for (size_t i = 0; i < loose_.size(); ++i) {
      if ((place.loose >> i) & 1) continue;
      if (loose_[i].required) enough = false;
      Place then = place;
      then.loose |= 1u << i;
      if (loose_[i].allowed) {
        AddMember(place, owner_->Key(loose_[i].name), loose_[i].value, loose_[i].claims, then, &choices);
      }
    }
    for (const Others& other : others_) AddMember(place, other.key, other.value, other.claims, place, &choices);
    if (enough) choices.push_back(grammar_->Literal("}"));
  }
  grammar_->Define(rule, grammar_->Choice(std::move(choices)));
}

void SchemaObjectWriter::AddMember(const Place& place, Node key, const Literals& value, uint32_t claims, Place then,
                                   std::vector<Node>* choices) {
  if (branch_.member_count.most && place.count >= *branch_.member_count.most) return;
  then.count = std::min(place.count + 1, count_limit_);
  // Without a claim, and with each set of the claims that are still open.
  const uint32_t open = claims & ~place.claims;
  for (uint32_t set = 0; set < 1u << branch_.some_members.size(); ++set) {
    if ((set & open) != set) continue;
    Literals literals = value;
    for (size_t i = 0; i < branch_.some_members.size(); ++i) {
      if ((set >> i) & 1) AddLiterals(&literals, branch_.some_members[i].value);
    }
    then.claims = place.claims | set;
    std::vector<Node> parts;
    if (place.count > 0) parts.push_back(owner_->Comma());
    parts.push_back(key);
    parts.push_back(owner_->Colon());
    parts.push_back(owner_->ValueOf(literals));
    parts.push_back(grammar_->Call(RuleAt(then)));
    choices->push_back(grammar_->Sequence(std::move(parts)));
  }
}

}  // namespace owml::text
