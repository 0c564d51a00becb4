// Packed weights of earlier runs, kept as files in the user's cache: a second load takes them instead of packing again.
// Called when a model's weights are made ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/huge_pages.h"
#include "formats/gguf_shards.h"
#include "formats/packed_file.h"

namespace owml::native {

// One file, mapped or, where the system has huge pages, read into these; stays valid when the file is removed.
class PackedImage {
 public:
  PackedImage(void* map, size_t map_bytes) : map_(map), map_bytes_(map_bytes) {}
  PackedImage(std::unique_ptr<HugePages> memory, size_t bytes)
      : map_(memory->data()), map_bytes_(bytes), memory_(std::move(memory)) {}
  ~PackedImage();
  PackedImage(const PackedImage&) = delete;
  PackedImage& operator=(const PackedImage&) = delete;

  // Aligned to the usual page.
  std::byte* weights() const { return static_cast<std::byte*>(map_) + PackedFileHead::kBytes; }
  size_t size() const { return map_bytes_ - PackedFileHead::kBytes; }
  bool in_huge_pages() const { return memory_ != nullptr; }

 private:
  void* map_;
  size_t map_bytes_;
  std::unique_ptr<HugePages> memory_;  // null for a map
};

// Of files with these stamps and headers, packed in this form; `layout` names the form and what chose it.
PackedFileHead::Key PackedKeyOf(const GgufModelFiles& model, std::string_view layout);

class PackedCache {
 public:
  static constexpr uint64_t kDefaultLimit = uint64_t{16} << 30;  // bytes

  // The folder is made when it is first written to.
  PackedCache(std::filesystem::path folder, uint64_t limit_bytes) : folder_(std::move(folder)), limit_(limit_bytes) {}

  // `packed` in the user's cache, with the limit of OWML_PACKED_CACHE_MIB; nothing where OWML_PACKED_CACHE is "off" or
  // "0", or where there is no cache folder.
  static std::optional<PackedCache> OfUser();

  // The weights with this key, read-only; null where there are none, or where the file is damaged (it is removed then).
  std::shared_ptr<const PackedImage> Find(const PackedFileHead::Key& key, uint64_t bytes) const;

  // Makes room for the file, lets `fill` write the weights, and puts it in place at once and whole.
  // Null, without a call of `fill`, where the cache cannot take it: no space, no permission, above the limit; the log
  // says why. What `fill` throws goes on to the caller and leaves no file.
  std::shared_ptr<const PackedImage> Make(const PackedFileHead::Key& key, const std::string& source, uint64_t bytes,
                                          const std::function<void(std::byte*)>& fill) const;

 private:
  std::filesystem::path PathOf(const PackedFileHead::Key& key) const;
  // Removes what was not used for longest until the rest fits, and leftovers of writers that died.
  void Evict(const std::filesystem::path& keep) const;

  std::filesystem::path folder_;
  uint64_t limit_;
};

}  // namespace owml::native
