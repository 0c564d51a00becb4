// SHA-256 against the examples that NIST publishes with the standard.
#include "base/sha256.h"

#include <gtest/gtest.h>

namespace owml {
namespace {

TEST(Sha256Test, PublishedExamples) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesGiveTheDigestOfTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 whole, pieces;
    whole.Add(text);
    pieces.Add(std::string_view(text).substr(0, cut));
    pieces.Add(std::string_view(text).substr(cut));
    ASSERT_EQ(pieces.Finish(), whole.Finish()) << cut;
  }
}

}  // namespace
}  // namespace owml
