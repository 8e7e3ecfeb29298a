#include "parley/data/readers/quick_number.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace parley::data {
namespace quick_number_test {

/// Bits of the finite number that std::from_chars makes of all of `text`, perhaps after a '+'.
std::optional<uint64_t> expected_bits(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(std::bit_cast<uint64_t>(value))
                                       : std::nullopt;
}

/// On the heap without a terminator, so that a sanitizer sees a look past its end.
bool is_same(const std::string& text) {
  const std::vector<char> exact(text.begin(), text.end());
  const double quick = quick_number({exact.data(), exact.size()});
  const auto found =
      is_number(quick) ? std::optional(std::bit_cast<uint64_t>(quick)) : std::nullopt;
  return found == expected_bits(text);
}

TEST(QuickNumber, IsFromCharsBitForBit) {
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
                           "1,5",
                           "/",
                           ":",
                           "1/2",
                           "12345678",
                           "1234567.",
                           "123456789",
                           "\x80",
                           "1\xff",
                           "\xae"
                           "1",
                           "-1234567890123456",
                           "-.123456789012345"})
    EXPECT_TRUE(is_same(text)) << "'" << text << "'";
  std::mt19937_64 random(1);
  for (int run = 0; run < 3'000'000; ++run) {
    std::string text = random() % 3 == 0 ? "-" : "";
    for (size_t digits = random() % 19; digits > 0; --digits) text += char('0' + random() % 10);
    if (random() % 2) text.insert(random() % (text.size() + 1), ".");
    if (random() % 50 == 0) text.insert(random() % (text.size() + 1), 1, "eE+-. ,x"[random() % 8]);
    if (random() % 50 == 0 && !text.empty()) text[random() % text.size()] = char(random());
    ASSERT_TRUE(is_same(text)) << "'" << text << "'";
  }
}

}  // namespace quick_number_test
}  // namespace parley::data
