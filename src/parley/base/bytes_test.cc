#include "parley/base/bytes.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>
#include <vector>

namespace parley {
namespace bytes_test {

std::string sha256_hex(std::string_view text) { return to_hex(sha256(as_bytes(text))); }

TEST(Sha256, GivesThePublishedDigests) {  // FIPS 180-2, appendix B, and the empty message.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hex, EveryByteSurvivesTheRoundTripInEitherCase) {
  Bytes all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<uint8_t>(byte));
  std::string hex = to_hex(all);
  EXPECT_EQ(*from_hex(hex), all);
  for (char& c : hex) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(*from_hex(hex), all);
  EXPECT_TRUE(from_hex("")->empty());
}

TEST(Hex, AnythingElseIsRefused) {
  for (const char* wrong : {"0", "0g", "g0", " 00", "0x00", "00 ", "é0"})
    EXPECT_FALSE(from_hex(wrong)) << wrong;
  EXPECT_TRUE(hash_from_hex(std::string(64, 'a')));
  EXPECT_FALSE(hash_from_hex(std::string(62, 'a')));
  EXPECT_FALSE(hash_from_hex(std::string(66, 'a')));
  EXPECT_FALSE(hash_from_hex(std::string(64, 'z')));
}

std::vector<std::string> fields_of(ByteView bytes) {
  std::vector<std::string> fields;
  while (!bytes.empty()) {
    const size_t length = read_little_endian(bytes.data());
    fields.emplace_back(bytes.begin() + 8, bytes.begin() + 8 + length);
    bytes = bytes.subspan(8 + length);
  }
  return fields;
}

void for_each_tuple(size_t fields_max, const std::vector<std::string>& so_far, auto&& visit) {
  visit(so_far);
  if (so_far.size() == fields_max) return;
  const std::string zero(1, '\0'), length(8, '\1');
  for (const std::string& field : {std::string(), zero, std::string("a"), zero + "a", length}) {
    auto longer = so_far;
    longer.push_back(field);
    for_each_tuple(fields_max, longer, visit);
  }
}

TEST(TupleBytes, DifferentTuplesGiveDifferentBytes) {
  std::set<Bytes> seen;
  size_t tuples = 0;
  for_each_tuple(4, {}, [&](const std::vector<std::string>& tuple) {
    TupleBytes bytes;
    for (const std::string& field : tuple) bytes.add(field);
    EXPECT_EQ(fields_of(bytes.bytes()), tuple);  // What can be read back cannot collide.
    seen.insert(bytes.bytes());
    ++tuples;
  });
  EXPECT_EQ(tuples, 1u + 5 + 25 + 125 + 625);
  EXPECT_EQ(seen.size(), tuples);
}

TEST(TupleBytes, NumbersAreEightLittleEndianBytes) {
  const Bytes number = TupleBytes().add(uint64_t{0x0102030405060708}).bytes();
  EXPECT_EQ(to_hex(number), "08000000000000000807060504030201");
  EXPECT_EQ(to_hex(TupleBytes().add(1.0).bytes()), "0800000000000000000000000000f03f");
  EXPECT_NE(TupleBytes().add(0.0).bytes(), TupleBytes().add(-0.0).bytes());
  EXPECT_EQ(TupleBytes().add("abc").sha256(), sha256(TupleBytes().add("abc").bytes()));
}

TEST(LittleEndian, RoundTrip) {
  for (uint64_t word : {uint64_t{0}, uint64_t{1}, uint64_t{0x8000000000000000}, ~uint64_t{0}}) {
    Bytes bytes;
    append_little_endian(bytes, word);
    ASSERT_EQ(bytes.size(), 8u);
    EXPECT_EQ(read_little_endian(bytes.data()), word);
  }
}

}  // namespace bytes_test
}  // namespace parley
