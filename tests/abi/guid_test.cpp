// Ids, error codes and flags of the headers, from C++ and from C in one program.
// Part of tests_abi.
#include <WinMLRuntime.h>
#include <WinMLTextGenerationTask.h>
#include <gtest/gtest.h>

#include "abi/counted_object.h"
#include "abi/iid_from_c.h"

namespace {

using owml::test::CountedObject;

TEST(Guid, EqualOnlyWhenEveryByteIsEqual) {
  const GUID base = __uuidof(IWinMLTensor);
  EXPECT_TRUE(IsEqualGUID(base, base));
  GUID other = base;
  other.Data1 ^= 1;
  EXPECT_FALSE(other == base);
  other = base;
  other.Data2 ^= 0x100;
  EXPECT_TRUE(other != base);
  other = base;
  other.Data3 ^= 0x8000;
  EXPECT_FALSE(IsEqualIID(other, base));
  for (int i = 0; i < 8; ++i) {
    other = base;
    other.Data4[i] ^= 1;
    EXPECT_FALSE(other == base) << i;
  }
}

TEST(Guid, UuidofTakesTypesPointersAndExpressions) {
  IWinMLTensor* pointer = nullptr;
  IWinMLTensor** address = &pointer;
  const GUID& expected = IID_IWinMLTensor;
  EXPECT_EQ(__uuidof(IWinMLTensor), expected);
  EXPECT_EQ(__uuidof(IWinMLTensor*), expected);
  EXPECT_EQ(__uuidof(pointer), expected);
  EXPECT_EQ(__uuidof(*pointer), expected);
  EXPECT_EQ(__uuidof(**address), expected);
  static_assert(__uuidof(IWinMLTensor).Data1 == 0x22f5cf71, "usable where a constant is needed");
}

TEST(Guid, ConstantsOfCAndCxxFilesAreTheSame) {
  EXPECT_EQ(TensorIdSeenFromC(), __uuidof(IWinMLTensor));
  EXPECT_EQ(AddressOfTensorIdSeenFromC(), &IID_IWinMLTensor);
}

TEST(Guid, CCodeCallsAnObjectWrittenInCxx) {
  CountedObject object;
  IUnknown* unknown = static_cast<IWinMLModel*>(&object);
  void* out = nullptr;
  ASSERT_EQ(QueryFromC(unknown, &IID_IWinMLExecutionTarget, &out), S_OK);
  EXPECT_EQ(out, object.Target());
  EXPECT_EQ(ReleaseFromC(static_cast<IWinMLExecutionTarget*>(out)), 0u);
  EXPECT_EQ(QueryFromC(unknown, &IID_IWinMLTensor, &out), E_NOINTERFACE);
}

TEST(Errors, HaveTheNumbersOfTheSdk) {
  EXPECT_EQ(static_cast<uint32_t>(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED)), 0x80070032u);
  EXPECT_EQ(static_cast<uint32_t>(HRESULT_FROM_WIN32(ERROR_LOCKED)), 0x800700D4u);
  EXPECT_EQ(HRESULT_FROM_WIN32(5023), E_NOT_VALID_STATE);
  EXPECT_EQ(HRESULT_FROM_WIN32(ERROR_SUCCESS), S_OK);
  EXPECT_EQ(HRESULT_FROM_WIN32(static_cast<uint32_t>(E_FAIL)), E_FAIL) << "an HRESULT passes unchanged";
  EXPECT_EQ(HRESULT_CODE(E_INVALIDARG), ERROR_INVALID_PARAMETER);
  EXPECT_EQ(HRESULT_FACILITY(E_INVALIDARG), FACILITY_WIN32);
  EXPECT_EQ(MAKE_HRESULT(SEVERITY_ERROR, FACILITY_WIN32, ERROR_BUSY), HRESULT_FROM_WIN32(ERROR_BUSY));
  EXPECT_TRUE(SUCCEEDED(S_FALSE) && FAILED(E_BOUNDS));
}

TEST(Flags, CombineWithoutLeavingTheirType) {
  WINML_TEXT_GENERATION_OPTIONS options = {};
  options.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_SEED;
  options.presentFields |= WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K;
  EXPECT_EQ(options.presentFields, 0x204);
  options.presentFields &= ~WINML_TEXT_GENERATION_OPTION_FIELD_SEED;
  EXPECT_EQ(options.presentFields, WINML_TEXT_GENERATION_OPTION_FIELD_TOP_K);
}

}  // namespace
