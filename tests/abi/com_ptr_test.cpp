// Microsoft::WRL::ComPtr off Windows: who holds a reference after each operation.
// Part of tests_abi.
#include <gtest/gtest.h>
#include <wrl/client.h>

#include <utility>

#include "abi/counted_object.h"

namespace {

using Microsoft::WRL::ComPtr;
using owml::test::CountedObject;

HRESULT Create(CountedObject& object, REFIID riid, void** out) { return object.QueryInterface(riid, out); }
HRESULT CreateTyped(CountedObject& object, IWinMLExecutionTarget** out) {
  return object.QueryInterface(IID_PPV_ARGS(out));
}

TEST(ComPtr, CopiesAddAndMovesKeepTheCount) {
  CountedObject object;
  {
    ComPtr<IWinMLExecutionTarget> first = object.Target();
    EXPECT_EQ(object.references, 1u);
    ComPtr<IWinMLExecutionTarget> second = first;
    EXPECT_EQ(object.references, 2u);
    ComPtr<IWinMLExecutionTarget> third = std::move(second);
    EXPECT_EQ(object.references, 2u);
    EXPECT_EQ(second.Get(), nullptr);
    ComPtr<IUnknown> base = third;
    EXPECT_EQ(object.references, 3u);
    base = nullptr;
    third = first;
    EXPECT_EQ(object.references, 2u);
  }
  EXPECT_EQ(object.references, 0u);
}

TEST(ComPtr, SelfAssignmentKeepsTheObject) {
  CountedObject object;
  ComPtr<IWinMLExecutionTarget> pointer = object.Target();
  ComPtr<IWinMLExecutionTarget>& same = pointer;
  pointer = same;
  EXPECT_EQ(object.references, 1u);
  pointer = std::move(same);
  EXPECT_EQ(pointer.Get(), object.Target());
  EXPECT_EQ(object.references, 1u);
}

TEST(ComPtr, EveryWayToReceiveAReferenceReleasesTheOldOne) {
  CountedObject object, old;
  ComPtr<IWinMLExecutionTarget> pointer = old.Target();
  ASSERT_EQ(Create(object, IID_PPV_ARGS(&pointer)), S_OK);
  EXPECT_EQ(old.references, 0u);
  EXPECT_EQ(object.references, 1u);
  ASSERT_EQ(Create(object, IID_PPV_ARGS(pointer.ReleaseAndGetAddressOf())), S_OK);
  ASSERT_EQ(Create(object, __uuidof(IWinMLExecutionTarget), &pointer), S_OK);
  ASSERT_EQ(CreateTyped(object, &pointer), S_OK);
  EXPECT_EQ(object.references, 1u);
  ComPtr<IWinMLExecutionTarget> empty;
  ASSERT_EQ(Create(object, IID_PPV_ARGS(empty.GetAddressOf())), S_OK);
  EXPECT_EQ(object.references, 2u);
}

TEST(ComPtr, AsFindsOtherInterfacesAndReportsTheirAbsence) {
  CountedObject object;
  ComPtr<IWinMLExecutionTarget> target = object.Target();
  ComPtr<IWinMLModel> model;
  ASSERT_EQ(target.As(&model), S_OK);
  EXPECT_EQ(object.references, 2u);
  ComPtr<IWinMLTensor> tensor;
  EXPECT_EQ(target.As(&tensor), E_NOINTERFACE);
  EXPECT_EQ(tensor, nullptr);
  ComPtr<IUnknown> unknown;
  EXPECT_EQ(target.AsIID(__uuidof(IWinMLModel), std::addressof(unknown)), S_OK);
}

TEST(ComPtr, AttachAndDetachMoveOneReference) {
  CountedObject object;
  object.AddRef();
  ComPtr<IWinMLExecutionTarget> pointer;
  pointer.Attach(object.Target());
  EXPECT_EQ(object.references, 1u);
  IWinMLExecutionTarget* raw = pointer.Detach();
  EXPECT_FALSE(pointer);
  EXPECT_EQ(object.references, 1u);
  raw->Release();
}

TEST(ComPtr, CopyToGivesAReferenceAndResetReturnsTheRest) {
  CountedObject object;
  ComPtr<IWinMLExecutionTarget> pointer = object.Target();
  IWinMLExecutionTarget* copy = nullptr;
  ASSERT_EQ(pointer.CopyTo(&copy), S_OK);
  IWinMLModel* model = nullptr;
  ASSERT_EQ(pointer.CopyTo(&model), S_OK);
  EXPECT_EQ(object.references, 3u);
  EXPECT_EQ(pointer.Reset(), 2u);
  copy->Release();
  model->Release();
}

TEST(ComPtr, ComparesByAddress) {
  CountedObject one, two;
  ComPtr<IWinMLExecutionTarget> a = one.Target(), b = two.Target(), c = one.Target();
  EXPECT_TRUE(a == c && a != b && a != nullptr && nullptr != b);
  swap(a, b);
  EXPECT_EQ(b, c);
}

}  // namespace
