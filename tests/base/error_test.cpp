// errno to HRESULT: the Win32 code of the same condition.
// The sentence keeps what the caller said and what the system said.
#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace owml {
namespace {

TEST(HresultFromErrno, GivesTheWin32CodeOfTheCondition) {
  EXPECT_EQ(HresultFromErrno(ENOENT), static_cast<HRESULT>(0x80070002u));
  EXPECT_EQ(HresultFromErrno(ENOTDIR), static_cast<HRESULT>(0x80070003u));
  EXPECT_EQ(HresultFromErrno(EMFILE), static_cast<HRESULT>(0x80070004u));
  EXPECT_EQ(HresultFromErrno(EACCES), static_cast<HRESULT>(0x80070005u));
  EXPECT_EQ(HresultFromErrno(EPERM), static_cast<HRESULT>(0x80070005u));
  EXPECT_EQ(HresultFromErrno(ENOMEM), static_cast<HRESULT>(0x8007000Eu));
  EXPECT_EQ(HresultFromErrno(ENOSPC), static_cast<HRESULT>(0x80070070u));
  EXPECT_EQ(HresultFromErrno(EISDIR), static_cast<HRESULT>(0x80070057u));
  EXPECT_EQ(HresultFromErrno(EIO), static_cast<HRESULT>(0x80004005u));
  EXPECT_EQ(HresultFromErrno(0), static_cast<HRESULT>(0x80004005u)) << "a failure never becomes success";
}

TEST(ThrowErrno, NamesTheActionAndTheReason) {
  try {
    ThrowErrno(ENOENT, "cannot open 'x'");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    EXPECT_STREQ(error.what(), "cannot open 'x': No such file or directory");
  }
}

}  // namespace
}  // namespace owml
