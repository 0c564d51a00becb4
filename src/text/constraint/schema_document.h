// A JSON Schema document: its tree, where each part stands, and what references in it mean.
// Used by the schema compiler.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/constraint/json_tree.h"

namespace owml::text {

class SchemaDocument {
 public:
  // Throws E_INVALIDARG.
  explicit SchemaDocument(std::string_view text);

  const JsonTree* root() const { return root_.get(); }

  // "JSON schema: /properties/a": where a part stands, for messages.
  std::string Where(const JsonTree* part) const;
  [[noreturn]] void Fail(const JsonTree* part, const std::string& what) const;
  [[noreturn]] void Refuse(const JsonTree* part, const std::string& keyword, const std::string& why) const;

  // Parts in the order of the document have rising positions.
  size_t Position(const JsonTree* part) const;

  // The schema that `reference` means inside `schema`. Throws E_INVALIDARG for one that leads nowhere and
  // ERROR_NOT_SUPPORTED for another document.
  const JsonTree* Resolve(const JsonTree* schema, const std::string& reference) const;

  // A part that the compiler makes itself, standing at the place of `origin`.
  JsonTree* Make(const JsonTree* origin);

 private:
  enum class Role : uint8_t { kSchema, kNamedSchemas, kValue };
  void Note(const JsonTree* part, const std::string& base, const JsonTree* parent, std::string name, Role role);

  struct Place {
    const JsonTree* parent = nullptr;
    std::string name;
    const std::string* base = nullptr;
    size_t position = 0;
  };
  struct Resource {
    const JsonTree* root = nullptr;
    std::map<std::string, const JsonTree*> anchors;
  };

  std::unique_ptr<JsonTree> root_;
  std::vector<std::unique_ptr<JsonTree>> made_;
  std::unordered_map<const JsonTree*, Place> places_;
  std::map<std::string, Resource> resources_;  // by address, without fragment
};

// RFC 3986, section 5.2. Exposed for its test.
std::string ResolveUri(const std::string& base, const std::string& reference);

}  // namespace owml::text
