// WinMLCreateRuntime as the library exports it, and the state of the process that its sisters share.
// Links the shared libraries only.
#include <WinMLRuntime.h>
#include <WinMLTokenizer.h>
#include <gmock/gmock.h>
#include <openwinml/diagnostics.h>
#include <openwinml/error.h>

#include <string>

#include "exports/error_text.h"

namespace owml::test {
namespace {

using Microsoft::WRL::ComPtr;
using testing::HasSubstr;

void* const kRubbish = reinterpret_cast<void*>(uintptr_t{0x10});

TEST(WinMLCreateRuntimeExport, GivesTheInterfaceThatWasAskedFor) {
  for (const IID& iid : {IID_IWinMLRuntime, IID_IUnknown}) {
    ComPtr<IUnknown> object;
    ASSERT_EQ(WinMLCreateRuntime(iid, reinterpret_cast<void**>(object.GetAddressOf())), S_OK);
    ComPtr<IWinMLRuntime> runtime;
    EXPECT_EQ(object.As(&runtime), S_OK);
  }
}

TEST(WinMLCreateRuntimeExport, RefusesAnInterfaceThatARuntimeHasNot) {
  void* out = kRubbish;
  EXPECT_EQ(WinMLCreateRuntime(IID_IWinMLTensor, &out), E_NOINTERFACE);
  EXPECT_EQ(out, nullptr);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("WinMLCreateRuntime"));
}

TEST(WinMLCreateRuntimeExport, RefusesANullOutPointerWithASentence) {
  EXPECT_EQ(WinMLCreateRuntime(IID_IWinMLRuntime, nullptr), E_POINTER);
  const ErrorText error = TakeError();
  EXPECT_EQ(error.source, "WinMLRuntime");
  EXPECT_EQ(error.description, "WinMLCreateRuntime: runtime is null");
  EXPECT_EQ(openwinml::LastErrorMessage(), "") << "the object was taken away";
}

TEST(WinMLCreateRuntimeExport, EachCallMakesAnObjectOfItsOwn) {
  ComPtr<IUnknown> first, second;
  ASSERT_EQ(WinMLCreateRuntime(IID_IUnknown, reinterpret_cast<void**>(first.GetAddressOf())), S_OK);
  ASSERT_EQ(WinMLCreateRuntime(IID_IUnknown, reinterpret_cast<void**>(second.GetAddressOf())), S_OK);
  EXPECT_NE(first.Get(), second.Get());
}

TEST(ProcessState, ObjectsOfAllLibrariesAreCountedTogether) {
  const UINT64 before = OwmlLiveObjectCount();
  ComPtr<IWinMLRuntime> runtime;
  ASSERT_EQ(WinMLCreateRuntime(IID_IWinMLRuntime, reinterpret_cast<void**>(runtime.GetAddressOf())), S_OK);
  EXPECT_GT(OwmlLiveObjectCount(), before);
  runtime.Reset();
  EXPECT_EQ(OwmlLiveObjectCount(), before);
  ComPtr<IWinMLTokenizer> tokenizer;
  ASSERT_NE(WinMLCreateTokenizerFromFile(L"/no such file.gguf", &tokenizer), S_OK);
  EXPECT_EQ(OwmlLiveObjectCount(), before + 1) << "the sentence of the failed call is an object too";
}

TEST(ProcessState, ALaterFailureReplacesTheSentenceOfAnotherLibrary) {
  EXPECT_EQ(WinMLCreateTokenizerFromFile(nullptr, nullptr), E_POINTER);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("WinMLCreateTokenizerFromFile"));
  EXPECT_EQ(WinMLCreateRuntime(IID_IWinMLRuntime, nullptr), E_POINTER);
  EXPECT_THAT(openwinml::LastErrorMessage(), HasSubstr("WinMLCreateRuntime"));
}

}  // namespace
}  // namespace owml::test
