// winrt::com_ptr and its errors off Windows.
// Part of tests_abi.
#include <gtest/gtest.h>
#include <winrt/base.h>

#include <utility>

#include "abi/counted_object.h"
#include "com/error_info.h"

namespace {

using owml::test::CountedObject;

TEST(WinrtComPtr, PutAsAndDetachKeepTheCountRight) {
  CountedObject object;
  {
    winrt::com_ptr<IWinMLExecutionTarget> target;
    winrt::check_hresult(object.QueryInterface(IID_PPV_ARGS(target.put())));
    EXPECT_EQ(object.references, 1u);
    const winrt::com_ptr<IWinMLModel> model = target.as<IWinMLModel>();
    EXPECT_EQ(object.references, 2u);
    winrt::com_ptr<IUnknown> base = target;
    EXPECT_EQ(object.references, 3u);
    base.attach(target.detach());
    EXPECT_EQ(object.references, 2u);
    EXPECT_FALSE(target);
    winrt::com_ptr<IWinMLModel> copy;
    copy.copy_from(model.get());
    EXPECT_TRUE(copy == model);
    IWinMLModel* raw = nullptr;
    copy.copy_to(&raw);
    EXPECT_EQ(object.references, 4u);
    raw->Release();
  }
  EXPECT_EQ(object.references, 0u);
}

TEST(WinrtComPtr, AsThrowsWhereTryAsIsEmpty) {
  CountedObject object;
  winrt::com_ptr<IWinMLExecutionTarget> target;
  target.copy_from(object.Target());
  EXPECT_FALSE(target.try_as<IWinMLTensor>());
  try {
    target.as<IWinMLTensor>();
    FAIL() << "no such interface";
  } catch (const winrt::hresult_error& error) {
    EXPECT_EQ(error.code(), E_NOINTERFACE);
  }
}

TEST(WinrtComPtr, CaptureKeepsWhatAFactoryGives) {
  CountedObject object;
  winrt::com_ptr<IWinMLModel> model;
  model.capture([&](REFIID riid, void** out) { return object.QueryInterface(riid, out); });
  EXPECT_EQ(object.references, 1u);
}

TEST(WinrtError, CarriesTheSentenceOfTheThreadAndTakesIt) {
  owml::SetThreadError(E_INVALIDARG, "LoadModelFromFile", "the file has no tensors");
  try {
    winrt::check_hresult(E_INVALIDARG);
    FAIL() << "a failure throws";
  } catch (const winrt::hresult_error& error) {
    EXPECT_EQ(error.code(), E_INVALIDARG);
    EXPECT_EQ(error.message(), L"LoadModelFromFile: the file has no tensors");
  }
  EXPECT_EQ(winrt::hresult_error(E_FAIL).message(), L"") << "taken once";
}

}  // namespace
