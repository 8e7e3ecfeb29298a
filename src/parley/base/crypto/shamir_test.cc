#include "parley/base/crypto/shamir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "parley/base/bytes.h"
#include "support/entropy.h"
#include "support/words.h"

namespace parley {
namespace shamir_test {

Secret32 counting() {
  Secret32 secret;
  std::iota(secret.begin(), secret.end(), uint8_t{0});
  return secret;
}

TEST(Shamir, Golden) {
  test::GoldenWords words;
  const auto shares = share_secret(counting(), 3, 5, words);
  EXPECT_EQ(to_hex(shares[0].y).substr(0, 16), "12dfe5997fa03cc6");
  EXPECT_EQ(to_hex(shares[4].y).substr(0, 16), "70003d84f8c35e2b");
}

TEST(Shamir, EveryThresholdOfSharesGivesTheSecret) {
  test::SeededEntropy entropy(1, "shamir");
  for (const size_t threshold : {size_t{1}, size_t{2}, size_t{3}, size_t{5}}) {
    auto shares = share_secret(counting(), threshold, 5, entropy);
    std::sort(shares.begin(), shares.end(), [](auto& a, auto& b) { return a.x < b.x; });
    do {
      EXPECT_EQ(*join_shares(shares, threshold), counting());
    } while (std::next_permutation(shares.begin(), shares.end(),
                                   [](auto& a, auto& b) { return a.x < b.x; }));
  }
  const auto many = share_secret(counting(), 170, 255, entropy);
  EXPECT_EQ(*join_shares(std::span(many).last(170), 170), counting());
}

/// One share fewer fits every secret: each guess is completed by exactly one further share.
TEST(Shamir, OneShareFewerSaysNothing) {
  test::SeededEntropy entropy(2, "shamir");
  const auto shares = share_secret(counting(), 2, 2, entropy);
  std::vector<bool> seen(256);
  for (int guess = 0; guess < 256; ++guess) {
    SecretShare other{2, {}};
    other.y.fill(static_cast<uint8_t>(guess));
    seen[(*join_shares(std::vector{shares[0], other}, 2))[0]] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 256);
}

TEST(Shamir, SharesMustBeEnoughAndDifferent) {
  test::SeededEntropy entropy(3, "shamir");
  const auto shares = share_secret(counting(), 3, 4, entropy);
  EXPECT_EQ(join_shares(std::span(shares).first(2), 3).error().code, Code::kUnavailable);
  EXPECT_EQ(join_shares(std::vector{shares[0], shares[1], shares[0]}, 3).error().code,
            Code::kIntegrity);
  EXPECT_EQ(join_shares(std::vector{shares[0], shares[1], SecretShare{}}, 3).error().code,
            Code::kIntegrity);
}

}  // namespace shamir_test
}  // namespace parley
