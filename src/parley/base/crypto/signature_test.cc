#include "parley/base/crypto/signature.h"

#include <gtest/gtest.h>

namespace parley {
namespace signature_test {

template <size_t N>
std::array<uint8_t, N> array_of(std::string_view hex) {
  const Bytes bytes = *from_hex(hex);
  check(bytes.size() == N);
  std::array<uint8_t, N> array;
  std::copy(bytes.begin(), bytes.end(), array.begin());
  return array;
}

TEST(Signature, AcceptsThePublishedVector) {  // RFC 8032, 7.1, test 3.
  const SignKey key{
      array_of<32>("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")};
  const auto signature = array_of<64>(
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
      "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a");
  EXPECT_TRUE(is_signed(key, *from_hex("af82"), signature));
}

TEST(Signature, HoldsForItsKeyAndItsBytesOnly) {
  const SigningKey key = SigningKey::make(), other = SigningKey::make();
  const Signature signature = key.sign(as_bytes("one"));
  EXPECT_TRUE(is_signed(key.public_key(), as_bytes("one"), signature));
  EXPECT_FALSE(is_signed(key.public_key(), as_bytes("two"), signature));
  EXPECT_FALSE(is_signed(other.public_key(), as_bytes("one"), signature));
  for (size_t bit = 0; bit < 512; ++bit) {
    Signature bent = signature;
    bent[bit / 8] = static_cast<uint8_t>(bent[bit / 8] ^ 1U << bit % 8);
    EXPECT_FALSE(is_signed(key.public_key(), as_bytes("one"), bent)) << bit;
  }
}

TEST(Signature, TheSameBytesGetTheSameSignature) {
  const SigningKey key = SigningKey::make();
  EXPECT_EQ(key.sign(as_bytes("one")), key.sign(as_bytes("one")));
}

TEST(SigningKey, SurvivesItsFile) {
  const SigningKey key = SigningKey::make();
  const auto again = SigningKey::from_pem(key.pem());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->public_key(), key.public_key());
  EXPECT_NE(SigningKey::make().public_key(), key.public_key());
}

TEST(SigningKey, OtherFilesAreRefusedWithAHint) {
  for (const char* text : {"", "rubbish", "-----BEGIN PRIVATE KEY-----\nAAAA\n"}) {
    const auto key = SigningKey::from_pem(text);
    ASSERT_FALSE(key);
    EXPECT_NE(key.error().hint.find("parley join"), std::string::npos);
  }
}

TEST(SignKey, HasOneText) {
  const SignKey key = SigningKey::make().public_key();
  EXPECT_EQ(sign_key_from(to_text(key)), key);
  EXPECT_EQ(sign_key_from("ed25519:"), std::nullopt);
  EXPECT_EQ(sign_key_from(to_text(key).substr(8)), std::nullopt);
}

}  // namespace signature_test
}  // namespace parley
