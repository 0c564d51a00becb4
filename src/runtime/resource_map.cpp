// Checks what an application's IWinMLResourceMapReader answers before a backend believes it.
// See resource_map.h.
#include "runtime/resource_map.h"

#include "com/com_ptr.h"
#include "com/guard.h"

namespace owml {
namespace {

// No model has more external files or longer locations; a bound for a reader that answers nonsense.
constexpr UINT32 kMaxResources = 1u << 20;
constexpr UINT32 kMaxKeyBytes = 1u << 16;

class ReaderResourceMap final : public ResourceMap {
 public:
  explicit ReaderResourceMap(IWinMLResourceMapReader* reader) : reader_(reader) {}

  std::optional<std::span<const std::byte>> Find(const std::string& key) const override {
    Require(key.find('\0') == std::string::npos, HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
            Label(key) + ": the key contains a NUL");
    WINML_RESOURCE_DESCRIPTOR descriptor{};
    ClearThreadError();
    const HRESULT found = reader_->GetDescriptor(key.c_str(), &descriptor);
    if (found == HRESULT_FROM_WIN32(ERROR_NOT_FOUND)) return std::nullopt;
    CheckResult(found, Label(key) + ": GetDescriptor");
    const BYTE* data = nullptr;
    UINT64 size = 0;
    ClearThreadError();
    CheckResult(reader_->GetData(key.c_str(), &data, &size), Label(key) + ": GetData");
    RequireData(
        size == descriptor.byteSize, key,
        "GetData gives " + std::to_string(size) + " bytes, GetDescriptor " + std::to_string(descriptor.byteSize));
    RequireData(data != nullptr || size == 0, key, "GetData gives no pointer");
    RequireData(descriptor.alignment != 0 && (descriptor.alignment & (descriptor.alignment - 1)) == 0, key,
                "alignment " + std::to_string(descriptor.alignment) + " is no power of two");
    const uintptr_t address = reinterpret_cast<uintptr_t>(data);
    RequireData((address & (descriptor.alignment - 1)) == 0, key,
                "the data are not aligned to " + std::to_string(descriptor.alignment) + " bytes");
    RequireData(size <= UINTPTR_MAX - address, key, "the data wrap around the address space");
    return std::span(reinterpret_cast<const std::byte*>(data), static_cast<size_t>(size));
  }

  std::vector<std::string> Keys() const override {
    UINT32 count = 0;
    ClearThreadError();
    CheckResult(reader_->GetCount(&count), "resource map: GetCount");
    Require(count <= kMaxResources, HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
            "resource map: " + std::to_string(count) + " resources are more than " + std::to_string(kMaxResources));
    std::vector<std::string> keys;
    for (UINT32 i = 0; i < count; ++i) {
      const CHAR* key = nullptr;
      UINT32 length = 0;
      ClearThreadError();
      CheckResult(reader_->GetKey(i, &key, &length), "resource map: GetKey(" + std::to_string(i) + ")");
      Require(key != nullptr && length > 0 && length <= kMaxKeyBytes, HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
              "resource map: key " + std::to_string(i) + " is missing, empty or longer than " +
                  std::to_string(kMaxKeyBytes));
      keys.emplace_back(key, length);
      Require(keys.back().find('\0') == std::string::npos, HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
              "resource map: key " + std::to_string(i) + " contains a NUL");
    }
    return keys;
  }

 private:
  static std::string Label(const std::string& key) { return "resource '" + key + "'"; }

  static void RequireData(bool condition, const std::string& key, const std::string& what) {
    Require(condition, HRESULT_FROM_WIN32(ERROR_INVALID_DATA), Label(key) + ": " + what);
  }

  ComPtr<IWinMLResourceMapReader> reader_;
};

}  // namespace

std::shared_ptr<const ResourceMap> AdaptResourceMap(IWinMLResourceMapReader* reader) {
  return reader ? std::make_shared<ReaderResourceMap>(reader) : nullptr;
}

}  // namespace owml
