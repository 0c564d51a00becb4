// What stands beside a tokenizer.json: begin and end tokens, the chat template.
// Called by the tokenizer factory and the command line.
#include "text/tokenizer/model_folder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "formats/bad_data.h"
#include "formats/file_identity.h"
#include "text/tokenizer/json_reader.h"
#include "text/tokenizer/tokenizer_gguf.h"
#include "text/tokenizer/tokenizer_json.h"

namespace owml::text {
namespace {

namespace fs = std::filesystem;

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<JsonValue> ReadJsonFile(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  JsonValue value = MappedFile::Open(path)->Read([&](std::span<const std::byte> bytes) {
    JsonReader reader(TextOf(bytes), path.string());
    JsonValue read = JsonValue::Read(&reader);
    reader.End();
    return read;
  });
  if (!value.is_object()) ThrowBadData(path.string(), "it holds no JSON object");
  return value;
}

// "</s>" or {"content": "</s>", ...}.
std::optional<std::string> TokenText(const JsonValue& config, std::string_view key) {
  const JsonValue* value = config.Find(key);
  if (value && value->is_object()) value = value->Find("content");
  if (!value || value->kind() != JsonValue::Kind::kString) return std::nullopt;
  return value->string();
}

// Ids of tokens by their text, before there is a tokenizer.
std::optional<uint32_t> FindToken(const TokenizerParts& parts, std::string_view text) {
  for (const AddedToken& token : parts.added) {
    if (token.content == text) return token.id;
  }
  const uint32_t id = parts.table->Find(text);
  return id == kNoToken ? std::nullopt : std::optional(id);
}

bool IsToken(const TokenizerParts& parts, uint32_t id) {
  return parts.table->Has(id) || (parts.others && parts.others->Has(id)) ||
         std::any_of(parts.added.begin(), parts.added.end(), [id](const AddedToken& token) { return token.id == id; });
}

std::vector<uint32_t> Ids(const TokenizerParts& parts, const JsonValue& config, std::string_view key,
                          const std::string& label) {
  const JsonValue* value = config.Find(key);
  std::vector<uint32_t> ids;
  if (!value || value->is_null()) return ids;
  const std::vector<JsonValue> one(1, *value);
  for (const JsonValue& element : value->kind() == JsonValue::Kind::kArray ? value->elements() : one) {
    const double number = element.number();
    if (element.kind() != JsonValue::Kind::kNumber || !(number >= 0 && number < UINT32_MAX) ||
        number != std::floor(number)) {
      ThrowBadData(label, "'" + std::string(key) + "' holds something that is no token id");
    }
    const auto id = static_cast<uint32_t>(number);
    // Files that belong to several models name ids that only some of them have.
    if (IsToken(parts, id)) ids.push_back(id);
  }
  return ids;
}

void Append(std::vector<uint32_t>* ids, uint32_t id) {
  if (std::find(ids->begin(), ids->end(), id) == ids->end()) ids->push_back(id);
}

// The first file that names a token wins: generation_config.json for ends, as it lists all of them.
void ReadSpecialTokens(const fs::path& folder, const std::optional<JsonValue>& config, TokenizerParts* parts) {
  const auto map = ReadJsonFile(folder / "special_tokens_map.json");
  const auto model = ReadJsonFile(folder / "config.json");
  const auto generation = ReadJsonFile(folder / "generation_config.json");
  for (const auto* file : {&config, &map}) {
    if (!*file) continue;
    if (const auto text = TokenText(**file, "bos_token"); text && !parts->bos) parts->bos = FindToken(*parts, *text);
  }
  if (generation) {
    const std::string label = (folder / "generation_config.json").string();
    for (const uint32_t id : Ids(*parts, *generation, "eos_token_id", label)) Append(&parts->eos, id);
    const auto bos = Ids(*parts, *generation, "bos_token_id", label);
    if (!parts->bos && !bos.empty()) parts->bos = bos[0];
  }
  // The tokenizer's own end token is the turn's end in chat models and may be missing in the list above.
  for (const auto* file : {&config, &map}) {
    if (!*file) continue;
    const auto text = TokenText(**file, "eos_token");
    if (!text) continue;
    if (const auto id = FindToken(*parts, *text)) Append(&parts->eos, *id);
  }
  if (model && parts->eos.empty()) {
    for (const uint32_t id : Ids(*parts, *model, "eos_token_id", (folder / "config.json").string()))
      Append(&parts->eos, id);
  }
}

// A file of its own comes before the text inside tokenizer_config.json, as in current versions of transformers.
std::string ReadTemplate(const fs::path& folder, const std::optional<JsonValue>& config) {
  const fs::path file = folder / "chat_template.jinja";
  std::error_code error;
  if (fs::exists(file, error)) {
    return MappedFile::Open(file)->Read([](std::span<const std::byte> bytes) { return std::string(TextOf(bytes)); });
  }
  const JsonValue* value = config ? config->Find("chat_template") : nullptr;
  if (!value || value->is_null()) return {};
  if (value->kind() == JsonValue::Kind::kString) return value->string();
  // A list of named ones: [{"name": "default", "template": "..."}, ...].
  for (const JsonValue& entry : value->elements()) {
    const JsonValue* name = entry.Find("name");
    const JsonValue* text = entry.Find("template");
    if (name && text && name->string() == "default") return text->string();
  }
  return {};
}

OpenedTokenizer OpenJson(const fs::path& path) {
  const fs::path folder = path.parent_path();
  TokenizerParts parts = MappedFile::Open(path)->Read(
      [&](std::span<const std::byte> bytes) { return ReadTokenizerJson(TextOf(bytes), path.string()); });
  const auto config = ReadJsonFile(folder / "tokenizer_config.json");
  ReadSpecialTokens(folder, config, &parts);
  OpenedTokenizer opened;
  opened.chat_template = ReadTemplate(folder, config);
  opened.tokenizer = std::make_shared<const Tokenizer>(std::move(parts));
  return opened;
}

OpenedTokenizer OpenGguf(const fs::path& path, std::span<const std::byte> bytes) {
  const GgufFile gguf = GgufFile::Parse(bytes, path.string());
  OpenedTokenizer opened;
  opened.chat_template = gguf.metadata().FindString("tokenizer.chat_template").value_or("");
  opened.tokenizer = std::make_shared<const Tokenizer>(ReadTokenizerGguf(gguf));
  return opened;
}

}  // namespace

OpenedTokenizer OpenTokenizer(const std::filesystem::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (fs::exists(path / "tokenizer.json", error)) return OpenJson(path / "tokenizer.json");
    throw Error(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), path.string() + ": there is no tokenizer.json in the folder");
  }
  const auto file = MappedFile::Open(path);
  const auto bytes = file->bytes();
  const FileIdentity identity = IdentifyFile(bytes.first(std::min(bytes.size(), kIdentityBytes)));
  if (identity == FileIdentity::kGguf) {
    return file->Read([&](std::span<const std::byte> whole) { return OpenGguf(path, whole); });
  }
  if (identity == FileIdentity::kJson || identity == FileIdentity::kUnknown) return OpenJson(path);
  throw Error(HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
              path.string() + " is " + Describe(identity) + "; a tokenizer is a tokenizer.json or a .gguf file");
}

}  // namespace owml::text
