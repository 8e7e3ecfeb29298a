#include "parley/privacy/uint256.h"

#include <gtest/gtest.h>

#include "support/entropy.h"

namespace parley::privacy {
namespace uint256_test {

constexpr Uint128 kMax = ~Uint128{0};

/// A number of 1 to `words` words, each often 0, 1 or all ones, where carries go wrong.
Uint256 number(Entropy& entropy, uint64_t words) {
  Uint256 result;
  for (size_t i = 0; i <= entropy.word() % words; ++i) {
    const uint64_t kind = entropy.word() % 5, any = entropy.word();
    result.word[i] = kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? ~uint64_t{0} : any;
  }
  return result;
}

Uint256 remainder_of(const Uint256& v, const Uint256& n) {
  check(v.words() <= n.words() && n.words() >= 2);
  const std::array by_words = {remainder<2>, remainder<3>, remainder<4>};
  return by_words[size_t(n.words()) - 2](v, n);
}

TEST(Uint256, OrdersByTheHighestWordFirst) {
  Uint256 high;
  high.word = {0, 0, 0, 1};
  EXPECT_TRUE(is_less(Uint256(kMax), high));
  EXPECT_FALSE(is_less(high, Uint256(kMax)));
  EXPECT_TRUE(is_less(Uint256(3), Uint256(4)));
  EXPECT_FALSE(is_less(Uint256(3), Uint256(3)));
  EXPECT_EQ(Uint256(3), Uint256(3));
  EXPECT_EQ(high.words(), 4);
  EXPECT_EQ(Uint256(0).words(), 1);
}

// (2^128 - 1)^2 = 2^256 - 2^129 + 1.
TEST(Uint256, TheLargestProductIsWhole) {
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(full_product(kMax, kMax).word, (std::array<uint64_t, 4>{1, 0, ones - 1, ones}));
}

TEST(Uint256, EndsRatherThanWraps) {
  const Uint256 large = full_product(kMax, kMax);
  EXPECT_DEATH(large * 2, "check failed");
  EXPECT_DEATH(large + large, "check failed");
  EXPECT_DEATH(Uint256(1) - Uint256(2), "check failed");
}

TEST(Uint256, RemaindersOfTwoWordsAreThoseOf128Bits) {
  test::SeededEntropy entropy(3, "two words");
  for (int i = 0; i < 200'000; ++i) {
    const Uint256 n = number(entropy, 2) + Uint256(1), v = number(entropy, 2);
    if (v.words() > n.words() || n.words() != 2) continue;
    ASSERT_TRUE(remainder(v.low(), n.low()) == v.low() % n.low());
    ASSERT_EQ(remainder_of(v, n), Uint256(v.low() % n.low()));
  }
}

// v = q n + r is put together, so that q and r are known; r = n - 1 and large q try every
// correction of the guessed quotient.
TEST(Uint256, RemaindersOfWideNumbersUndoMultiplication) {
  test::SeededEntropy entropy(3, "wide");
  int tried = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const Uint256 n = number(entropy, 4);
    const uint64_t any = entropy.word(), room = n.word[size_t(n.words()) - 1];
    if (n.words() < 2 || room == ~uint64_t{0}) continue;
    const uint64_t q = any % (~uint64_t{0} / (room + 1) + 1);
    const Uint256 r = any & 1 ? n - Uint256(1) : Uint256(n.low() / 3);
    if (!is_less(r, n)) continue;
    Uint256 v = Uint256(r);
    const Uint256 multiple = n * q;
    if (add_carries(v, multiple) || v.words() > n.words()) continue;
    ASSERT_EQ(remainder_of(v, n), r);
    ++tried;
  }
  EXPECT_GT(tried, 100'000);
}

// Leading words may not tell, but must not lie, least of all about neighbours of the remainder.
TEST(Uint256, LeadingWordsNeverTellTheWrongOrder) {
  test::SeededEntropy entropy(3, "order");
  int told = 0, silent = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const Uint256 n = number(entropy, 4), v = number(entropy, 4);
    if (n.words() < 3 || v.words() > n.words()) continue;
    const Uint256 r = remainder_of(v, n);
    Uint256 next = r;
    check(!add_carries(next, Uint256(1)));
    for (const Uint256& a : {number(entropy, uint64_t(n.words())), r, next, n}) {
      if (is_less(n, a)) continue;
      const auto less =
          n.words() == 3 ? is_remainder_less<3>(v, n, a) : is_remainder_less<4>(v, n, a);
      ASSERT_EQ(less.value_or(is_less(r, a)), is_less(r, a));
      ++(less ? told : silent);
    }
  }
  EXPECT_GT(told, 100'000);
  EXPECT_GT(silent, 100'000);
}

}  // namespace uint256_test
}  // namespace parley::privacy
