#include "parley/protocol/vertical/pair/rounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/protocol/vertical/gradients.h"
#include "parley/protocol/vertical/pads.h"
#include "support/passed_owners.h"

namespace parley::protocol {
namespace rounds_test {

using pair_test::kFewRecords, pair_test::Owners, pair_test::steps;

uint64_t word_at(const Bytes& letter, size_t j) {
  uint64_t word = 0;
  for (size_t i = 0; i < 7; ++i) word |= uint64_t{letter[7 * j + i]} << 8 * i;
  return word;
}

/// The squares of what all owners add have the mean of the plan: M variances. Over 30 rounds of 3
/// and more numbers at each owner their sum is within 75 % of it but for a probability below 1e-6
/// (at least 90 squares of normal numbers).
void expect_noise_of_all(const std::string& text) {
  const Owners owners(text);
  for (size_t m = 0; m < owners.gates.size(); ++m) {
    double squares = 0, count = 0;
    for (uint32_t round = 1; round <= owners.terms.rounds; ++round) {
      const Opened opened = owners.gradient(m, round);
      EXPECT_EQ(opened, owners.gradient(m, round)) << "never drawn again";
      const auto exact = owners.exact(m, round);
      ASSERT_EQ(opened.size(), exact.size());
      for (size_t j = 0; j < exact.size(); ++j, ++count)
        squares += std::pow(double(opened[j] - exact[j]), 2) / owners.terms.noise.variance();
    }
    EXPECT_GE(count, 90);
    EXPECT_NEAR(squares / count, double(owners.gates.size()), .75 * double(owners.gates.size()));
  }
}

TEST(Rounds, EveryGradientIsExactButForNoiseOfAllOwners) {
  expect_noise_of_all(test::cells_charter(1, kFewRecords, steps(30)));
  expect_noise_of_all(test::three_cells_charter(1, kFewRecords, steps(30)));
}

/// Of a label that is a number, and where there is next to no noise, the numbers themselves.
TEST(Rounds, WithNextToNoNoiseGradientsAreThoseOfOnePlace) {
  for (const std::string target : {"levels = [\"low\", \"high\"]", "bounds = [-1, 1]"}) {
    const Owners owners(test::cells_charter(10000, kFewRecords, steps(2), target));
    for (size_t m = 0; m < 2; ++m)
      for (uint32_t round = 1; round <= 2; ++round) {
        const Opened opened = owners.gradient(m, round);
        const auto exact = owners.exact(m, round);
        // 8 of 1.4 deviations: less often than 1e-13 for each of 16 numbers.
        for (size_t j = 0; j < exact.size(); ++j)
          EXPECT_NEAR(double(opened[j]), double(exact[j]), 12 * owners.terms.noise.scale());
      }
  }
}

/// What all other owners together can take off an owner's letter 3: what it is masked with, and the
/// exact product. What is left is its noise.
double noise_of(const Owners& owners, size_t from, size_t block, uint32_t round, size_t j,
                const Rounds::Heard& heard) {
  uint64_t word = word_at(heard.letter3, j) - heard.off[j];
  for (size_t third = 0; third < owners.gates.size(); ++third) {
    if (third == from || third == block) continue;
    const auto mask =
        stream_of(derived(owners.masks.at({std::min(from, third), std::max(from, third)}),
                          TupleBytes().add("mask").add(uint64_t{round}).add(uint64_t{block})),
                  owners.terms.columns[block]);
    word -= from < third ? mask[j] : -mask[j];
  }
  return double(ot::signed_number((word - uint64_t(owners.part(block, from, round)[j])) &
                                  ((uint64_t{1} << 56) - 1)));
}

/// All others together, who take off what they know, still miss all noise that an owner is charged
/// for, in every gradient; and an owner's own numbers have its noise too. Over 60 rounds of 3 and
/// more numbers each sum of squares is within 55 % of its mean but for a probability below 1e-6 (at
/// least 180 squares of normal numbers).
void expect_noise_of_each(const std::string& text) {
  const Owners owners(text);
  const size_t parties = owners.gates.size();
  std::vector<std::vector<double>> squares(parties, std::vector<double>(parties));
  for (size_t block = 0; block < parties; ++block) {
    for (uint32_t round = 1; round <= 60; ++round) {
      const auto heard = owners.heard(block, round);
      const Opened all = *owners.rounds[block].gradient(*owners.gates[block], round,
                                                        owners.n(block, round), heard);
      for (size_t j = 0; j < all.size(); ++j) {
        double own = double(all[j] - owners.exact(block, round)[j]);
        for (const auto& [from, letter] : heard) {
          const double noise = noise_of(owners, from, block, round, j, letter);
          squares[block][from] += noise * noise;
          own -= noise;
        }
        squares[block][block] += own * own;
      }
    }
    for (size_t from = 0; from < parties; ++from)
      EXPECT_NEAR(squares[block][from] / owners.terms.noise.variance() /
                      double(60 * owners.terms.columns[block]),
                  1, .55)
          << from << " in the gradient of " << block;
  }
}

TEST(Rounds, EachOwnersNoiseAloneIsInEveryGradient) {
  expect_noise_of_each(test::cells_charter(1, kFewRecords, steps(60)));
  expect_noise_of_each(test::three_cells_charter(1, kFewRecords, steps(60)));
}

/// Among three an owner sees the sum of what the two others send, and neither part of it.
TEST(Rounds, LettersOfThreeAreMaskedUntilTheyAreAddedUp) {
  const Owners owners(test::three_cells_charter(10000, kFewRecords, steps(1)));
  const auto heard = owners.heard(0, 1);
  for (const auto& [from, letter] : heard) {
    size_t near = 0;
    for (size_t j = 0; j < owners.terms.columns[0]; ++j) {
      const uint64_t word = word_at(letter.letter3, j) - letter.off[j];
      near += std::abs(double(ot::signed_number(word & ((uint64_t{1} << 56) - 1)))) < 0x1p40;
    }
    EXPECT_EQ(near, 0u) << "less often than 5 * 2^-15: a mask is uniform over 2^56";
  }
}

// What is refused.

TEST(Rounds, LettersOfAnotherLengthAreRefused) {
  const Owners owners(test::cells_charter(1, kFewRecords, steps(1)));
  const auto& [a, b] = std::pair(std::cref(owners.rounds[0]), std::cref(owners.rounds[1]));
  const auto n = owners.n(1, 1);
  Bytes bits = b.get().bits(*owners.gates[1], 0, 1, n);
  const Bytes words = a.get().words(*owners.gates[0], 1, 1, bits)->letter;
  for (const int change : {-1, 1}) {
    Bytes other = bits;
    other.resize(size_t(int(bits.size()) + change));
    EXPECT_FALSE(a.get().words(*owners.gates[0], 1, 1, other));
    Bytes more = words;
    more.resize(size_t(int(words.size()) + change));
    EXPECT_FALSE(b.get().sum(*owners.gates[1], 0, 1, n, more));
    auto heard = owners.heard(0, 1);
    heard.at(1).letter3.resize(size_t(int(heard.at(1).letter3.size()) + change));
    EXPECT_FALSE(a.get().gradient(*owners.gates[0], 1, owners.n(0, 1), heard));
  }
  if (3 * 6 % 8 != 0) {
    bits.back() |= 0x80;  // 18 bits: six of the last byte say nothing
    EXPECT_FALSE(a.get().words(*owners.gates[0], 1, 1, bits));
  }
}

/// A sender has no number but bits: coefficients outside the box cannot be said. What it adds to
/// the sum moves that by the same for every record.
TEST(Rounds, AnotherLetterForAPlaceThatIsKnownIsNoticed) {
  Owners owners(test::cells_charter(1, kFewRecords, steps(3)));
  Rounds& own = owners.rounds[0];
  const Bytes one{1, 2, 3}, other{1, 2, 4};
  EXPECT_TRUE(own.hear(1, 1, 1, one));
  EXPECT_TRUE(own.hear(1, 1, 1, one));
  EXPECT_FALSE(own.hear(1, 1, 1, other));
  EXPECT_TRUE(own.hear(1, 1, 2, other)) << "another place";
  const auto again = Rounds::from_state(own.state());
  ASSERT_TRUE(again);
  EXPECT_FALSE(Rounds(*Rounds::from_state(own.state())).hear(1, 1, 1, other));
  EXPECT_EQ(again->state(), own.state());
}

// On disk.

TEST(Rounds, OnDiskAreTheRoundsToComeAndTheLastOne) {
  Owners owners(test::cells_charter(1, kFewRecords, steps(4)));
  Rounds& own = owners.rounds[0];
  const auto pool = own.sealed_pool(1, Hash{5});
  ASSERT_EQ(pool.size(), 4u);
  const Bytes first = own.state();
  std::vector<Opened> opened;
  for (uint32_t round = 1; round <= 2; ++round) {
    own.note_paid(round, Hash{uint8_t(round)});
    own.conclude(opened.emplace_back(owners.gradient(0, round)));
  }
  auto again = Rounds::from_state(own.state());
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->unseal_pool(1, pool, Hash{5}, owners.terms));
  EXPECT_EQ(again->opened(), opened);
  EXPECT_EQ(again->paid().size(), 2u);
  for (uint32_t round = 2; round <= 4; ++round)
    EXPECT_EQ(again->bits(*owners.gates[0], 1, round, owners.n(0, round)),
              own.bits(*owners.gates[0], 1, round, owners.n(0, round)));
  // Strings of round 1 are gone: with the state of today nobody can open them.
  auto late = Rounds::from_state(own.state());
  std::vector<Bytes> turned(pool.rbegin(), pool.rend());
  EXPECT_FALSE(late->unseal_pool(1, turned, Hash{5}, owners.terms));
  std::vector<Bytes> moved{pool[0], pool[0], pool[2], pool[3]};
  EXPECT_FALSE(late->unseal_pool(1, moved, Hash{5}, owners.terms));
  auto early = Rounds::from_state(first);
  EXPECT_TRUE(early->unseal_pool(1, pool, Hash{5}, owners.terms));
  EXPECT_FALSE(Rounds::from_state(first)->unseal_pool(1, pool, Hash{6}, owners.terms));
}

TEST(Rounds, AStateThatIsCutIsNone) {
  Owners owners(test::cells_charter(1, kFewRecords, steps(2)));
  Rounds& own = owners.rounds[0];
  own.note_paid(1, Hash{1});
  own.hear(1, 1, 1, Bytes{1});
  own.conclude(owners.gradient(0, 1));
  const Bytes state = own.state();
  for (size_t size = 0; size < state.size(); ++size)
    EXPECT_FALSE(Rounds::from_state(ByteView(state).first(size))) << size;
}

}  // namespace rounds_test
}  // namespace parley::protocol
