// Walks over references and over the keywords that combine schemas. They have lists of their own instead of calling
// themselves: chains of references may be long.
// Called by the branches and the schema compiler.
#include "text/constraint/in_place_schemas.h"

#include <algorithm>
#include <map>

namespace owml::text {
namespace {

bool IsListOfSchemas(const std::string& keyword) {
  return keyword == "allOf" || keyword == "anyOf" || keyword == "oneOf";
}

bool IsSchema(const std::string& keyword) {
  return keyword == "not" || keyword == "if" || keyword == "then" || keyword == "else";
}

}  // namespace

std::vector<const JsonTree*> InPlaceSchemas(const SchemaDocument& document, const JsonTree* schema) {
  std::vector<const JsonTree*> next;
  for (const auto& [keyword, value] : schema->members) {
    if (keyword == "$ref" && value->is(JsonTree::Kind::kString)) {
      next.push_back(document.Resolve(schema, value->text));
    } else if (keyword == "dependentSchemas") {
      for (const auto& [name, inner] : value->members) next.push_back(inner.get());
    } else if (IsListOfSchemas(keyword)) {
      for (const auto& inner : value->elements) next.push_back(inner.get());
    } else if (IsSchema(keyword)) {
      next.push_back(value.get());
    }
  }
  return next;
}

void CircleCheck::Check(const JsonTree* schema) {
  std::map<const JsonTree*, bool> on_path;  // false: left
  const auto fail = [&](const JsonTree* at) {
    document_->Fail(at, "the schema refers to itself for the same value, which says nothing");
  };
  std::vector<std::pair<const JsonTree*, bool>> open{{schema, false}};
  while (!open.empty()) {
    const auto [now, leave] = open.back();
    open.pop_back();
    if (leave) {
      on_path[now] = false;
      no_circle_.insert(now);
      continue;
    }
    if (no_circle_.count(now)) continue;
    const auto [place, fresh] = on_path.try_emplace(now, true);
    if (!fresh && place->second) fail(now);
    place->second = true;
    open.emplace_back(now, true);
    for (const JsonTree* next : InPlaceSchemas(*document_, now)) {
      const auto other = on_path.find(next);
      if (other != on_path.end() && other->second) fail(next);
      open.emplace_back(next, false);
    }
  }
}

PropertyNames PropertyNamesOf(const SchemaDocument& document, const Literals& literals) {
  PropertyNames result;
  std::map<std::string, size_t> first;  // where the document first has them
  std::set<const JsonTree*> seen;
  std::vector<const JsonTree*> open;
  for (size_t i = literals.size(); i-- > 0;) open.push_back(literals[i].schema);
  while (!open.empty()) {
    const JsonTree* schema = open.back();
    open.pop_back();
    if (!schema->is(JsonTree::Kind::kObject) || !seen.insert(schema).second) continue;
    if (const JsonTree* properties = schema->Find("properties")) {
      for (const auto& [name, property] : properties->members) {
        const size_t position = document.Position(property.get());
        const auto [place, fresh] = first.try_emplace(name, position);
        if (fresh) result.as_met.push_back(name);
        place->second = std::min(place->second, position);
      }
    }
    const std::vector<const JsonTree*> next = InPlaceSchemas(document, schema);
    open.insert(open.end(), next.rbegin(), next.rend());
  }
  result.as_written = result.as_met;
  std::stable_sort(result.as_written.begin(), result.as_written.end(),
                   [&](const std::string& a, const std::string& b) { return first[a] < first[b]; });
  return result;
}

}  // namespace owml::text
