// Shard names, and reading all shards of a model.
// The first shard's `split.count` is what counts; names and the other shards must agree with it.
#include "formats/gguf_shards.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "formats/bad_data.h"

namespace owml {
namespace {

constexpr size_t kDigits = 5;

std::optional<uint32_t> FiveDigits(std::string_view text) {
  uint32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint32_t>(c - '0');
  }
  return number;
}

std::string InQuotes(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

// "<prefix>-00002-of-00004" plus the extension as the first shard spells it.
std::filesystem::path ShardPath(const std::filesystem::path& first, const GgufShardName& name, uint32_t number) {
  char tail[32];
  std::snprintf(tail, sizeof(tail), "-%05u-of-%05u", number, name.count);
  return first.parent_path() / (name.prefix + tail + first.extension().string());
}

// What a shard says about itself.
struct SplitKeys {
  uint64_t count = 1;
  uint64_t number = 0;  // from 0
  std::optional<uint64_t> tensors;
};

uint64_t UInt16(const GgufFile& file, std::string_view key, uint64_t otherwise) {
  const GgufValue* value = file.metadata().Find(key);
  if (!value) return otherwise;
  if (value->type != GgufValueType::kUInt16) {
    ThrowBadData(file.label(), Quoted(key) + " has type " + value->TypeName() + "; it must be uint16");
  }
  return *value->AsUnsigned();
}

SplitKeys ReadSplitKeys(const GgufFile& file) {
  SplitKeys keys;
  keys.count = UInt16(file, "split.count", 1);
  keys.number = UInt16(file, "split.no", 0);
  keys.tensors = file.metadata().FindUInt64("split.tensors.count");
  if (keys.count == 0) keys.count = 1;
  if (keys.number >= keys.count) {
    ThrowBadData(file.label(),
                 "'split.no' is " + std::to_string(keys.number) + " of " + std::to_string(keys.count) + " shards");
  }
  return keys;
}

void CheckTogether(const GgufModelFiles& model) {
  const SplitKeys first = ReadSplitKeys(model.files[0]);
  uint64_t tensors = 0;
  std::vector<std::pair<std::string_view, size_t>> names;
  for (size_t i = 0; i < model.files.size(); ++i) {
    const GgufFile& file = model.files[i];
    const SplitKeys keys = ReadSplitKeys(file);
    if (model.files.size() > 1 && !file.metadata().Find("split.no")) {
      ThrowBadData(file.label(), "the metadata key 'split.no' is missing");
    }
    if (keys.number != i) {
      ThrowBadData(file.label(),
                   "'split.no' is " + std::to_string(keys.number) + ", but the file's name says " + std::to_string(i));
    }
    if (keys.count != first.count) {
      ThrowBadData(file.label(), "'split.count' is " + std::to_string(keys.count) + ", but the first shard says " +
                                     std::to_string(first.count));
    }
    tensors += file.tensors().size();
    for (const GgufTensor& tensor : file.tensors()) names.emplace_back(tensor.name, i);
  }
  if (model.files.size() > 1 && !first.tensors) {
    ThrowBadData(model.files[0].label(), "the metadata key 'split.tensors.count' is missing");
  }
  if (model.files.size() > 1 && tensors != *first.tensors) {
    ThrowBadData(model.files[0].label(), "'split.tensors.count' is " + std::to_string(*first.tensors) +
                                             ", but the shards hold " + std::to_string(tensors) + " tensors");
  }
  std::sort(names.begin(), names.end());
  for (size_t i = 1; i < names.size(); ++i) {
    if (names[i].first == names[i - 1].first) {
      ThrowBadData(model.files[names[i].second].label(),
                   "tensor " + Quoted(names[i].first) + " is also in " + model.files[names[i - 1].second].label());
    }
  }
}

}  // namespace

std::optional<GgufShardName> ParseGgufShardName(const std::string& file_name) {
  constexpr std::string_view kExtension = ".gguf";
  constexpr size_t kTail = 1 + kDigits + 4 + kDigits;  // "-00001-of-00004"
  if (file_name.size() <= kTail + kExtension.size()) return std::nullopt;
  for (size_t i = 0; i < kExtension.size(); ++i) {
    const auto c = static_cast<unsigned char>(file_name[file_name.size() - kExtension.size() + i]);
    if (std::tolower(c) != kExtension[i]) return std::nullopt;
  }
  const std::string_view stem = std::string_view(file_name).substr(0, file_name.size() - kExtension.size());
  const std::string_view tail = stem.substr(stem.size() - kTail);
  const std::optional<uint32_t> number = FiveDigits(tail.substr(1, kDigits));
  const std::optional<uint32_t> count = FiveDigits(tail.substr(kTail - kDigits));
  if (tail[0] != '-' || tail.substr(1 + kDigits, 4) != "-of-" || !number || !count) return std::nullopt;
  if (*number < 1 || *number > *count) return std::nullopt;
  return GgufShardName{std::string(stem.substr(0, stem.size() - kTail)), *number, *count};
}

std::vector<std::filesystem::path> GgufShardPaths(const std::filesystem::path& first, const GgufFile& file) {
  const SplitKeys keys = ReadSplitKeys(file);
  const std::optional<GgufShardName> name = ParseGgufShardName(first.filename().string());
  if (keys.number != 0) {
    throw Error(E_INVALIDARG, file.label() + " is shard " + std::to_string(keys.number + 1) + " of " +
                                  std::to_string(keys.count) + "; load the first shard" +
                                  (name ? ", " + InQuotes(ShardPath(first, *name, 1)) : std::string()));
  }
  if (keys.count <= 1) return {first};
  if (!name || name->number != 1 || name->count != keys.count) {
    ThrowBadData(file.label(), "it is the first of " + std::to_string(keys.count) +
                                   " shards, whose names must end in -00001-of-0000N.gguf with N the number of shards");
  }
  std::vector<std::filesystem::path> paths = {first};
  for (uint32_t number = 2; number <= name->count; ++number) paths.push_back(ShardPath(first, *name, number));
  return paths;
}

GgufModelFiles OpenGgufModel(const std::filesystem::path& first) {
  GgufModelFiles model;
  const auto add = [&model](const std::filesystem::path& path) {
    model.maps.push_back(MappedFile::Open(path));
    model.files.push_back(model.maps.back()->Read(
        [&](std::span<const std::byte> bytes) { return GgufFile::Parse(bytes, InQuotes(path)); }));
  };
  add(first);
  model.paths = GgufShardPaths(first, model.files[0]);
  for (size_t i = 1; i < model.paths.size(); ++i) {
    try {
      add(model.paths[i]);
    } catch (const Error& error) {
      // Spec-open: the code for a missing shard is not given; that of a missing file says most.
      if (error.code() != HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)) throw;
      throw Error(error.code(), InQuotes(first) + " needs " + std::to_string(model.paths.size()) + " shards, but " +
                                    InQuotes(model.paths[i]) + " is not there");
    }
  }
  CheckTogether(model);
  return model;
}

}  // namespace owml
