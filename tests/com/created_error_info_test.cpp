// CreateErrorInfo: what an application's processor leaves behind when it fails.
// Called as an application calls it.
#include <gtest/gtest.h>
#include <oleauto.h>
#include <openwinml/error.h>

#include <openwinml/strings.hpp>
#include <string>

#include "com/com_ptr.h"

namespace owml::test {
namespace {

std::string Text(BSTR text) {
  const std::string result = openwinml::ToUtf8(std::wstring_view(text ? text : L"", SysStringLen(text)));
  SysFreeString(text);
  return result;
}

TEST(CreatedErrorInfo, GivesBackWhatWasSet) {
  ComPtr<ICreateErrorInfo> writer;
  ASSERT_EQ(CreateErrorInfo(writer.GetAddressOf()), S_OK);
  std::wstring source = L"my processor", description = L"the lens is dirty \u00e9", file = L"help.chm";
  EXPECT_EQ(writer->SetGUID(__uuidof(IErrorInfo)), S_OK);
  EXPECT_EQ(writer->SetSource(source.data()), S_OK);
  EXPECT_EQ(writer->SetDescription(description.data()), S_OK);
  EXPECT_EQ(writer->SetHelpFile(file.data()), S_OK);
  EXPECT_EQ(writer->SetHelpContext(7), S_OK);

  ComPtr<IErrorInfo> reader;
  ASSERT_EQ(writer.As(&reader), S_OK);
  GUID guid = {};
  BSTR text = nullptr;
  DWORD context = 0;
  EXPECT_EQ(reader->GetGUID(&guid), S_OK);
  EXPECT_EQ(guid, __uuidof(IErrorInfo));
  ASSERT_EQ(reader->GetSource(&text), S_OK);
  EXPECT_EQ(Text(text), "my processor");
  ASSERT_EQ(reader->GetDescription(&text), S_OK);
  EXPECT_EQ(Text(text), "the lens is dirty \xc3\xa9");
  ASSERT_EQ(reader->GetHelpFile(&text), S_OK);
  EXPECT_EQ(Text(text), "help.chm");
  EXPECT_EQ(reader->GetHelpContext(&context), S_OK);
  EXPECT_EQ(context, 7u);
}

TEST(CreatedErrorInfo, BecomesTheErrorOfTheThread) {
  ComPtr<ICreateErrorInfo> writer;
  ASSERT_EQ(CreateErrorInfo(writer.GetAddressOf()), S_OK);
  std::wstring description = L"out of film";
  ASSERT_EQ(writer->SetDescription(description.data()), S_OK);
  ComPtr<IErrorInfo> error;
  ASSERT_EQ(writer.As(&error), S_OK);
  ASSERT_EQ(SetErrorInfo(0, error.Get()), S_OK);
  EXPECT_EQ(openwinml::LastErrorMessage(), "out of film");
}

TEST(CreatedErrorInfo, IsEmptyAtFirstAndTakesNullAsEmpty) {
  ComPtr<ICreateErrorInfo> writer;
  ASSERT_EQ(CreateErrorInfo(writer.GetAddressOf()), S_OK);
  EXPECT_EQ(writer->SetDescription(nullptr), S_OK);
  ComPtr<IErrorInfo> reader;
  ASSERT_EQ(writer.As(&reader), S_OK);
  BSTR text = nullptr;
  EXPECT_EQ(reader->GetDescription(&text), S_OK);
  EXPECT_EQ(Text(text), "");
  EXPECT_EQ(reader->GetSource(&text), S_OK);
  EXPECT_EQ(Text(text), "");
}

TEST(CreatedErrorInfo, NullPointersAreRefused) {
  EXPECT_EQ(CreateErrorInfo(nullptr), E_POINTER);
  ComPtr<ICreateErrorInfo> writer;
  ASSERT_EQ(CreateErrorInfo(writer.GetAddressOf()), S_OK);
  ComPtr<IErrorInfo> reader;
  ASSERT_EQ(writer.As(&reader), S_OK);
  EXPECT_EQ(reader->GetGUID(nullptr), E_POINTER);
  EXPECT_EQ(reader->GetSource(nullptr), E_POINTER);
  EXPECT_EQ(reader->GetDescription(nullptr), E_POINTER);
  EXPECT_EQ(reader->GetHelpFile(nullptr), E_POINTER);
  EXPECT_EQ(reader->GetHelpContext(nullptr), E_POINTER);
}

}  // namespace
}  // namespace owml::test
