// An application's resource map: honest answers pass, everything else is an error that names the key.
// Mirrors src/runtime/resource_map.cpp.
#include "runtime/resource_map.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace owml::test {
namespace {

// One resource "w"; the knobs make it lie.
class Reader final : public IWinMLResourceMapReader {
 public:
  virtual ~Reader() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  HRESULT STDMETHODCALLTYPE GetCount(UINT32* value) override {
    *value = count;
    return count_result;
  }
  HRESULT STDMETHODCALLTYPE GetKey(UINT32, const CHAR** value, UINT32* length) override {
    *value = key.data();
    *length = static_cast<UINT32>(key.size());
    if (null_key) *value = nullptr;
    if (long_key) *length = UINT32_MAX;
    return key_result;
  }
  HRESULT STDMETHODCALLTYPE GetDescriptor(const CHAR* wanted, WINML_RESOURCE_DESCRIPTOR* value) override {
    if (wanted != key) return HRESULT_FROM_WIN32(ERROR_NOT_FOUND);
    *value = descriptor;
    return descriptor_result;
  }
  HRESULT STDMETHODCALLTYPE GetData(const CHAR*, const BYTE** value, UINT64* size) override {
    *value = data;
    *size = byte_size;
    return data_result;
  }

  alignas(64) BYTE bytes[64] = {1, 2, 3, 4};
  const BYTE* data = bytes;
  UINT64 byte_size = 4;
  WINML_RESOURCE_DESCRIPTOR descriptor = {4, 16, 0};
  UINT32 count = 1;
  std::string key = "w";
  bool null_key = false;
  bool long_key = false;
  HRESULT count_result = S_OK;
  HRESULT key_result = S_OK;
  HRESULT descriptor_result = S_OK;
  HRESULT data_result = S_OK;
  ULONG references = 1;
};

constexpr HRESULT kInvalidData = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);

class ResourceMapReader : public testing::Test {
 protected:
  template <class Action>
  HRESULT CodeOf(Action&& action) {
    try {
      action();
    } catch (const Error& error) {
      sentence_ = error.what();
      return error.code();
    }
    return S_OK;
  }
  HRESULT Find(const std::string& key = "w") {
    return CodeOf([&] { AdaptResourceMap(&reader_)->Find(key); });
  }
  HRESULT Keys() {
    return CodeOf([&] { AdaptResourceMap(&reader_)->Keys(); });
  }

  Reader reader_;
  std::string sentence_;
};

TEST_F(ResourceMapReader, NoReaderIsNoMap) { EXPECT_EQ(nullptr, AdaptResourceMap(nullptr)); }

TEST_F(ResourceMapReader, GivesTheApplicationsOwnBytesAndKeepsTheReader) {
  const auto map = AdaptResourceMap(&reader_);
  EXPECT_EQ(2u, reader_.references);
  const auto found = map->Find("w");
  ASSERT_TRUE(found);
  EXPECT_EQ(static_cast<const void*>(reader_.bytes), found->data());
  EXPECT_EQ(4u, found->size());
  EXPECT_FALSE(map->Find("other"));
  EXPECT_EQ((std::vector<std::string>{"w"}), map->Keys());
}

TEST_F(ResourceMapReader, LetsTheReaderGo) {
  AdaptResourceMap(&reader_);
  EXPECT_EQ(1u, reader_.references);
}

TEST_F(ResourceMapReader, FailuresOfTheReaderPassThrough) {
  reader_.descriptor_result = E_ABORT;
  EXPECT_EQ(E_ABORT, Find());
  EXPECT_NE(std::string::npos, sentence_.find("resource 'w': GetDescriptor"));
  reader_.descriptor_result = S_OK;
  reader_.data_result = E_ACCESSDENIED;
  EXPECT_EQ(E_ACCESSDENIED, Find());
  reader_.count_result = E_FAIL;
  EXPECT_EQ(E_FAIL, Keys());
  reader_.count_result = S_OK;
  reader_.key_result = E_BOUNDS;
  EXPECT_EQ(E_BOUNDS, Keys());
}

TEST_F(ResourceMapReader, SizesThatDisagreeAreInvalid) {
  reader_.byte_size = 5;
  EXPECT_EQ(kInvalidData, Find());
  EXPECT_NE(std::string::npos, sentence_.find("GetData gives 5 bytes, GetDescriptor 4")) << sentence_;
}

TEST_F(ResourceMapReader, MissingDataAreInvalidUnlessEmpty) {
  reader_.data = nullptr;
  EXPECT_EQ(kInvalidData, Find());
  reader_.byte_size = reader_.descriptor.byteSize = 0;
  EXPECT_EQ(S_OK, Find());
}

TEST_F(ResourceMapReader, AlignmentsAreKeptPowersOfTwo) {
  for (const UINT64 alignment : {UINT64{0}, UINT64{3}, UINT64_MAX}) {
    reader_.descriptor.alignment = alignment;
    EXPECT_EQ(kInvalidData, Find()) << alignment;
  }
  reader_.descriptor.alignment = 16;
  reader_.data = reader_.bytes + 1;
  EXPECT_EQ(kInvalidData, Find());
  reader_.descriptor.alignment = 1;
  EXPECT_EQ(S_OK, Find());
}

TEST_F(ResourceMapReader, SizesThatWrapTheAddressSpaceAreInvalid) {
  reader_.byte_size = reader_.descriptor.byteSize = UINT64_MAX;
  EXPECT_EQ(kInvalidData, Find());
}

TEST_F(ResourceMapReader, AKeyWithANulIsNotCutShort) { EXPECT_EQ(kInvalidData, Find(std::string("w\0x", 3))); }

TEST_F(ResourceMapReader, ImpossibleCountsAndKeysAreInvalid) {
  reader_.count = UINT32_MAX;
  EXPECT_EQ(kInvalidData, Keys());
  reader_.count = 1;
  reader_.null_key = true;
  EXPECT_EQ(kInvalidData, Keys());
  reader_.null_key = false;
  reader_.long_key = true;
  EXPECT_EQ(kInvalidData, Keys());
  reader_.long_key = false;
  reader_.key = "";
  EXPECT_EQ(kInvalidData, Keys());
  reader_.key = std::string("a\0b", 3);
  EXPECT_EQ(kInvalidData, Keys());
}

}  // namespace
}  // namespace owml::test
