// The object base: identity, counting, interfaces filled by a base class, interfaces that extend another, and live
// objects. On the rules of COM that callers rely on.
#include "com/implements.h"

#include <gtest/gtest.h>
#include <openwinml/diagnostics.h>

#include <stdexcept>

namespace owml::test {

MIDL_INTERFACE("11111111-0000-4000-8000-000000000001") IFirst : public IUnknown {
 public:
  virtual int First() = 0;

 protected:
  ~IFirst() = default;
};
MIDL_INTERFACE("11111111-0000-4000-8000-000000000002") ISecond : public IUnknown {
 public:
  virtual int Second() = 0;

 protected:
  ~ISecond() = default;
};
MIDL_INTERFACE("11111111-0000-4000-8000-000000000003") IThird : public ISecond {
 public:
  virtual int Third() = 0;

 protected:
  ~IThird() = default;
};

}  // namespace owml::test

#ifdef __CRT_UUID_DECL
__CRT_UUID_DECL(owml::test::IFirst, 0x11111111, 0, 0x4000, 0x80, 0, 0, 0, 0, 0, 0, 1)
__CRT_UUID_DECL(owml::test::ISecond, 0x11111111, 0, 0x4000, 0x80, 0, 0, 0, 0, 0, 0, 2)
__CRT_UUID_DECL(owml::test::IThird, 0x11111111, 0, 0x4000, 0x80, 0, 0, 0, 0, 0, 0, 3)
#endif

namespace owml {

template <>
struct ParentInterfaceOf<test::IThird> {
  using type = test::ISecond;
};

namespace test {
namespace {

// Fills ISecond for whoever derives from it.
class SecondMethods : public ISecond {
 public:
  using AbiInterface = ISecond;
  int Second() override { return 2; }

 protected:
  ~SecondMethods() = default;
};

class Both final : public Implements<Both, IFirst, SecondMethods> {
 public:
  explicit Both(bool* destroyed = nullptr, bool offers_second = true)
      : destroyed_(destroyed), offers_second_(offers_second) {}
  ~Both() {
    if (destroyed_) *destroyed_ = true;
  }
  int First() override { return 1; }
  bool OffersInterface(REFIID iid) const noexcept { return offers_second_ || iid != __uuidof(ISecond); }

 private:
  bool* destroyed_;
  bool offers_second_;
};

class Extended final : public Implements<Extended, IFirst, IThird> {
 public:
  int First() override { return 1; }
  int Second() override { return 20; }
  int Third() override { return 30; }
};

class Unlucky final : public Implements<Unlucky, IFirst> {
 public:
  Unlucky() { throw std::runtime_error("no"); }
  int First() override { return 0; }
};

IFirst* FirstOf(const ComPtr<Both>& object) { return object.Get(); }

TEST(Implements, AnswersItsInterfacesAndTheirMethods) {
  const ComPtr<Both> object = Make<Both>();
  EXPECT_EQ(Query<IFirst>(FirstOf(object))->First(), 1);
  EXPECT_EQ(Query<ISecond>(FirstOf(object))->Second(), 2);
}

TEST(Implements, EveryWayToIUnknownEndsAtOnePointer) {
  const ComPtr<Both> object = Make<Both>();
  const auto first = Query<IFirst>(FirstOf(object));
  const auto second = Query<ISecond>(first.Get());
  EXPECT_EQ(Query<IUnknown>(first.Get()).Get(), Query<IUnknown>(second.Get()).Get());
  EXPECT_EQ(Query<IFirst>(second.Get()).Get(), first.Get());
  EXPECT_TRUE(SameObject(first.Get(), second.Get()));
  const ComPtr<Both> other = Make<Both>();
  EXPECT_FALSE(SameObject(first.Get(), FirstOf(other)));
  EXPECT_FALSE(SameObject(first.Get(), nullptr));
  EXPECT_TRUE(SameObject(nullptr, nullptr));
}

TEST(Implements, RefusesOtherInterfacesAndClearsTheOutPointer) {
  const ComPtr<Both> object = Make<Both>();
  void* out = object.Get();
  EXPECT_EQ(E_NOINTERFACE, object->QueryInterface(__uuidof(IThird), &out));
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(E_POINTER, object->QueryInterface(__uuidof(IFirst), static_cast<void**>(nullptr)));
}

TEST(Implements, AnInstanceMayOfferLessThanItsClass) {
  const ComPtr<Both> object = Make<Both>(nullptr, false);
  EXPECT_TRUE(Query<IFirst>(FirstOf(object)));
  EXPECT_FALSE(Query<ISecond>(FirstOf(object)));
  EXPECT_TRUE(Query<IUnknown>(FirstOf(object)));
}

TEST(Implements, AnInterfaceThatExtendsAnotherOffersBoth) {
  const ComPtr<Extended> object = Make<Extended>();
  IFirst* first = object.Get();
  EXPECT_EQ(Query<IThird>(first)->Third(), 30);
  EXPECT_EQ(Query<ISecond>(first)->Second(), 20);
  EXPECT_TRUE(SameObject(Query<ISecond>(first).Get(), first));
}

TEST(Implements, TheLastReleaseDestroys) {
  bool destroyed = false;
  ComPtr<Both> object = Make<Both>(&destroyed);
  ISecond* second = Query<ISecond>(FirstOf(object)).Detach();
  EXPECT_EQ(object->AddRef(), 3u);
  EXPECT_EQ(object->Release(), 2u);
  object.Reset();
  EXPECT_FALSE(destroyed);
  EXPECT_EQ(second->Release(), 0u);
  EXPECT_TRUE(destroyed);
}

TEST(Implements, LiveObjectsAreCounted) {
  const UINT64 before = OwmlLiveObjectCount();
  {
    const ComPtr<Both> one = Make<Both>(), two = Make<Both>();
    EXPECT_EQ(OwmlLiveObjectCount(), before + 2);
  }
  EXPECT_EQ(OwmlLiveObjectCount(), before);
}

TEST(Implements, AThrowingConstructorLeavesNothingAlive) {
  const UINT64 before = OwmlLiveObjectCount();
  EXPECT_THROW(Make<Unlucky>(), std::runtime_error);
  EXPECT_EQ(OwmlLiveObjectCount(), before);
}

// Answers a failure and writes rubbish all the same.
class Rude final : public IUnknown {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** object) override {
    *object = reinterpret_cast<void*>(uintptr_t{0x10});
    return E_FAIL;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return 1; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
};

TEST(Query, RubbishOfAFailingStrangerIsNotReleased) {
  Rude rude;
  EXPECT_FALSE(Query<IFirst>(&rude));
  EXPECT_FALSE(Query<IFirst>(nullptr));
}

TEST(AddedRef, CountsOneMoreAndTakesNull) {
  const ComPtr<Both> object = Make<Both>();
  EXPECT_EQ(AddedRef(object.Get()), object.Get());
  EXPECT_EQ(object->Release(), 1u);
  EXPECT_EQ(AddedRef(static_cast<IFirst*>(nullptr)), nullptr);
}

}  // namespace
}  // namespace test
}  // namespace owml
