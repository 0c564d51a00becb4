// Taking schemas apart keyword by keyword. A keyword that offers a choice splits the branch.
// Called by the schema compiler.
#include "text/constraint/schema_branch.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "text/constraint/json_strings.h"
#include "text/constraint/number_sets.h"
#include "text/constraint/pattern.h"

namespace owml::text {
namespace {

using Kind = JsonTree::Kind;
using Branch = SchemaBranch;

// Keywords that say nothing about what is valid.
constexpr const char* kAnnotations[] = {"title",           "description",  "default",  "examples",  "$comment",
                                        "$schema",         "$id",          "$anchor",  "$defs",     "definitions",
                                        "$dynamicAnchor",  "deprecated",   "readOnly", "writeOnly", "contentMediaType",
                                        "contentEncoding", "contentSchema"};
// Keywords that are read together with another one.
constexpr const char* kCompanions[] = {"then", "else", "minContains", "maxContains"};

constexpr const char* kInPlaceLists[] = {"allOf", "anyOf", "oneOf"};
constexpr const char* kInPlace[] = {"not", "if", "then", "else"};

bool IsOneOf(const std::string& word, const char* const* begin, size_t count) {
  return std::any_of(begin, begin + count, [&](const char* other) { return word == other; });
}

std::shared_ptr<const Automaton> Share(Automaton automaton) {
  return std::make_shared<const Automaton>(std::move(automaton));
}

void Narrow(std::shared_ptr<const Automaton>* set, const Automaton& to) {
  *set = Share(*set ? (*set)->Intersection(to) : to);
}

}  // namespace

class SchemaBranches::Solver {
 public:
  Solver(SchemaBranches* owner, SchemaDocument* document) : owner_(owner), document_(document) {}

  std::vector<Branch> Solve(const Literals& literals) {
    Job job;
    for (const Literal& literal : literals) job.open.push_back({literal, {}});
    jobs_.push_back(std::move(job));
    std::vector<Branch> result;
    while (!jobs_.empty()) {
      Job now = std::move(jobs_.back());
      jobs_.pop_back();
      if (!Finish(&now)) continue;
      result.push_back(std::move(now.branch));
      if (result.size() > kMostBranches) TooMany();
    }
    return result;
  }

 private:
  // Schemas with `unevaluated...` that watch which members and elements are looked at.
  using Watchers = std::vector<const JsonTree*>;
  struct Open {
    Literal literal;
    Watchers watchers;
    auto operator<=>(const Open&) const = default;
  };
  struct Watched {
    bool all_members = false;
    bool all_elements = false;
    std::set<std::string> names;
    std::vector<std::shared_ptr<const Automaton>> patterns;
    size_t elements = 0;
  };
  struct Job {
    Branch branch;
    std::vector<Open> open;
    std::set<Open> seen;
    std::vector<std::shared_ptr<const std::vector<std::function<void(Job*)>>>> splits;
    std::map<const JsonTree*, Watched> watched;
    bool dead = false;
  };
  using Change = std::function<void(Job*)>;

  [[noreturn]] void TooMany() const {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "JSON schema: its choices (anyOf, oneOf, not, if) multiply to more than " +
                    std::to_string(kMostBranches) + " branches");
  }

  // Runs a job to its end; what it splits off is put back. False when no value fulfils it.
  bool Finish(Job* job) {
    while (!job->dead) {
      if (job->open.empty()) {
        if (job->splits.empty()) break;
        Split(job);
        continue;
      }
      const Open open = job->open.back();
      job->open.pop_back();
      if (!job->seen.insert(open).second) continue;
      if (++steps_ > kMostSteps) TooMany();
      CompileBudget::Charge(kStepUnits);
      if (open.literal.holds) {
        Affirm(job, open);
      } else {
        Deny(job, open);
      }
    }
    if (job->dead) return false;
    for (const auto& [schema, watched] : job->watched) Unevaluated(job, schema, watched);
    return job->branch.types != 0;
  }

  // Notes that one of `choices` must be taken; none of them: the branch is dead. Choices are made when everything else
  // is known.
  void Choose(Job* job, std::vector<Change> choices) {
    if (choices.empty()) job->dead = true;
    job->splits.push_back(std::make_shared<const std::vector<Change>>(std::move(choices)));
  }

  void Split(Job* job) {
    const auto choices = job->splits.back();
    job->splits.pop_back();
    for (size_t i = choices->size(); i-- > 1;) {
      CompileBudget::Charge(kStepUnits * (1 + job->open.size() + job->seen.size()));
      Job copy = *job;
      (*choices)[i](&copy);
      if (!copy.dead) jobs_.push_back(std::move(copy));
      if (jobs_.size() > 4 * kMostBranches || ++steps_ > kMostSteps) TooMany();
    }
    (*choices)[0](job);
  }

  static void Push(Job* job, const JsonTree* schema, bool holds, const Watchers& watchers) {
    job->open.push_back({{schema, holds}, holds ? watchers : Watchers{}});
  }
  static Literals Only(const JsonTree* schema, bool holds = true) { return {{schema, holds}}; }

  // --- Reading keywords -----------------------------------------------------------------------------------------

  void RequireSchema(const JsonTree* schema) const {
    if (!schema->is(Kind::kObject) && !schema->is(Kind::kBool)) {
      document_->Fail(schema, "a schema is an object, true or false");
    }
  }

  const JsonTree* Require(const JsonTree* value, Kind kind, const std::string& keyword, const char* what) const {
    if (!value->is(kind)) document_->Fail(value, "the value of \"" + keyword + "\" must be " + what);
    return value;
  }

  uint64_t Count(const JsonTree* value, const std::string& keyword) const {
    Require(value, Kind::kNumber, keyword, "a number");
    const Decimal number = Decimal::Of(value->text, document_->Where(value));
    if (number.negative || !number.is_integer()) {
      document_->Fail(value, "the value of \"" + keyword + "\" must be an integer that is not negative");
    }
    const std::string digits = number.integer_part();
    if (digits.size() > 9) return 1000000000;
    return std::stoull(digits);
  }

  Decimal Number(const JsonTree* value, const std::string& keyword) const {
    return Decimal::Of(Require(value, Kind::kNumber, keyword, "a number")->text, document_->Where(value));
  }

  Automaton Search(const JsonTree* place, const std::string& pattern) const {
    return Pattern::Parse(pattern, document_->Where(place)).Search();
  }

  std::vector<const JsonTree*> Schemas(const JsonTree* value, const std::string& keyword) const {
    Require(value, Kind::kArray, keyword, "an array of schemas");
    if (value->elements.empty()) document_->Fail(value, "the array \"" + keyword + "\" must not be empty");
    std::vector<const JsonTree*> result;
    for (const auto& element : value->elements) result.push_back(element.get());
    return result;
  }

  std::vector<std::string> Strings(const JsonTree* value, const std::string& keyword) const {
    Require(value, Kind::kArray, keyword, "an array of strings");
    std::vector<std::string> result;
    for (const auto& element : value->elements) {
      result.push_back(Require(element.get(), Kind::kString, keyword, "an array of strings")->text);
    }
    return result;
  }

  // The types that `type` names; `integers` when numbers are meant to be integral.
  uint8_t Types(const JsonTree* value, bool* integers) const {
    std::vector<std::string> names;
    if (value->is(Kind::kString)) {
      names.push_back(value->text);
    } else {
      names = Strings(value, "type");
    }
    uint8_t types = 0;
    bool integer = false, number = false;
    for (const std::string& name : names) {
      if (name == "null") {
        types |= Branch::kNull;
      } else if (name == "boolean") {
        types |= Branch::kTrue | Branch::kFalse;
      } else if (name == "number") {
        number = true;
      } else if (name == "integer") {
        integer = true;
      } else if (name == "string") {
        types |= Branch::kString;
      } else if (name == "array") {
        types |= Branch::kArray;
      } else if (name == "object") {
        types |= Branch::kObject;
      } else {
        document_->Fail(value, "there is no type \"" + name.substr(0, 50) + "\"");
      }
    }
    if (number || integer) types |= Branch::kNumber;
    *integers = integer && !number;
    return types;
  }

  // A schema made of one keyword.
  JsonTree* MakeSchema(const JsonTree* origin, const std::string& keyword, std::unique_ptr<JsonTree> value) {
    JsonTree* made = document_->Make(origin);
    made->kind = Kind::kObject;
    made->members.emplace_back(keyword, std::move(value));
    return made;
  }
  static std::unique_ptr<JsonTree> Copy(const JsonTree& tree) {
    auto copy = std::make_unique<JsonTree>();
    copy->kind = tree.kind;
    copy->boolean = tree.boolean;
    copy->text = tree.text;
    for (const auto& element : tree.elements) copy->elements.push_back(Copy(*element));
    for (const auto& [key, value] : tree.members) copy->members.emplace_back(key, Copy(*value));
    return copy;
  }
  static std::unique_ptr<JsonTree> Value(Kind kind, std::string text = {}, bool boolean = false) {
    auto value = std::make_unique<JsonTree>();
    value->kind = kind;
    value->text = std::move(text);
    value->boolean = boolean;
    return value;
  }

  // What says the same as `const` for an array or an object, with simpler keywords.
  const JsonTree* ConstSchema(const JsonTree* origin, const JsonTree& value) {
    auto& known = owner_->const_schemas_[&value];
    if (known) return known;
    JsonTree* made = document_->Make(origin);
    made->kind = Kind::kObject;
    if (value.is(Kind::kArray)) {
      made->members.emplace_back("type", Value(Kind::kString, "array"));
      auto prefix = Value(Kind::kArray);
      for (const auto& element : value.elements) {
        auto schema = Value(Kind::kObject);
        schema->members.emplace_back("const", Copy(*element));
        prefix->elements.push_back(std::move(schema));
      }
      const std::string count = std::to_string(value.elements.size());
      if (!prefix->elements.empty()) made->members.emplace_back("prefixItems", std::move(prefix));
      made->members.emplace_back("minItems", Value(Kind::kNumber, count));
      made->members.emplace_back("maxItems", Value(Kind::kNumber, count));
    } else {
      made->members.emplace_back("type", Value(Kind::kString, "object"));
      auto properties = Value(Kind::kObject), required = Value(Kind::kArray);
      for (const auto& [key, member] : value.members) {
        auto schema = Value(Kind::kObject);
        schema->members.emplace_back("const", Copy(*member));
        properties->members.emplace_back(key, std::move(schema));
        required->elements.push_back(Value(Kind::kString, key));
      }
      made->members.emplace_back("properties", std::move(properties));
      made->members.emplace_back("required", std::move(required));
      made->members.emplace_back("additionalProperties", Value(Kind::kBool, {}, false));
    }
    return known = made;
  }

  // --- Conditions of one type -------------------------------------------------------------------------------------

  static void OnlyTypes(Job* job, uint8_t types) {
    job->branch.types &= types;
    if (job->branch.types == 0) job->dead = true;
  }
  static void Numbers(Job* job, const Automaton& set) {
    Narrow(&job->branch.numbers, set);
    if (job->branch.numbers->empty()) OnlyTypes(job, Branch::kAll & ~Branch::kNumber);
  }
  static void StringSet(Job* job, const Automaton& set) {
    Narrow(&job->branch.strings, set);
    if (job->branch.strings->empty()) OnlyTypes(job, Branch::kAll & ~Branch::kString);
  }
  template <class T>
  static void AtMost(std::optional<T>* limit, T value) {
    if (!*limit || **limit > value) *limit = value;
  }

  // The value equals `value`, or does not.
  Change Equals(const JsonTree* origin, const JsonTree* value, bool holds, const Watchers& watchers) {
    switch (value->kind) {
      case Kind::kNull:
        return [=](Job* job) { OnlyTypes(job, holds ? Branch::kNull : Branch::kAll & ~Branch::kNull); };
      case Kind::kBool: {
        const uint8_t type = value->boolean ? Branch::kTrue : Branch::kFalse;
        return [=](Job* job) { OnlyTypes(job, holds ? type : Branch::kAll & ~type); };
      }
      case Kind::kNumber: {
        Automaton same = NumbersThat(NumberRelation::kEqual, Decimal::Of(value->text, document_->Where(origin)));
        return [=](Job* job) {
          if (holds) OnlyTypes(job, Branch::kNumber);
          if (!job->dead) Numbers(job, holds ? same : PlainNumbers().Without(same));
        };
      }
      case Kind::kString: {
        const Automaton same = Automaton::Literal(value->text);
        return [=](Job* job) {
          if (holds) OnlyTypes(job, Branch::kString);
          if (!job->dead) StringSet(job, holds ? same : same.Complement());
        };
      }
      default: {
        const JsonTree* schema = ConstSchema(origin, *value);
        return [=](Job* job) { Push(job, schema, holds, watchers); };
      }
    }
  }

  Change Kinds(uint8_t types) {
    return [=](Job* job) { OnlyTypes(job, types); };
  }

  // --- Schemas that hold --------------------------------------------------------------------------------------------

  void Affirm(Job* job, const Open& open) {
    const JsonTree* schema = open.literal.schema;
    RequireSchema(schema);
    if (schema->is(Kind::kBool)) {
      if (!schema->boolean) job->dead = true;
      return;
    }
    Watchers watchers = open.watchers;
    for (const char* keyword : {"unevaluatedProperties", "unevaluatedItems"}) {
      if (!schema->Find(keyword)) continue;
      // For those around it, it has looked at everything.
      const bool members = keyword == std::string_view("unevaluatedProperties");
      Note(job, open.watchers,
           [&](Watched* watched) { (members ? watched->all_members : watched->all_elements) = true; });
      job->watched[schema];
      if (std::find(watchers.begin(), watchers.end(), schema) == watchers.end()) watchers.push_back(schema);
    }
    std::sort(watchers.begin(), watchers.end());
    AffirmMembers(job, schema, watchers);
    AffirmElements(job, schema, watchers);
    for (const auto& [keyword, value] : schema->members) {
      if (!job->dead) AffirmKeyword(job, schema, keyword, value.get(), watchers);
    }
  }

  void AffirmKeyword(Job* job, const JsonTree* schema, const std::string& keyword, const JsonTree* value,
                     const Watchers& watchers) {
    Branch& branch = job->branch;
    if (keyword == "type") {
      bool integers = false;
      OnlyTypes(job, Types(value, &integers));
      if (integers && !job->dead) Numbers(job, Integers());
    } else if (keyword == "enum") {
      Require(value, Kind::kArray, keyword, "an array");
      std::vector<Change> choices;
      std::set<std::string> texts;
      Automaton numbers;
      // Strings and numbers together, each other value a choice of its own.
      for (const auto& element : value->elements) {
        if (element->is(Kind::kString)) {
          texts.insert(element->text);
        } else if (element->is(Kind::kNumber)) {
          numbers =
              numbers.Union(NumbersThat(NumberRelation::kEqual, Decimal::Of(element->text, document_->Where(value))));
        } else {
          choices.push_back(Equals(value, element.get(), true, watchers));
        }
      }
      if (!texts.empty()) {
        choices.push_back([strings = Automaton::AnyOf(texts)](Job* to) {
          OnlyTypes(to, Branch::kString);
          if (!to->dead) StringSet(to, strings);
        });
      }
      if (!numbers.empty()) {
        choices.push_back([=](Job* to) {
          OnlyTypes(to, Branch::kNumber);
          if (!to->dead) Numbers(to, numbers);
        });
      }
      Choose(job, std::move(choices));
    } else if (keyword == "const") {
      Equals(value, value, true, watchers)(job);
    } else if (keyword == "minimum") {
      Numbers(job, NumbersThat(NumberRelation::kAtLeast, Number(value, keyword)));
    } else if (keyword == "maximum") {
      Numbers(job, NumbersThat(NumberRelation::kAtMost, Number(value, keyword)));
    } else if (keyword == "exclusiveMinimum") {
      Numbers(job, NumbersThat(NumberRelation::kMore, Number(value, keyword)));
    } else if (keyword == "exclusiveMaximum") {
      Numbers(job, NumbersThat(NumberRelation::kLess, Number(value, keyword)));
    } else if (keyword == "multipleOf") {
      Numbers(job, Multiples(value));
    } else if (keyword == "minLength") {
      branch.shortest = std::max(branch.shortest, Count(value, keyword));
    } else if (keyword == "maxLength") {
      AtMost(&branch.longest, Count(value, keyword));
    } else if (keyword == "pattern") {
      StringSet(job, Search(value, Require(value, Kind::kString, keyword, "a string")->text));
    } else if (keyword == "format") {
      StringSet(job, *Format(schema, value));
    } else if (keyword == "minItems") {
      branch.fewest_elements = std::max(branch.fewest_elements, Count(value, keyword));
    } else if (keyword == "maxItems") {
      AtMost(&branch.most_elements, Count(value, keyword));
    } else if (keyword == "uniqueItems") {
      if (Require(value, Kind::kBool, keyword, "true or false")->boolean) branch.unique = schema;
    } else if (keyword == "contains") {
      Branch::Contains contains;
      contains.value = {value, true};
      if (const JsonTree* least = schema->Find("minContains")) contains.minimum = Count(least, "minContains");
      if (const JsonTree* most = schema->Find("maxContains")) contains.maximum = Count(most, "maxContains");
      if (contains.minimum > 0 || contains.maximum) branch.contains.push_back(contains);
      for (const JsonTree* watcher : watchers) {
        if (watcher->Find("unevaluatedItems")) {
          document_->Refuse(watcher, "unevaluatedItems", "is not supported beside \"contains\"");
        }
      }
    } else if (keyword == "minProperties") {
      branch.fewest_members = std::max(branch.fewest_members, Count(value, keyword));
    } else if (keyword == "maxProperties") {
      AtMost(&branch.most_members, Count(value, keyword));
    } else if (keyword == "required") {
      for (const std::string& name : Strings(value, keyword)) branch.required.insert(name);
    } else if (keyword == "propertyNames") {
      Narrow(&branch.names, owner_->StringsOf(Only(value)));
    } else if (keyword == "dependentRequired") {
      Require(value, Kind::kObject, keyword, "an object");
      for (const auto& [name, list] : value->members) {
        const std::vector<std::string> others = Strings(list.get(), keyword);
        if (others.empty()) continue;
        Depend(job, name, [=](Job* to) { to->branch.required.insert(others.begin(), others.end()); });
      }
    } else if (keyword == "dependentSchemas") {
      Require(value, Kind::kObject, keyword, "an object");
      for (const auto& [name, dependent] : value->members) {
        const JsonTree* then = dependent.get();
        Depend(job, name, [=](Job* to) { Push(to, then, true, watchers); });
      }
    } else if (keyword == "$ref") {
      const std::string& reference = Require(value, Kind::kString, keyword, "a string")->text;
      Push(job, document_->Resolve(schema, reference), true, watchers);
    } else if (keyword == "allOf") {
      const auto schemas = Schemas(value, keyword);
      for (size_t i = schemas.size(); i-- > 0;) Push(job, schemas[i], true, watchers);
    } else if (keyword == "anyOf") {
      AnyOf(job, Schemas(value, keyword), watchers);
    } else if (keyword == "oneOf") {
      const auto schemas = Schemas(value, keyword);
      std::vector<Change> choices;
      for (const JsonTree* chosen : schemas) {
        choices.push_back([=](Job* to) {
          for (const JsonTree* other : schemas) {
            if (other != chosen) Push(to, other, false, watchers);
          }
          Push(to, chosen, true, watchers);
        });
      }
      Choose(job, std::move(choices));
    } else if (keyword == "not") {
      Push(job, value, false, watchers);
    } else if (keyword == "if") {
      const JsonTree* then = schema->Find("then");
      const JsonTree* otherwise = schema->Find("else");
      if (!then && !otherwise && watchers.empty()) return;
      Choose(job, {[=](Job* to) {
                     if (then) Push(to, then, true, watchers);
                     Push(to, value, true, watchers);
                   },
                   [=](Job* to) {
                     if (otherwise) Push(to, otherwise, true, watchers);
                     Push(to, value, false, watchers);
                   }});
    } else if (keyword == "$schema") {
      CheckDialect(value);
    } else if (keyword == "properties" || keyword == "patternProperties" || keyword == "additionalProperties" ||
               keyword == "prefixItems" || keyword == "items" || keyword == "unevaluatedProperties" ||
               keyword == "unevaluatedItems") {
      // See AffirmMembers, AffirmElements and Unevaluated.
    } else if (!IsOneOf(keyword, kAnnotations, std::size(kAnnotations)) &&
               !IsOneOf(keyword, kCompanions, std::size(kCompanions)) && !keyword.starts_with("x-")) {
      document_->Refuse(schema, keyword, "is not supported");
    }
  }

  // What older drafts write differently is refused or malformed here, so their schemas keep their meaning.
  void CheckDialect(const JsonTree* value) const {
    const std::string& name = Require(value, Kind::kString, "$schema", "a string")->text;
    for (const char* known : {"json-schema.org/draft/2020-12/schema", "json-schema.org/draft/2019-09/schema",
                              "json-schema.org/draft-07/schema"}) {
      for (const char* scheme : {"http://", "https://"}) {
        const std::string address = std::string(scheme) + known;
        if (name == address || name == address + "#") return;
      }
    }
    document_->Refuse(value, "$schema", "names a dialect that is not known: \"" + name.substr(0, 100) + "\"");
  }

  // With the member `name`, `then` holds.
  void Depend(Job* job, const std::string& name, const Change& then) {
    Choose(job, {[=](Job* to) { to->branch.absent.insert(name); },
                 [=](Job* to) {
                   to->branch.required.insert(name);
                   then(to);
                 },
                 [=](Job* to) { OnlyTypes(to, Branch::kAll & ~Branch::kObject); }});
  }

  void AnyOf(Job* job, const std::vector<const JsonTree*>& schemas, const Watchers& watchers) {
    std::vector<Change> choices;
    if (watchers.empty()) {
      for (const JsonTree* chosen : schemas) choices.push_back([=](Job* to) { Push(to, chosen, true, watchers); });
    } else {
      // Each that holds has looked at something, so it is decided for each.
      if (schemas.size() > 7) TooMany();
      for (size_t mask = 1; mask < size_t{1} << schemas.size(); ++mask) {
        choices.push_back([=](Job* to) {
          for (size_t i = 0; i < schemas.size(); ++i) Push(to, schemas[i], ((mask >> i) & 1) != 0, watchers);
        });
      }
    }
    Choose(job, std::move(choices));
  }

  Automaton Multiples(const JsonTree* value) const {
    const Decimal divisor = Number(value, "multipleOf");
    if (divisor.negative || divisor.is_zero()) document_->Fail(value, "the value of \"multipleOf\" must be positive");
    return MultiplesOf(divisor, document_->Where(value));
  }

  // Spec-open: the draft lets `format` be a remark or a condition. Here it is a condition where the schema is about
  // strings, as those who write it there mean it, and refused where it could only be a remark.
  std::shared_ptr<const Automaton> Format(const JsonTree* schema, const JsonTree* value) const {
    const std::string& name = Require(value, Kind::kString, "format", "a string")->text;
    const JsonTree* type = schema->Find("type");
    bool integers = false;
    if (!type || Types(type, &integers) != Branch::kString) {
      document_->Refuse(schema, "format", "is supported beside \"type\": \"string\" only");
    }
    auto strings = FormatStrings(name);
    if (!strings)
      document_->Refuse(schema, "format", "has the value \"" + name.substr(0, 50) + "\", which is not supported");
    return strings;
  }

  static void Note(Job* job, const Watchers& watchers, const std::function<void(Watched*)>& note) {
    for (const JsonTree* watcher : watchers) note(&job->watched[watcher]);
  }

  void AffirmMembers(Job* job, const JsonTree* schema, const Watchers& watchers) {
    const JsonTree* properties = schema->Find("properties");
    const JsonTree* patterns = schema->Find("patternProperties");
    const JsonTree* additional = schema->Find("additionalProperties");
    if (!properties && !patterns && !additional) return;
    Branch::Members members;
    if (properties) {
      members.properties = Require(properties, Kind::kObject, "properties", "an object");
      Note(job, watchers, [&](Watched* watched) {
        for (const auto& [name, value] : properties->members) watched->names.insert(name);
      });
    }
    if (patterns) {
      Require(patterns, Kind::kObject, "patternProperties", "an object");
      for (const auto& [pattern, value] : patterns->members) {
        auto keys = Share(Search(value.get(), pattern));
        members.patterns.emplace_back(keys, Only(value.get()));
        Note(job, watchers, [&](Watched* watched) { watched->patterns.push_back(keys); });
      }
    }
    if (additional) {
      members.additional = Only(additional);
      Note(job, watchers, [&](Watched* watched) { watched->all_members = true; });
    }
    job->branch.members.push_back(std::move(members));
  }

  void AffirmElements(Job* job, const JsonTree* schema, const Watchers& watchers) {
    const JsonTree* prefix = schema->Find("prefixItems");
    const JsonTree* items = schema->Find("items");
    if (items && items->is(Kind::kArray)) document_->Fail(items, "an array of schemas is written \"prefixItems\"");
    if (!prefix && !items) return;
    Branch::Elements elements;
    if (prefix) {
      for (const JsonTree* element : Schemas(prefix, "prefixItems")) elements.prefix.push_back(Only(element));
      Note(job, watchers,
           [&](Watched* watched) { watched->elements = std::max(watched->elements, elements.prefix.size()); });
    }
    if (items) {
      elements.rest = Only(items);
      Note(job, watchers, [&](Watched* watched) { watched->all_elements = true; });
    }
    job->branch.elements.push_back(std::move(elements));
  }

  // What nobody has looked at.
  void Unevaluated(Job* job, const JsonTree* schema, const Watched& watched) {
    const JsonTree* rest = schema->Find("unevaluatedProperties");
    if (rest && !watched.all_members) {
      Branch::Members members;
      members.known = watched.names;
      for (const auto& pattern : watched.patterns) members.patterns.emplace_back(pattern, Literals{});
      members.additional = Only(rest);
      job->branch.members.push_back(std::move(members));
    }
    rest = schema->Find("unevaluatedItems");
    if (rest && !watched.all_elements) {
      Branch::Elements elements;
      elements.prefix.resize(watched.elements);
      elements.rest = Only(rest);
      job->branch.elements.push_back(std::move(elements));
    }
  }

  // --- Schemas that do not hold ------------------------------------------------------------------------------------

  void Deny(Job* job, const Open& open) {
    const JsonTree* schema = open.literal.schema;
    RequireSchema(schema);
    if (schema->is(Kind::kBool)) {
      if (schema->boolean) job->dead = true;
      return;
    }
    std::vector<Change> choices;
    for (const auto& [keyword, value] : schema->members) DenyKeyword(schema, keyword, value.get(), &choices);
    Choose(job, std::move(choices));
  }

  // A change for the values of one type only.
  static Change Of(uint8_t type, Change change) {
    return [=](Job* job) {
      OnlyTypes(job, type);
      if (!job->dead) change(job);
    };
  }

  void DenyKeyword(const JsonTree* schema, const std::string& keyword, const JsonTree* value,
                   std::vector<Change>* choices) {
    const auto add = [&](Change change) { choices->push_back(std::move(change)); };
    const auto numbers = [&](NumberRelation relation) {
      const Automaton set = NumbersThat(relation, Number(value, keyword));
      add(Of(Branch::kNumber, [=](Job* job) { Numbers(job, set); }));
    };
    const auto deny = [&](const JsonTree* inner) { add([=](Job* job) { Push(job, inner, false, {}); }); };
    if (keyword == "type") {
      bool integers = false;
      const uint8_t types = Types(value, &integers);
      add(Kinds(Branch::kAll & ~types));
      if (integers) {
        const Automaton broken = PlainNumbers().Without(Integers());
        add(Of(Branch::kNumber, [=](Job* job) { Numbers(job, broken); }));
      }
    } else if (keyword == "enum") {
      Require(value, Kind::kArray, keyword, "an array");
      std::vector<Change> all;
      for (const auto& element : value->elements) all.push_back(Equals(value, element.get(), false, {}));
      add([=](Job* job) {
        for (const Change& change : all) {
          if (!job->dead) change(job);
        }
      });
    } else if (keyword == "const") {
      add(Equals(value, value, false, {}));
    } else if (keyword == "minimum") {
      numbers(NumberRelation::kLess);
    } else if (keyword == "maximum") {
      numbers(NumberRelation::kMore);
    } else if (keyword == "exclusiveMinimum") {
      numbers(NumberRelation::kAtMost);
    } else if (keyword == "exclusiveMaximum") {
      numbers(NumberRelation::kAtLeast);
    } else if (keyword == "multipleOf") {
      const Automaton others = PlainNumbers().Without(Multiples(value));
      add(Of(Branch::kNumber, [=](Job* job) { Numbers(job, others); }));
    } else if (keyword == "minLength") {
      const uint64_t count = Count(value, keyword);
      if (count > 0) add(Of(Branch::kString, [=](Job* job) { AtMost(&job->branch.longest, count - 1); }));
    } else if (keyword == "maxLength") {
      const uint64_t count = Count(value, keyword);
      add(Of(Branch::kString, [=](Job* job) { job->branch.shortest = std::max(job->branch.shortest, count + 1); }));
    } else if (keyword == "pattern" || keyword == "format") {
      const Automaton set = keyword == "format"
                                ? *Format(schema, value)
                                : Search(value, Require(value, Kind::kString, keyword, "a string")->text);
      add(Of(Branch::kString, [others = set.Complement()](Job* job) { StringSet(job, others); }));
    } else if (keyword == "minItems") {
      const uint64_t count = Count(value, keyword);
      if (count > 0) add(Of(Branch::kArray, [=](Job* job) { AtMost(&job->branch.most_elements, count - 1); }));
    } else if (keyword == "maxItems") {
      const uint64_t count = Count(value, keyword);
      add(Of(Branch::kArray, [=](Job* job) { AtLeastElements(job, count + 1); }));
    } else if (keyword == "uniqueItems") {
      if (Require(value, Kind::kBool, keyword, "true or false")->boolean) {
        document_->Refuse(schema, keyword, "is not supported inside \"not\", \"oneOf\" or \"if\"");
      }
    } else if (keyword == "contains") {
      const JsonTree* least = schema->Find("minContains");
      const JsonTree* most = schema->Find("maxContains");
      const uint64_t minimum = least ? Count(least, "minContains") : 1;
      if (minimum > 0) add(Of(Branch::kArray, [=](Job* job) { AddContains(job, 0, {value, true}, 0, minimum - 1); }));
      if (most) {
        const uint64_t maximum = Count(most, "maxContains");
        add(Of(Branch::kArray, [=](Job* job) { AddContains(job, 0, {value, true}, maximum + 1, std::nullopt); }));
      }
    } else if (keyword == "prefixItems") {
      const auto schemas = Schemas(value, keyword);
      for (size_t i = 0; i < schemas.size(); ++i) {
        const JsonTree* element = schemas[i];
        add(Of(Branch::kArray, [=](Job* job) {
          AtLeastElements(job, i + 1);
          Branch::Elements elements;
          elements.prefix.resize(i);
          elements.prefix.push_back(Only(element, false));
          job->branch.elements.push_back(std::move(elements));
        }));
      }
    } else if (keyword == "items") {
      const JsonTree* prefix = schema->Find("prefixItems");
      const size_t from = prefix ? Schemas(prefix, "prefixItems").size() : 0;
      add(Of(Branch::kArray, [=](Job* job) { AddContains(job, from, {value, false}, 1, std::nullopt); }));
    } else if (keyword == "minProperties") {
      const uint64_t count = Count(value, keyword);
      if (count > 0) add(Of(Branch::kObject, [=](Job* job) { AtMost(&job->branch.most_members, count - 1); }));
    } else if (keyword == "maxProperties") {
      const uint64_t count = Count(value, keyword);
      add(Of(Branch::kObject,
             [=](Job* job) { job->branch.fewest_members = std::max(job->branch.fewest_members, count + 1); }));
    } else if (keyword == "required") {
      for (const std::string& name : Strings(value, keyword)) {
        add(Of(Branch::kObject, [=](Job* job) { job->branch.absent.insert(name); }));
      }
    } else if (keyword == "dependentRequired") {
      Require(value, Kind::kObject, keyword, "an object");
      for (const auto& [name, list] : value->members) {
        for (const std::string& other : Strings(list.get(), keyword)) {
          add(Of(Branch::kObject, [name = name, other](Job* job) {
            job->branch.required.insert(name);
            job->branch.absent.insert(other);
          }));
        }
      }
    } else if (keyword == "dependentSchemas") {
      Require(value, Kind::kObject, keyword, "an object");
      for (const auto& [name, dependent] : value->members) {
        add(Of(Branch::kObject, [name = name, inner = dependent.get()](Job* job) {
          job->branch.required.insert(name);
          Push(job, inner, false, {});
        }));
      }
    } else if (keyword == "properties") {
      Require(value, Kind::kObject, keyword, "an object");
      for (const auto& [name, property] : value->members) {
        add(Of(Branch::kObject, [name = name, inner = property.get()](Job* job) {
          job->branch.required.insert(name);
          job->branch.values.push_back({name, {inner, false}});
        }));
      }
    } else if (keyword == "patternProperties") {
      Require(value, Kind::kObject, keyword, "an object");
      for (const auto& [pattern, property] : value->members) {
        SomeMember(Share(Search(property.get(), pattern)), Only(property.get(), false), choices);
      }
    } else if (keyword == "additionalProperties") {
      Automaton others = Automaton::Everything();
      if (const JsonTree* properties = schema->Find("properties")) {
        std::set<std::string> names;
        for (const auto& [name, property] : properties->members) names.insert(name);
        others = others.Without(Automaton::AnyOf(names));
      }
      if (const JsonTree* patterns = schema->Find("patternProperties")) {
        for (const auto& [pattern, property] : patterns->members) others = others.Without(Search(patterns, pattern));
      }
      SomeMember(Share(std::move(others)), Only(value, false), choices);
    } else if (keyword == "propertyNames") {
      SomeMember(Share(owner_->StringsOf(Only(value)).Complement()), {}, choices);
    } else if (keyword == "$ref") {
      deny(document_->Resolve(schema, Require(value, Kind::kString, keyword, "a string")->text));
    } else if (keyword == "allOf") {
      for (const JsonTree* inner : Schemas(value, keyword)) deny(inner);
    } else if (keyword == "anyOf") {
      add([=, all = Schemas(value, keyword)](Job* job) {
        for (const JsonTree* inner : all) Push(job, inner, false, {});
      });
    } else if (keyword == "oneOf") {
      const auto all = Schemas(value, keyword);
      add([=](Job* job) {
        for (const JsonTree* inner : all) Push(job, inner, false, {});
      });
      for (size_t i = 0; i < all.size(); ++i) {
        for (size_t k = i + 1; k < all.size(); ++k) {
          add([first = all[i], second = all[k]](Job* job) {
            Push(job, first, true, {});
            Push(job, second, true, {});
          });
        }
      }
    } else if (keyword == "not") {
      add([=](Job* job) { Push(job, value, true, {}); });
    } else if (keyword == "if") {
      if (const JsonTree* then = schema->Find("then")) {
        add([=](Job* job) {
          Push(job, value, true, {});
          Push(job, then, false, {});
        });
      }
      if (const JsonTree* otherwise = schema->Find("else")) {
        add([=](Job* job) {
          Push(job, value, false, {});
          Push(job, otherwise, false, {});
        });
      }
    } else if (keyword == "unevaluatedProperties" || keyword == "unevaluatedItems") {
      if (!(value->is(Kind::kBool) && value->boolean)) {
        document_->Refuse(schema, keyword, "is not supported inside \"not\", \"oneOf\" or \"if\"");
      }
    } else if (!IsOneOf(keyword, kAnnotations, std::size(kAnnotations)) &&
               !IsOneOf(keyword, kCompanions, std::size(kCompanions)) && !keyword.starts_with("x-")) {
      document_->Refuse(schema, keyword, "is not supported");
    }
  }

  static void AtLeastElements(Job* job, uint64_t count) {
    job->branch.fewest_elements = std::max(job->branch.fewest_elements, count);
  }
  static void AddContains(Job* job, size_t from, Literal value, uint64_t minimum, std::optional<uint64_t> maximum) {
    Branch::Contains contains;
    contains.from = from;
    contains.value = value;
    contains.minimum = minimum;
    contains.maximum = maximum;
    job->branch.contains.push_back(contains);
  }
  static void SomeMember(std::shared_ptr<const Automaton> keys, Literals value, std::vector<Change>* choices) {
    if (keys->empty()) return;
    choices->push_back(Of(Branch::kObject, [=](Job* job) { job->branch.some_members.push_back({keys, value}); }));
  }

  static constexpr size_t kMostSteps = 50000;
  static constexpr size_t kStepUnits = 20;  // of the budget: about a microsecond

  SchemaBranches* owner_;
  SchemaDocument* document_;
  std::vector<Job> jobs_;
  size_t steps_ = 0;
};

std::vector<SchemaBranch> SchemaBranches::Of(const Literals& literals) {
  for (const Literal& literal : literals) CheckCircles(literal.schema);
  return Solver(this, document_).Solve(literals);
}

std::vector<const JsonTree*> SchemaBranches::InPlace(const JsonTree* schema) const {
  std::vector<const JsonTree*> next;
  for (const auto& [keyword, value] : schema->members) {
    if (keyword == "$ref" && value->is(Kind::kString)) {
      next.push_back(document_->Resolve(schema, value->text));
    } else if (keyword == "dependentSchemas") {
      for (const auto& [name, inner] : value->members) next.push_back(inner.get());
    } else if (IsOneOf(keyword, kInPlaceLists, std::size(kInPlaceLists))) {
      for (const auto& inner : value->elements) next.push_back(inner.get());
    } else if (IsOneOf(keyword, kInPlace, std::size(kInPlace))) {
      next.push_back(value.get());
    }
  }
  return next;
}

// A walk with a list of its own: chains of references may be long.
void SchemaBranches::CheckCircles(const JsonTree* schema) {
  std::map<const JsonTree*, bool> under_way;  // true: on the path
  std::vector<std::pair<const JsonTree*, bool>> open{{schema, false}};
  while (!open.empty()) {
    const auto [now, leave] = open.back();
    open.pop_back();
    if (leave) {
      under_way[now] = false;
      no_circle_.insert(now);
      continue;
    }
    if (no_circle_.count(now)) continue;
    const auto [place, fresh] = under_way.try_emplace(now, true);
    if (!fresh && place->second)
      document_->Fail(now, "the schema refers to itself for the same value, which says nothing");
    place->second = true;
    open.emplace_back(now, true);
    for (const JsonTree* next : InPlace(now)) {
      const auto other = under_way.find(next);
      if (other != under_way.end() && other->second) {
        document_->Fail(next, "the schema refers to itself for the same value, which says nothing");
      }
      open.emplace_back(next, false);
    }
  }
}

Automaton SchemaBranches::StringsOf(const Literals& literals) {
  if (depth_ >= 16) throw Error(E_INVALIDARG, "JSON schema: \"propertyNames\" is nested too deeply");
  ++depth_;
  Automaton result;
  for (const SchemaBranch& branch : Of(literals)) {
    if (!(branch.types & SchemaBranch::kString)) continue;
    Automaton strings = branch.strings ? *branch.strings : Automaton::Everything();
    if (branch.shortest > 0 || branch.longest) {
      strings = strings.Intersection(Automaton::Lengths(branch.shortest, branch.longest));
    }
    result = result.Union(strings);
  }
  --depth_;
  return result;
}

SchemaBranches::Names SchemaBranches::NamesOf(const Literals& literals) {
  Names result;
  std::vector<std::string>& names = result.as_met;
  std::map<std::string, size_t> known;  // where the document first has them
  std::set<const JsonTree*> seen;
  // Follows only what is about the same value.
  std::vector<const JsonTree*> open;
  for (size_t i = literals.size(); i-- > 0;) open.push_back(literals[i].schema);
  while (!open.empty()) {
    const JsonTree* schema = open.back();
    open.pop_back();
    if (!schema->is(Kind::kObject) || !seen.insert(schema).second) continue;
    if (const JsonTree* properties = schema->Find("properties")) {
      for (const auto& [name, property] : properties->members) {
        const size_t position = document_->Position(property.get());
        const auto [place, fresh] = known.try_emplace(name, position);
        if (fresh) names.push_back(name);
        place->second = std::min(place->second, position);
      }
    }
    const std::vector<const JsonTree*> next = InPlace(schema);
    open.insert(open.end(), next.rbegin(), next.rend());
  }
  result.as_written = names;
  std::stable_sort(result.as_written.begin(), result.as_written.end(),
                   [&](const std::string& a, const std::string& b) { return known[a] < known[b]; });
  return result;
}

}  // namespace owml::text
