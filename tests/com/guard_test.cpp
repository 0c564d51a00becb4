// Exceptions to HRESULTs, and the sentence that goes with them.
// The edge of every method of the library.
#include "com/guard.h"

#include <gtest/gtest.h>
#include <oleauto.h>
#include <openwinml/error.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "com/com_ptr.h"

namespace owml::test {
namespace {

template <class Exception>
HRESULT Throwing(const Exception& exception) {
  return Guard("IThing::Do", [&] { throw exception; });
}

TEST(Guard, AnErrorKeepsItsCodeAndSentence) {
  EXPECT_EQ(E_BOUNDS, Throwing(Error(E_BOUNDS, "index is 7, there are 3")));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: index is 7, there are 3");
}

TEST(Guard, StandardExceptionsHaveTheirCodes) {
  EXPECT_EQ(E_OUTOFMEMORY, Throwing(std::bad_alloc()));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: out of memory");
  EXPECT_EQ(E_FAIL, Throwing(std::runtime_error("broken")));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: broken");
  EXPECT_EQ(
      HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
      Throwing(std::filesystem::filesystem_error("no", std::make_error_code(std::errc::no_such_file_or_directory))));
  EXPECT_EQ(E_ACCESSDENIED, Throwing(std::system_error(EACCES, std::generic_category())));
  EXPECT_EQ(E_FAIL, Throwing(std::system_error(1, std::iostream_category())));
  EXPECT_EQ(E_UNEXPECTED, Throwing(42));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: unknown error");
}

TEST(Guard, SuccessIsSOkAndLeavesTheSentenceOfTheLastFailure) {
  EXPECT_EQ(E_FAIL, Throwing(Error(E_FAIL, "before")));
  EXPECT_EQ(S_OK, Guard("IThing::Do", [] {}));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: before");
}

TEST(Guard, ResultsPassThrough) {
  EXPECT_EQ(S_FALSE, Guard("IThing::Do", [] { return S_FALSE; }));
  EXPECT_EQ(E_NOTIMPL, Guard("IThing::Do", [] { return E_NOTIMPL; }));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: failed with 0x80004001");
  EXPECT_EQ(E_FAIL, Guard("IOuter::Do", [] { return Throwing(Error(E_FAIL, "inner reason")); }));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: inner reason") << "the callee's sentence is the better one";
}

TEST(Guard, AnOlderSentenceIsNotGivenToAPassedResult) {
  EXPECT_EQ(E_FAIL, Throwing(Error(E_FAIL, "old")));
  EXPECT_EQ(E_ABORT, Guard("IThing::Do", [] { return E_ABORT; }));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: failed with 0x80004004");
}

TEST(CheckResult, CarriesTheCalleesSentenceUpwards) {
  const HRESULT result = Guard("IOuter::Do", [] {
    ClearThreadError();
    CheckResult(Throwing(Error(E_BOUNDS, "inner reason")), "stage 'a'");
  });
  EXPECT_EQ(result, E_BOUNDS);
  EXPECT_EQ(openwinml::LastErrorMessage(), "IOuter::Do: stage 'a': IThing::Do: inner reason");
}

TEST(CheckResult, NamesTheCodeWhereTheCalleeSaidNothing) {
  EXPECT_EQ(E_ABORT, Guard("IOuter::Do", [] {
              ClearThreadError();
              CheckResult(E_ABORT, "stage 'a'", "IProcessor::Execute");
            }));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IOuter::Do: stage 'a': IProcessor::Execute failed with 0x80004004");
  CheckResult(S_OK, "fine");
  CheckResult(S_FALSE, std::string("fine"));
}

TEST(Require, PointersAndOutParameters) {
  EXPECT_EQ(E_POINTER, Guard("IThing::Do", [] { RequirePointer(nullptr, "value"); }));
  EXPECT_EQ(openwinml::LastErrorMessage(), "IThing::Do: value is null");
  int number = 7;
  int* pointer = &number;
  RequireOut(&number, "number");
  RequireOut(&pointer, "pointer");
  EXPECT_EQ(number, 0);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(E_POINTER, Guard("IThing::Do", [] { RequireOut(static_cast<int*>(nullptr), "count"); }));
  EXPECT_EQ(E_INVALIDARG, Guard("IThing::Do", [] { Require(false, E_INVALIDARG, "bad"); }));
  Require(true, E_INVALIDARG, "bad");
}

TEST(SetThreadError, TheErrorObjectNamesItsSource) {
  EXPECT_EQ(E_FAIL, Throwing(Error(E_FAIL, "caf\xC3\xA9 \xF0\x9F\x98\x80 \xFF")));
  ComPtr<IErrorInfo> info;
  ASSERT_EQ(S_OK, GetErrorInfo(0, info.GetAddressOf()));
  BSTR source = nullptr, description = nullptr, help = reinterpret_cast<BSTR>(uintptr_t{0x10});
  GUID guid = {1, 2, 3, {}};
  DWORD context = 9;
  EXPECT_EQ(S_OK, info->GetSource(&source));
  EXPECT_EQ(S_OK, info->GetDescription(&description));
  EXPECT_EQ(S_OK, info->GetHelpFile(&help));
  EXPECT_EQ(S_OK, info->GetGUID(&guid));
  EXPECT_EQ(S_OK, info->GetHelpContext(&context));
  EXPECT_STREQ(source, L"WinMLRuntime");
  EXPECT_STREQ(description, L"IThing::Do: caf\u00E9 \U0001F600 \uFFFD");
  EXPECT_EQ(help, nullptr);
  EXPECT_EQ(guid, GUID{});
  EXPECT_EQ(context, 0u);
  SysFreeString(source);
  SysFreeString(description);
  EXPECT_EQ(E_POINTER, info->GetSource(nullptr));
  EXPECT_EQ(E_POINTER, info->GetDescription(nullptr));
  EXPECT_EQ(E_POINTER, info->GetHelpFile(nullptr));
  EXPECT_EQ(E_POINTER, info->GetGUID(nullptr));
  EXPECT_EQ(E_POINTER, info->GetHelpContext(nullptr));
}

}  // namespace
}  // namespace owml::test
