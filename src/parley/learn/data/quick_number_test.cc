#include "parley/learn/data/quick_number.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>

namespace parley::learn {
namespace {

void expect_same(const std::string& text) {
  auto expected = parse_number(text);
  if (expected && !std::isfinite(*expected)) expected.reset();
  const auto quick = quick_number(text);
  ASSERT_EQ(quick.has_value(), expected.has_value()) << "'" << text << "'";
  if (quick) {
    ASSERT_EQ(std::bit_cast<uint64_t>(*quick), std::bit_cast<uint64_t>(*expected)) << text;
  }
}

TEST(QuickNumber, IsParseNumberBitForBit) {
  for (const char* text : {"",
                           "-",
                           ".",
                           "-.",
                           "+",
                           "+1",
                           "-0",
                           "0",
                           "00",
                           ".5",
                           "5.",
                           "-5.",
                           "1.2.3",
                           "1e5",
                           "1e+5",
                           "1E-7",
                           "inf",
                           "nan",
                           "1e999",
                           " 1",
                           "1 ",
                           "--1",
                           "+-1",
                           "999999999999999",
                           "9999999999999999",
                           "0.000000000000001",
                           "123456789012345.",
                           ".123456789012345",
                           "0.1234567890123456",
                           "1,5"})
    expect_same(text);
  std::mt19937_64 random(1);
  for (int run = 0; run < 300'000; ++run) {
    std::string text = random() % 3 == 0 ? "-" : "";
    for (size_t digits = random() % 19; digits > 0; --digits) text += char('0' + random() % 10);
    if (random() % 2) text.insert(random() % (text.size() + 1), ".");
    if (random() % 50 == 0) text.insert(random() % (text.size() + 1), 1, "eE+-. ,x"[random() % 8]);
    expect_same(text);
  }
}

}  // namespace
}  // namespace parley::learn
