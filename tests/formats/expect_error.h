// Checks the code of an Error and words of its sentence.
// Used by the tests of the format readers and of the registry.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace owml::test {

template <typename Call>
void ExpectError(Call call, HRESULT code, const std::vector<std::string>& words) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string& word : words) EXPECT_THAT(error.what(), testing::HasSubstr(word));
  }
}

template <typename Call>
void ExpectBadData(Call call, const std::vector<std::string>& words) {
  ExpectError(call, HRESULT_FROM_WIN32(ERROR_INVALID_DATA), words);
}

}  // namespace owml::test
