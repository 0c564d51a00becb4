// The acceptance rules for added llama.cpp backend families (manifest, hash, names, imports).
// Called by llama_library.cpp for each folder under OWML_LLAMA_BACKENDS.
#include "backend/llama/llama_families.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/sha256.h"

namespace owml {
namespace {

constexpr char kManifestName[] = "WinMLLlamaBackendManifest.json";
constexpr size_t kManifestLimit = 64 * 1024;

// Spec-open: off Windows the core's modules are lib<name>.so; ours carry "owml-" in front.
constexpr std::array<std::string_view, 6> kCoreModules = {"ggml-base", "ggml",          "llama",
                                                          "mtmd",      "winml_runtime", "winmlruntimellama"};

[[noreturn]] void Reject(const std::string& reason) { throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), reason); }

bool IsFamilyName(std::string_view name) {
  const auto is_head = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 32 && is_head(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_head(c) || c == '_' || c == '-'; });
}

// "libowml-ggml-base.so.0" -> "ggml-base"; lower case, so that no spelling slips through.
std::string ModuleStem(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  name = name.substr(0, name.find('.'));
  for (const std::string_view prefix : {"lib", "owml-", "winml"}) {
    if (name.starts_with(prefix) && name != "winml_runtime" && name != "winmlruntimellama")
      name.erase(0, prefix.size());
  }
  return name;
}

bool IsCoreModule(const std::string& name) {
  return std::find(kCoreModules.begin(), kCoreModules.end(), ModuleStem(name)) != kCoreModules.end();
}

std::string Text(const nlohmann::json& manifest, const char* field) {
  const auto found = manifest.find(field);
  if (found == manifest.end() || !found->is_string())
    Reject(std::string("its manifest has no text field '") + field + "'");
  return found->get<std::string>();
}

uint32_t Number(const nlohmann::json& manifest, const char* field) {
  const auto found = manifest.find(field);
  if (found == manifest.end() || !found->is_number_unsigned() || found->get<uint64_t>() > UINT32_MAX) {
    Reject(std::string("its manifest has no 32-bit number '") + field + "'");
  }
  return found->get<uint32_t>();
}

bool IsLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

void RequireSame(const char* field, const std::string& theirs, const std::string& ours) {
  if (theirs != ours) Reject(std::string("its ") + field + " is '" + theirs + "', the core's is '" + ours + "'");
}

// Commits are compared over the shorter of the two, since a core built from a release archive knows only a short one.
void RequireSameCommit(const std::string& theirs, const std::string& ours) {
  if (!IsLowerHex(theirs) || theirs.size() < 7 || theirs.size() > 40) {
    Reject("its llamaCommit '" + theirs + "' is no lower-case hexadecimal commit");
  }
  const size_t length = std::min(theirs.size(), ours.size());
  if (theirs.compare(0, length, ours, 0, length) != 0) {
    Reject("its llamaCommit is '" + theirs + "', the core's is '" + ours + "'");
  }
}

// Names of shared objects stand in the module between zero bytes. The core it imports must be ours and not an upstream
// one, which would be a second copy of ggml in the process.
void CheckImports(std::span<const std::byte> module) {
  const std::string_view bytes(reinterpret_cast<const char*>(module.data()), module.size());
  using namespace std::string_view_literals;
  if (bytes.find("\0libowml-ggml-base.so"sv) == std::string_view::npos) {
    Reject("its module does not import libowml-ggml-base");
  }
  for (const std::string_view upstream :
       {"\0libggml-base.so"sv, "\0libggml.so"sv, "\0libllama.so"sv, "\0libmtmd.so"sv}) {
    if (bytes.find(upstream) != std::string_view::npos) {
      Reject("its module imports " + std::string(upstream.substr(1)) + ", an upstream core");
    }
  }
}

}  // namespace

LlamaFamily CheckLlamaFamily(const std::filesystem::path& folder, const LlamaCoreIdentity& core) {
  const std::string name = folder.filename().string();
  if (!IsFamilyName(name)) Reject("'" + name + "' is no family name (a-z, 0-9, '_', '-'; at most 32)");
  if (name == "cpu") Reject("the family name 'cpu' is reserved");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (IsCoreModule(file)) Reject("it holds '" + file + "', a module of the core");
  }

  const auto text = ReadFileStart(folder / kManifestName, kManifestLimit + 1);
  if (text.size() > kManifestLimit) Reject("its manifest is larger than 64 KiB");
  const auto* begin = reinterpret_cast<const char*>(text.data());
  int depth_exceeded = 0;
  const auto manifest = nlohmann::json::parse(
      begin, begin + text.size(),
      [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > 8) depth_exceeded = 1;
        return depth <= 8;
      },
      /*allow_exceptions=*/false);
  if (!manifest.is_object() || depth_exceeded) Reject("its manifest is no JSON object");

  if (Number(manifest, "schemaVersion") != 1) Reject("its manifest's schemaVersion is not 1");
  RequireSame("family", Text(manifest, "family"), name);
  RequireSame("architecture", Text(manifest, "architecture"), core.architecture);
  RequireSameCommit(Text(manifest, "llamaCommit"), core.commit);
  RequireSame("llamaBuild", std::to_string(Number(manifest, "llamaBuild")), std::to_string(core.build));
  RequireSame("backendApiVersion", std::to_string(Number(manifest, "backendApiVersion")),
              std::to_string(core.backend_api_version));
  RequireSame("runtimeContract", Text(manifest, "runtimeContract"), core.runtime_contract);
  // Spec-open: the module's file name off Windows.
  const std::string file = Text(manifest, "backend");
  RequireSame("backend", file, "libggml-" + name + ".so");
  const std::string hash = Text(manifest, "sha256");
  if (hash.size() != 64 || !IsLowerHex(hash)) Reject("its sha256 is not 64 lower-case hexadecimal digits");

  const std::filesystem::path module = folder / file;
  const auto map = MappedFile::Open(module);
  const std::string actual = map->Read([](std::span<const std::byte> bytes) { return Sha256Hex(bytes); });
  if (actual != hash) Reject("the sha256 of '" + file + "' is " + actual + ", its manifest says " + hash);
  CheckImports(map->bytes());
  return {name, module};
}

LlamaFamilies FindLlamaFamilies(const std::filesystem::path& root, const LlamaCoreIdentity& core) {
  std::error_code error;
  std::vector<std::filesystem::path> folders;
  for (auto it = std::filesystem::directory_iterator(root, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (it->is_directory(error)) folders.push_back(it->path());
  }
  if (error) ThrowErrno(error.value(), "cannot read the llama.cpp backend folder '" + root.string() + "'");
  std::sort(folders.begin(), folders.end());

  LlamaFamilies families;
  for (const auto& folder : folders) {
    try {
      families.accepted.push_back(CheckLlamaFamily(folder, core));
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& reason) {
      families.rejected.push_back({folder, reason.what()});
    }
  }
  return families;
}

}  // namespace owml
