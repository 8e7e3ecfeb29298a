#include "parley/protocol/vertical/pair/rounds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/audit/audit.h"
#include "parley/plan/budget.h"
#include "parley/protocol/vertical/gradients.h"
#include "parley/protocol/vertical/pads.h"
#include "parley/protocol/vertical/pair/files.h"
#include "support/cells_charter.h"
#include "support/ledgers.h"
#include "support/memory_ledger.h"
#include "support/to_mask.h"

namespace parley::protocol {
namespace rounds_test {

constexpr size_t kRecords = 40;

std::string steps(uint32_t rounds) {
  return "rule = \"gradients\"\nrounds = " + std::to_string(rounds) +
         "\nstep = 1.0\nmodel_bits = 6\n";
}

/// Owners whose pairs have passed, with no post between them.
struct Owners {
  charter::Charter charter;
  plan::VerticalTerms terms;
  std::vector<std::unique_ptr<test::StoppedClock>> clocks{};
  std::vector<std::unique_ptr<ledger::Ledger>> ledgers{};
  std::vector<std::unique_ptr<gate::ColumnsGate>> gates{}, quiet{};  // next to no noise
  std::vector<Rounds> rounds{};
  std::map<std::pair<size_t, size_t>, Secret32> masks{};

  std::vector<std::shared_ptr<const data::Rows>> data{};

  explicit Owners(const std::string& text)
      : Owners(text, [](size_t m) { return test::cells_rows(m, kRecords); }) {}
  template <class RowsOf>
  Owners(const std::string& text, const RowsOf& rows_of)
      : charter(*charter::parse_charter(text, "cells.toml", {})),
        terms(*plan::vertical_terms(charter)) {
    test::SeededEntropy entropy(1, "owners");
    for (size_t m = 0; m < terms.cells.size(); ++m) {
      data.push_back(rows_of(m));
      clocks.push_back(std::make_unique<test::StoppedClock>());
      ledgers.push_back(std::make_unique<ledger::Ledger>(
          test::memory_ledger(charter.owners[m].name, *clocks[m])));
      const auto dataset =
          *ledgers[m]->declare("data", *privacy::Budget::make(privacy::Epsilon{2e4}, 1e-5, 0));
      gates.push_back(gate(m, dataset, terms.noise));
      quiet.push_back(gate(m, dataset, *privacy::Gaussian::make(16)));
      rounds.emplace_back(draw_secret(entropy), draw_secret(entropy));
    }
    for (size_t a = 0; a < gates.size(); ++a)
      for (size_t b = a + 1; b < gates.size(); ++b) pass(a, b, entropy);
  }

  std::unique_ptr<gate::ColumnsGate> gate(size_t m, ledger::DatasetId dataset,
                                          const privacy::Gaussian& noise) {
    plan::VerticalTerms own = terms;
    own.noise = noise;
    if (noise.variance() < terms.noise.variance()) own.sensitivity = 1;  // Nothing is paid here.
    auto gate = gate::ColumnsGate::open(gate::Records(data::AnyRows(data[m])), own, m, *ledgers[m],
                                        dataset);
    EXPECT_TRUE(gate) << (gate ? "" : describe(gate.error()));
    return std::make_unique<gate::ColumnsGate>(*std::move(gate));
  }

  void pass(size_t a, size_t b, Entropy& entropy) {
    const Hash session{uint8_t(1 + a), uint8_t(b)};
    const Secret32 key = masks[{a, b}] = draw_secret(entropy);
    const ot::PairPlan plan = pair_plan(terms, {a, b}, session);
    const size_t m = plan.m.place, k = plan.k.place;
    ot::PairSetup first(plan, ot::Role::kM, gates[m]->leaves(), entropy);
    ot::PairSetup second(plan, ot::Role::kK, gates[k]->leaves(), entropy);
    while (!first.is_done() || !second.is_done()) {
      for (const Bytes& letter : first.write()) ASSERT_TRUE(second.take(letter));
      for (const Bytes& letter : second.write()) ASSERT_TRUE(first.take(letter));
    }
    rounds[m].add(k, first.share(), ot::Role::kM, session, key, terms);
    rounds[k].add(m, second.share(), ot::Role::kK, session, key, terms);
  }

  /// Coefficients of an owner in a round: many at the ends of the box.
  std::vector<int64_t> n(size_t owner, uint32_t round) const {
    test::SeededEntropy entropy(round, "n" + std::to_string(owner));
    std::vector<int64_t> n;
    for (size_t j = 0; j < terms.columns[owner]; ++j) {
      const int64_t half = terms.grid->half();
      n.push_back(entropy.word() % 2   ? int64_t(entropy.word() % uint64_t(2 * half)) - half
                  : entropy.word() % 2 ? half - 1
                                       : -half);
    }
    return n;
  }

  /// An owner's rows, with the label last at its holder.
  WipedVector<int64_t> rows(size_t m) const {
    const learn::CellColumns& cells = terms.cells[m];
    return learn::rows_of(cells.cells(), cells.leaves(data[m]), cells.columns());
  }

  /// What owner k's columns and coefficients add to owner m's gradient, without noise.
  std::vector<int64_t> part(size_t m, size_t k, uint32_t round) const {
    const auto own = rows(m), all = rows(k);
    const auto x = n(k, round);
    const size_t width = terms.cells[k].columns();
    std::vector<int64_t> sum(terms.columns[m]);
    for (size_t i = 0; i < kRecords; ++i) {
      int64_t score = 0;
      for (size_t j = 0; j < x.size(); ++j) score += all[i * width + j] * x[j];
      if (k == terms.label_holder) score -= terms.grid->kappa * all[i * width + width - 1];
      for (size_t j = 0; j < sum.size(); ++j)
        sum[j] += own[i * terms.cells[m].columns() + j] * score;
    }
    return sum;
  }
  std::vector<int64_t> exact(size_t m, uint32_t round) const {
    std::vector<int64_t> sum(terms.columns[m]);
    for (size_t k = 0; k < terms.cells.size(); ++k) {
      const auto added = part(m, k, round);
      for (size_t j = 0; j < sum.size(); ++j) sum[j] += added[j];
    }
    return sum;
  }

  /// Letters 3 of all others to owner m, and what it takes off.
  std::map<size_t, Rounds::Heard> heard(size_t m, uint32_t round) const {
    std::map<size_t, Rounds::Heard> heard;
    for (size_t k = 0; k < gates.size(); ++k) {
      if (k == m) continue;
      const Bytes bits = rounds[k].bits(*gates[k], m, round, n(k, round));
      auto answer = rounds[m].words(*gates[m], k, round, bits);
      EXPECT_TRUE(answer);
      const auto sum = rounds[k].sum(*gates[k], m, round, n(k, round), answer->letter);
      EXPECT_TRUE(sum);
      heard[k] = {*sum, std::move(answer->off)};
    }
    return heard;
  }
  Opened gradient(size_t m, uint32_t round) const {
    return *rounds[m].gradient(*gates[m], round, n(m, round), heard(m, round));
  }
};

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
  expect_noise_of_all(test::cells_charter(1, kRecords, steps(30)));
  expect_noise_of_all(test::three_cells_charter(1, kRecords, steps(30)));
}

/// Of a label that is a number, and where there is next to no noise, the numbers themselves.
TEST(Rounds, WithNextToNoNoiseGradientsAreThoseOfOnePlace) {
  for (const std::string target : {"levels = [\"low\", \"high\"]", "bounds = [-1, 1]"}) {
    const Owners owners(test::cells_charter(10000, kRecords, steps(2), target));
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
  expect_noise_of_each(test::cells_charter(1, kRecords, steps(60)));
  expect_noise_of_each(test::three_cells_charter(1, kRecords, steps(60)));
}

/// Among three an owner sees the sum of what the two others send, and neither part of it.
TEST(Rounds, LettersOfThreeAreMaskedUntilTheyAreAddedUp) {
  const Owners owners(test::three_cells_charter(10000, kRecords, steps(1)));
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
  const Owners owners(test::cells_charter(1, kRecords, steps(1)));
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
  Owners owners(test::cells_charter(1, kRecords, steps(3)));
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
  Owners owners(test::cells_charter(1, kRecords, steps(4)));
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
  Owners owners(test::cells_charter(1, kRecords, steps(2)));
  Rounds& own = owners.rounds[0];
  own.note_paid(1, Hash{1});
  own.hear(1, 1, 1, Bytes{1});
  own.conclude(owners.gradient(0, 1));
  const Bytes state = own.state();
  for (size_t size = 0; size < state.size(); ++size)
    EXPECT_FALSE(Rounds::from_state(ByteView(state).first(size))) << size;
}

// An audit by the other owner, which takes off its own noise: it adds next to none here. It knows
// every record but one of owner 0, and all coefficients.

enum class Planted { kNothing, kNoOwnNoise, kDealersNoiseOnly };

std::shared_ptr<const data::Rows> rows_with(size_t owner, audit::World world) {
  const auto rows = test::cells_rows(owner, kRecords);
  if (owner != 0) return rows;
  auto changed = std::make_shared<data::Rows>(5);
  const bool first = world == audit::World::kFirst;
  if (first) changed->add(std::array{1., 0., 0., 80., 1.}, 1);
  if (!first) changed->add(std::array{0., 1., 0., 20., 1.}, -1);
  for (size_t i = 1; i < kRecords; ++i) changed->add(rows->row(i), rows->label(i));
  return changed;
}

/// Every play is a round of its own.
struct Attack {
  std::string text;
  Planted planted;
  Owners first{text, [](size_t m) { return rows_with(m, audit::World::kFirst); }};
  Owners second{text, [](size_t m) { return rows_with(m, audit::World::kSecond); }};
  uint32_t rounds[2] = {0, 0};

  /// The log of the likelihood ratio of both gradients, up to scale.
  double play(audit::World world) {
    const bool is_first = world == audit::World::kFirst;
    const Owners& here = is_first ? first : second;
    const uint32_t round = ++rounds[is_first ? 0 : 1];
    double total = 0;
    for (size_t block = 0; block < 2; ++block) {
      const size_t other = 1 - block;
      const bool own_quiet = block == 1 || planted != Planted::kNothing;
      const bool other_quiet = other == 1 || planted == Planted::kDealersNoiseOnly;
      const auto& gate = own_quiet ? here.quiet[block] : here.gates[block];
      const auto& from = other_quiet ? here.quiet[other] : here.gates[other];
      const auto n = here.n(other, 1);
      const Bytes bits = here.rounds[other].bits(*from, block, round, n);
      auto answer = here.rounds[block].words(*gate, other, round, bits);
      const auto sum = here.rounds[other].sum(*from, block, round, n, answer->letter);
      const std::map<size_t, Rounds::Heard> heard{{other, {*sum, std::move(answer->off)}}};
      const Opened opened = *here.rounds[block].gradient(*gate, round, here.n(block, 1), heard);
      const auto a = first.exact(block, 1), b = second.exact(block, 1);
      // Where there is no noise, what differs is worth more.
      const bool quiet = own_quiet && other_quiet;
      const double variance = quiet ? 32 : here.terms.noise.variance();
      for (size_t j = 0; j < opened.size(); ++j)
        total += (double(opened[j]) - double(a[j] + b[j]) / 2) * double(b[j] - a[j]) / variance;
    }
    return total;
  }
};

/// A round of 600, which is charged for as many.
audit::Audit audited(Planted planted) {
  constexpr uint32_t kPlays = 250, kRounds = 600;  // of which plays use some
  auto attack =
      std::make_shared<Attack>(test::cells_charter(40, kRecords, steps(kRounds)), planted);
  const double rho = attack->first.terms.cost().amount;
  const audit::Target target{.kind = "rounds",
                             .claimed = {*plan::epsilon_of(rho, 1e-5), 1e-5, true},
                             .play = [attack](audit::World world, Entropy&) -> Result<double> {
                               return attack->play(world);
                             }};
  return *audit::run(target, audit::Method::kTwoWorld,
                     {.runs = kPlays, .alpha = 1e-6, .seed = 1, .threads = 1});
}

/// At a confidence of 1 - 1e-6 a sound round fails once in a million audits.
TEST(RoundsAudit, ARoundPassesAndWithoutOwnNoiseItDoesNot) {
  EXPECT_TRUE(audited(Planted::kNothing).passes());
  const audit::Audit none = audited(Planted::kNoOwnNoise);
  EXPECT_FALSE(none.passes()) << none.found.epsilon() << " of " << none.claimed.epsilon;
}

/// As with a dealer that works together with an owner: all noise is known to the two.
TEST(RoundsAudit, NoiseThatAnotherDrewIsNone) {
  EXPECT_FALSE(audited(Planted::kDealersNoiseOnly).passes());
}

}  // namespace rounds_test
}  // namespace parley::protocol
