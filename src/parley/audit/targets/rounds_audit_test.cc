#include <gtest/gtest.h>

#include <array>

#include "parley/audit/audit.h"
#include "parley/plan/budget.h"
#include "support/passed_owners.h"

namespace parley::audit {
namespace rounds_audit_test {

using protocol::Opened, protocol::Rounds;
using protocol::pair_test::kFewRecords, protocol::pair_test::Owners, protocol::pair_test::steps;

// An audit by the other owner, which takes off its own noise: it adds next to none here. It knows
// every record but one of owner 0, and all coefficients.

enum class Planted { kNothing, kNoOwnNoise, kDealersNoiseOnly };

std::shared_ptr<const data::Rows> rows_with(size_t owner, World world) {
  const auto rows = test::cells_rows(owner, kFewRecords);
  if (owner != 0) return rows;
  auto changed = std::make_shared<data::Rows>(5);
  const bool first = world == World::kFirst;
  if (first) changed->add(std::array{1., 0., 0., 80., 1.}, 1);
  if (!first) changed->add(std::array{0., 1., 0., 20., 1.}, -1);
  for (size_t i = 1; i < kFewRecords; ++i) changed->add(rows->row(i), rows->label(i));
  return changed;
}

/// Every play is a round of its own.
struct Attack {
  std::string text;
  Planted planted;
  Owners first{text, [](size_t m) { return rows_with(m, World::kFirst); }};
  Owners second{text, [](size_t m) { return rows_with(m, World::kSecond); }};
  uint32_t rounds[2] = {0, 0};

  /// The log of the likelihood ratio of both gradients, up to scale.
  double play(World world) {
    const bool is_first = world == World::kFirst;
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
Audit audited(Planted planted) {
  constexpr uint32_t kPlays = 250, kRounds = 600;  // of which plays use some
  auto attack =
      std::make_shared<Attack>(test::cells_charter(40, kFewRecords, steps(kRounds)), planted);
  const double rho = attack->first.terms.cost().amount;
  const Target target{
      .kind = "rounds",
      .claimed = {*plan::epsilon_of(rho, 1e-5), 1e-5, true},
      .play = [attack](World world, Entropy&) -> Result<double> { return attack->play(world); }};
  return *run(target, Method::kTwoWorld, {.runs = kPlays, .alpha = 1e-6, .seed = 1, .threads = 1});
}

/// At a confidence of 1 - 1e-6 a sound round fails once in a million audits.
TEST(RoundsAudit, ARoundPassesAndWithoutOwnNoiseItDoesNot) {
  EXPECT_TRUE(audited(Planted::kNothing).passes());
  const Audit none = audited(Planted::kNoOwnNoise);
  EXPECT_FALSE(none.passes()) << none.found.epsilon() << " of " << none.claimed.epsilon;
}

/// As with a dealer that works together with an owner: all noise is known to the two.
TEST(RoundsAudit, NoiseThatAnotherDrewIsNone) {
  EXPECT_FALSE(audited(Planted::kDealersNoiseOnly).passes());
}

}  // namespace rounds_audit_test
}  // namespace parley::audit
