// SetErrorInfo, GetErrorInfo and OwmlGetLastErrorMessage: one object a thread, taken or read.
// Called as an application calls them.
#include <gtest/gtest.h>
#include <oleauto.h>
#include <openwinml/error.h>

#include <string>
#include <thread>

#include "com/com_ptr.h"
#include "com/error_info.h"

namespace owml::test {
namespace {

TEST(ErrorSlot, IsEmptyAtFirst) {
  IErrorInfo* info = reinterpret_cast<IErrorInfo*>(uintptr_t{0x10});
  EXPECT_EQ(S_FALSE, GetErrorInfo(0, &info));
  EXPECT_EQ(info, nullptr);
  EXPECT_EQ(0u, OwmlGetLastErrorMessage(nullptr, 0));
  EXPECT_EQ(openwinml::LastErrorMessage(), "");
}

TEST(ErrorSlot, GetTakesTheObjectAway) {
  SetThreadError(E_FAIL, "m", "text");
  ComPtr<IErrorInfo> info;
  EXPECT_EQ(S_OK, GetErrorInfo(0, info.GetAddressOf()));
  EXPECT_EQ(S_FALSE, GetErrorInfo(0, info.ReleaseAndGetAddressOf()));
}

TEST(ErrorSlot, SetReplacesAndClears) {
  SetThreadError(E_FAIL, "m", "one");
  ComPtr<IErrorInfo> one;
  ASSERT_EQ(S_OK, GetErrorInfo(0, one.GetAddressOf()));
  SetThreadError(E_FAIL, "m", "two");
  EXPECT_EQ(S_OK, SetErrorInfo(0, one.Get()));
  EXPECT_EQ(openwinml::LastErrorMessage(), "m: one");
  EXPECT_EQ(S_OK, SetErrorInfo(0, nullptr));
  EXPECT_EQ(openwinml::LastErrorMessage(), "");
}

TEST(ErrorSlot, ChecksItsArguments) {
  SetThreadError(E_FAIL, "", "text");
  IErrorInfo* info = reinterpret_cast<IErrorInfo*>(uintptr_t{0x10});
  EXPECT_EQ(E_POINTER, GetErrorInfo(0, nullptr));
  EXPECT_EQ(E_INVALIDARG, GetErrorInfo(1, &info));
  EXPECT_EQ(info, nullptr);
  EXPECT_EQ(E_INVALIDARG, SetErrorInfo(1, nullptr));
  EXPECT_EQ(openwinml::LastErrorMessage(), "text") << "a refused call changes nothing";
}

TEST(ErrorSlot, TheSentenceIsCutToTheBuffer) {
  SetThreadError(E_FAIL, "", "sentence");
  char buffer[5] = {'x', 'x', 'x', 'x', 'x'};
  EXPECT_EQ(8u, OwmlGetLastErrorMessage(buffer, 5));
  EXPECT_STREQ(buffer, "sent");
  EXPECT_EQ(8u, OwmlGetLastErrorMessage(buffer, 0));
  EXPECT_STREQ(buffer, "sent");
  EXPECT_EQ(8u, OwmlGetLastErrorMessage(buffer, 1));
  EXPECT_STREQ(buffer, "");
  EXPECT_EQ(openwinml::LastErrorMessage(), "sentence") << "reading leaves it there";
}

TEST(ErrorSlot, BelongsToTheThread) {
  SetThreadError(E_FAIL, "", "main");
  std::thread([] {
    EXPECT_EQ(openwinml::LastErrorMessage(), "");
    SetThreadError(E_FAIL, "", "other");
    EXPECT_EQ(openwinml::LastErrorMessage(), "other");
  }).join();
  EXPECT_EQ(openwinml::LastErrorMessage(), "main");
}

// An application's error object without a description.
class Mute final : public IErrorInfo {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = nullptr;
    return E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  HRESULT STDMETHODCALLTYPE GetGUID(GUID*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetSource(BSTR*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetDescription(BSTR*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetHelpFile(BSTR*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetHelpContext(DWORD*) override { return E_NOTIMPL; }

  ULONG references = 1;
};

TEST(ErrorSlot, HoldsAndReleasesAnApplicationsObject) {
  Mute mute;
  ASSERT_EQ(S_OK, SetErrorInfo(0, &mute));
  EXPECT_EQ(mute.references, 2u);
  EXPECT_EQ(openwinml::LastErrorMessage(), "");
  SetThreadError(E_FAIL, "", "next");
  EXPECT_EQ(mute.references, 1u);
}

}  // namespace
}  // namespace owml::test
