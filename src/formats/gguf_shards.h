// A GGUF model on disk, in one file or in shards named <name>-00001-of-0000N.gguf: found, mapped, read and checked as a
// whole. Called by GGUF backends and `owml inspect`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "formats/gguf.h"

namespace owml {

// The parts of a shard's file name; `number` and `count` from 1.
struct GgufShardName {
  std::string prefix;  // without the dash
  uint32_t number = 0;
  uint32_t count = 0;
};

// Nothing when `file_name` has another form. Upper and lower case of the extension are equal.
std::optional<GgufShardName> ParseGgufShardName(const std::string& file_name);

// The paths of all shards of the model whose first shard is `first`, in order; `first` alone when `file` is not split.
// Presence is not checked. Throws ERROR_INVALID_DATA when name and metadata disagree.
std::vector<std::filesystem::path> GgufShardPaths(const std::filesystem::path& first, const GgufFile& file);

struct GgufModelFiles {
  std::vector<std::filesystem::path> paths;
  std::vector<std::shared_ptr<const MappedFile>> maps;
  std::vector<GgufFile> files;  // over the maps; metadata of the model in the first one
};

// Maps and reads every shard. Throws ERROR_FILE_NOT_FOUND for a shard that is not there, E_INVALIDARG when `first` is a
// later shard, ERROR_INVALID_DATA when shards do not belong together.
GgufModelFiles OpenGgufModel(const std::filesystem::path& first);

}  // namespace owml
