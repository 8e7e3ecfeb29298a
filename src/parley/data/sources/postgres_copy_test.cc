#include "parley/data/sources/postgres_copy.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

namespace parley::data {
namespace postgres_copy_test {

std::string big_endian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string numeric(int16_t weight, uint16_t sign, int16_t scale, std::vector<uint16_t> digits) {
  std::string bytes = big_endian(digits.size(), 2) + big_endian(uint16_t(weight), 2) +
                      big_endian(sign, 2) + big_endian(uint16_t(scale), 2);
  for (uint16_t digit : digits) bytes += big_endian(digit, 2);
  return bytes;
}

TEST(PostgresCopy, WritesNumericsAsTheServerDoes) {
  EXPECT_EQ(numeric_text(numeric(1, 0, 2, {10, 8429, 4200})), "108429.42");
  EXPECT_EQ(numeric_text(numeric(0, 0x4000, 0, {7})), "-7");
  EXPECT_EQ(numeric_text(numeric(0, 0, 0, {})), "0");
  EXPECT_EQ(numeric_text(numeric(0, 0, 3, {})), "0.000");
  EXPECT_EQ(numeric_text(numeric(-1, 0, 4, {25})), "0.0025");
  EXPECT_EQ(numeric_text(numeric(-3, 0, 12, {1})), "0.000000000001");
  EXPECT_EQ(numeric_text(numeric(2, 0, 0, {1})), "100000000");
  EXPECT_EQ(numeric_text(numeric(0, 0, 1, {3, 5000})), "3.5");
  EXPECT_EQ(numeric_text(numeric(0, 0xC000, 0, {})), "NaN");
  EXPECT_EQ(numeric_text(numeric(0, 0xD000, 0, {})), "Infinity");
  EXPECT_EQ(numeric_text("short"), std::nullopt);
  EXPECT_EQ(numeric_text(numeric(0, 0, 0, {1}) + "x"), std::nullopt);
}

TEST(PostgresCopy, ReadsValuesOfEveryType) {
  std::string scratch;
  const auto text = [&](PgType type, const std::string& bytes) -> std::string {
    const auto cell = cell_of(type, bytes, scratch);
    if (!cell) return "?";
    std::string buffer;
    return std::string(text_of(*cell, buffer));
  };
  EXPECT_EQ(text(PgType::kBool, "\x01"), "t");
  EXPECT_EQ(text(PgType::kBool, std::string(1, '\0')), "f");
  EXPECT_EQ(text(PgType::kInt2, big_endian(uint16_t(-5), 2)), "-5");
  EXPECT_EQ(text(PgType::kInt4, big_endian(uint32_t(-70000), 4)), "-70000");
  EXPECT_EQ(text(PgType::kInt8, big_endian(uint64_t((1ll << 53) + 1), 8)), "9007199254740993");
  EXPECT_EQ(text(PgType::kFloat4, big_endian(std::bit_cast<uint32_t>(0.1f), 4)), "0.1");
  EXPECT_EQ(text(PgType::kFloat8, big_endian(std::bit_cast<uint64_t>(1e6), 8)), "1000000");
  EXPECT_EQ(text(PgType::kFloat8, big_endian(std::bit_cast<uint64_t>(1e15), 8)), "1e+15");
  EXPECT_EQ(text(PgType::kVarchar, " RENT "), "RENT");
  EXPECT_EQ(text(PgType::kInt4, "12"), "?");
  EXPECT_EQ(text(PgType::kFloat8, ""), "?");
  EXPECT_FALSE(is_readable(1082)) << "a date is cast in the query";
}

TEST(PostgresCopy, SplitsRowsAndRefusesDamagedOnes) {
  const std::string header = std::string("PGCOPY\n\xFF\r\n\0", 11) + big_endian(0, 8);
  const std::string row = big_endian(2, 2) + big_endian(3, 4) + "abc" + big_endian(~0u, 4);
  CopyRows rows(2);
  const std::string message = header + row;  // The fields point into it.
  const auto first = rows.take(message);
  ASSERT_TRUE(first);
  EXPECT_TRUE(*first);
  EXPECT_EQ(rows.fields()[0], "abc");
  EXPECT_EQ(rows.fields()[1], std::nullopt);
  const auto end = rows.take(big_endian(0xFFFF, 2));
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  EXPECT_FALSE(CopyRows(2).take("text\n"));
  EXPECT_FALSE(CopyRows(3).take(header + row)) << "another number of fields";
  for (size_t size = header.size() + 1; size < header.size() + row.size(); ++size)
    EXPECT_FALSE(CopyRows(2).take((header + row).substr(0, size))) << size;
  std::mt19937_64 random(1);
  for (int run = 0; run < 20'000; ++run) {  // Whatever a server sends, nothing crashes.
    std::string damaged = header + row;
    for (size_t edits = 1 + random() % 4; edits > 0; --edits)
      damaged[header.size() + random() % row.size()] = static_cast<char>(random());
    CopyRows any(2);
    const auto taken = any.take(damaged);
    EXPECT_TRUE(!taken || any.fields().size() == 2);
  }
}

}  // namespace postgres_copy_test
}  // namespace parley::data
