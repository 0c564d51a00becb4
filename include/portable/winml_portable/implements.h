// Reference counting and QueryInterface for classes that applications write, such as processors and sinks.
// Shared by wrl/implements.h and winrt/base.h.
#ifndef WINML_PORTABLE_IMPLEMENTS_H_
#define WINML_PORTABLE_IMPLEMENTS_H_

#include <atomic>
#include <type_traits>

#include "unknown.h"

namespace winml_portable {

// An interface whose bases have ids of their own: answers for all of them with the address of the first.
template <class Interface, class... Bases>
struct Chain : Interface {
  using First = Interface;
  static bool Answers(REFIID riid) noexcept {
    return riid == __uuidof(Interface) || ((riid == __uuidof(Bases)) || ...);
  }

 protected:
  ~Chain() = default;
};

template <class Part, class = void>
struct PartOf {
  using First = Part;
  static bool Answers(REFIID riid) noexcept { return riid == __uuidof(Part); }
};
template <class Part>
struct PartOf<Part, std::void_t<typename Part::First>> {
  using First = typename Part::First;
  static bool Answers(REFIID riid) noexcept { return Part::Answers(riid); }
};

// The object is born with one reference, which belongs to whoever made it.
template <class Part, class... Parts>
class Implements : public Part, public Parts... {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** ppvObject) override {
    if (ppvObject == nullptr) return E_POINTER;
    *ppvObject = riid == __uuidof(IUnknown) ? Address<Part>() : nullptr;
    if (*ppvObject == nullptr) Find<Part, Parts...>(riid, ppvObject);
    if (*ppvObject == nullptr) return E_NOINTERFACE;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return references_.fetch_add(1, std::memory_order_relaxed) + 1; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) delete this;
    return left;
  }

 protected:
  Implements() noexcept = default;
  Implements(const Implements&) = delete;
  Implements& operator=(const Implements&) = delete;
  virtual ~Implements() = default;

 private:
  template <class One>
  void* Address() noexcept {
    return static_cast<typename PartOf<One>::First*>(static_cast<One*>(this));
  }
  template <class One, class... Rest>
  void Find(REFIID riid, void** out) noexcept {
    if (PartOf<One>::Answers(riid)) {
      *out = Address<One>();
    } else if constexpr (sizeof...(Rest) > 0) {
      Find<Rest...>(riid, out);
    }
  }

  std::atomic<ULONG> references_{1};
};

}  // namespace winml_portable

#endif  // WINML_PORTABLE_IMPLEMENTS_H_
