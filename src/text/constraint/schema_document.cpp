// Addresses inside schema documents: JSON pointers, anchors, `$id`.
// Called by the schema compiler.
#include "text/constraint/schema_document.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace owml::text {
namespace {

constexpr char kLabel[] = "JSON schema";

struct Uri {
  std::string scheme, authority, path, query;
  bool has_authority = false, has_query = false;
};

// Without fragment.
Uri Split(std::string text) {
  Uri uri;
  const size_t colon = text.find_first_of(":/?");
  if (colon != std::string::npos && text[colon] == ':' && colon > 0) {
    uri.scheme = text.substr(0, colon);
    text.erase(0, colon + 1);
  }
  const size_t question = text.find('?');
  if (question != std::string::npos) {
    uri.has_query = true;
    uri.query = text.substr(question + 1);
    text.erase(question);
  }
  if (text.starts_with("//")) {
    uri.has_authority = true;
    const size_t slash = text.find('/', 2);
    uri.authority = text.substr(2, slash == std::string::npos ? slash : slash - 2);
    text.erase(0, slash == std::string::npos ? text.size() : slash);
  }
  uri.path = text;
  return uri;
}

std::string WithoutDots(const std::string& path) {
  std::vector<std::string> parts;
  bool open = false;  // ends in a slash
  size_t at = 0;
  const bool absolute = path.starts_with("/");
  if (absolute) at = 1;
  while (at <= path.size()) {
    const size_t slash = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, slash - at);
    const bool last = slash >= path.size();
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
      open = last;
    } else if (part == ".") {
      open = last;
    } else {
      parts.push_back(part);
      open = false;
    }
    at = slash + 1;
  }
  std::string result = absolute ? "/" : "";
  for (size_t i = 0; i < parts.size(); ++i) result += (i ? "/" : "") + parts[i];
  if (open && !result.ends_with("/")) result += "/";
  return result;
}

std::string PercentDecoded(const std::string& text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      result.push_back(static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])));
      i += 2;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

std::string PointerPart(std::string part, bool decode) {
  const auto replace = [&](const char* from, const char* to) {
    const std::string_view what(from);
    for (size_t at = 0; (at = part.find(what, at)) != std::string::npos; at += std::string_view(to).size()) {
      part.replace(at, what.size(), to);
    }
  };
  if (decode) {
    replace("~1", "/");
    replace("~0", "~");
  } else {
    replace("~", "~0");
    replace("/", "~1");
  }
  return part;
}

}  // namespace

std::string ResolveUri(const std::string& base_text, const std::string& reference_text) {
  const Uri base = Split(base_text);
  Uri reference = Split(reference_text);
  Uri target;
  if (!reference.scheme.empty()) {
    target = reference;
    target.path = WithoutDots(target.path);
  } else {
    target.scheme = base.scheme;
    if (reference.has_authority) {
      target.has_authority = true;
      target.authority = reference.authority;
      target.path = WithoutDots(reference.path);
      target.has_query = reference.has_query;
      target.query = reference.query;
    } else {
      target.has_authority = base.has_authority;
      target.authority = base.authority;
      target.has_query = reference.has_query;
      target.query = reference.query;
      if (reference.path.empty()) {
        target.path = base.path;
        if (!reference.has_query) {
          target.has_query = base.has_query;
          target.query = base.query;
        }
      } else if (reference.path.starts_with("/")) {
        target.path = WithoutDots(reference.path);
      } else if (base.has_authority && base.path.empty()) {
        target.path = WithoutDots("/" + reference.path);
      } else {
        target.path = WithoutDots(base.path.substr(0, base.path.rfind('/') + 1) + reference.path);
      }
    }
  }
  std::string result;
  if (!target.scheme.empty()) result += target.scheme + ":";
  if (target.has_authority) result += "//" + target.authority;
  result += target.path;
  if (target.has_query) result += "?" + target.query;
  return result;
}

SchemaDocument::SchemaDocument(std::string_view text) : root_(JsonTree::Read(text, kLabel)) {
  resources_[""].root = root_.get();
  Note(root_.get(), "", nullptr, "", Role::kSchema);
}

// Unknown keywords are noted as well: a reference may lead anywhere but into values.
void SchemaDocument::Note(const JsonTree* part, const std::string& base, const JsonTree* parent, std::string name,
                          Role role) {
  std::string here = base;
  if (part->is(JsonTree::Kind::kObject) && role == Role::kSchema) {
    const JsonTree* id = part->Find("$id");
    if (id && id->is(JsonTree::Kind::kString)) {
      std::string address = id->text;
      const size_t hash = address.find('#');
      if (hash != std::string::npos) {
        if (hash + 1 < address.size()) Fail(part, "$id has a fragment; write $anchor");
        address.erase(hash);
      }
      here = ResolveUri(base, address);
      Resource& resource = resources_[here];
      if (resource.root && resource.root != part && !here.empty())
        Fail(part, "the $id \"" + here + "\" is there twice");
      resource.root = part;
    }
    for (const char* keyword : {"$anchor", "$dynamicAnchor"}) {
      const JsonTree* anchor = part->Find(keyword);
      if (anchor && anchor->is(JsonTree::Kind::kString)) resources_[here].anchors.emplace(anchor->text, part);
    }
  }
  const size_t position = places_.size();
  places_[part] = {parent, std::move(name), &resources_.find(here)->first, position};
  if (role == Role::kValue) return;
  for (size_t i = 0; i < part->elements.size(); ++i) {
    Note(part->elements[i].get(), here, part, std::to_string(i), Role::kSchema);
  }
  for (const auto& [key, child] : part->members) {
    Role inner = Role::kSchema;
    if (role == Role::kSchema) {
      if (key == "enum" || key == "const" || key == "default" || key == "examples") inner = Role::kValue;
      if (key == "properties" || key == "patternProperties" || key == "$defs" || key == "definitions" ||
          key == "dependentSchemas") {
        inner = Role::kNamedSchemas;
      }
    }
    Note(child.get(), here, part, key, inner);
  }
}

std::string SchemaDocument::Where(const JsonTree* part) const {
  std::string pointer;
  for (auto place = places_.find(part); place != places_.end() && place->second.parent;
       place = places_.find(place->second.parent)) {
    pointer = "/" + PointerPart(place->second.name, false) + pointer;
    if (pointer.size() > 2000) break;
  }
  return std::string(kLabel) + ": " + (pointer.empty() ? "/" : pointer);
}

size_t SchemaDocument::Position(const JsonTree* part) const {
  const auto place = places_.find(part);
  return place == places_.end() ? SIZE_MAX : place->second.position;
}

void SchemaDocument::Fail(const JsonTree* part, const std::string& what) const {
  throw Error(E_INVALIDARG, Where(part) + ": " + what);
}

void SchemaDocument::Refuse(const JsonTree* part, const std::string& keyword, const std::string& why) const {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), Where(part) + ": the keyword \"" + keyword + "\" " + why);
}

const JsonTree* SchemaDocument::Resolve(const JsonTree* schema, const std::string& reference) const {
  const size_t hash = std::min(reference.find('#'), reference.size());
  const std::string fragment = hash < reference.size() ? PercentDecoded(reference.substr(hash + 1)) : "";
  const auto place = places_.find(schema);
  const std::string base = place == places_.end() ? std::string() : *place->second.base;
  const std::string address = hash == 0 ? base : ResolveUri(base, reference.substr(0, hash));
  const auto resource = resources_.find(address);
  if (resource == resources_.end() || !resource->second.root) {
    Refuse(schema, "$ref", "leads to another document: \"" + reference + "\"");
  }
  const JsonTree* target = resource->second.root;
  if (!fragment.empty() && fragment[0] != '/') {
    const auto anchor = resource->second.anchors.find(fragment);
    if (anchor == resource->second.anchors.end()) Fail(schema, "$ref leads to nothing: \"" + reference + "\"");
    return anchor->second;
  }
  for (size_t at = 1; !fragment.empty() && at <= fragment.size();) {
    const size_t slash = std::min(fragment.find('/', at), fragment.size());
    const std::string part = PointerPart(fragment.substr(at, slash - at), true);
    at = slash + 1;
    const JsonTree* next = nullptr;
    if (target->is(JsonTree::Kind::kObject)) {
      next = target->Find(part);
    } else if (target->is(JsonTree::Kind::kArray) && !part.empty() && part.size() < 9 &&
               part.find_first_not_of("0123456789") == std::string::npos) {
      const size_t index = std::stoul(part);
      if (index < target->elements.size()) next = target->elements[index].get();
    }
    if (!next) Fail(schema, "$ref leads to nothing: \"" + reference + "\"");
    target = next;
  }
  if (!places_.count(target)) Fail(schema, "$ref leads into a value: \"" + reference + "\"");
  return target;
}

JsonTree* SchemaDocument::Make(const JsonTree* origin) {
  made_.push_back(std::make_unique<JsonTree>());
  JsonTree* made = made_.back().get();
  const auto place = places_.find(origin);
  if (place != places_.end()) {
    Place copy = place->second;
    places_[made] = std::move(copy);
  }
  return made;
}

}  // namespace owml::text
