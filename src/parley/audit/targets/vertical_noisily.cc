// Rule noisy_sharing: one number per record and round, published by every owner.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "parley/audit/targets/vertical_worlds.h"
#include "parley/learn/vertical/admm/admm.h"

namespace parley::audit {
namespace {

using charter::Charter;

constexpr double kLouder = 100;

Result<TwoWorlds> noisy_worlds(const Charter& whole) {
  Charter charter = narrowed(whole, 1 + kFew);
  charter.model.l2 *= double(whole.records->count) / (1 + kFew);  // The same for the sum.
  auto terms = TRY(plan::vertical_terms(charter));
  return with_rows(
      std::move(charter), std::move(terms),
      [](double norm, size_t i, World world) {
        const double way = i == 0 && world == World::kSecond ? -1 : 1;
        return std::vector{way * 2 * norm, 0.};
      },
      [](size_t, World) { return 1; });  // Labels are public.
}

/// By round, by owner.
using Shares = std::vector<std::vector<std::vector<int64_t>>>;

/// What the owners would have published in each round but for the noise, had this been their data.
Shares expected_shares(const TwoWorlds& worlds, World world, const Shares& published) {
  const auto& rows = worlds.rows[world == World::kSecond];
  const learn::NoisySharingPlan& plan = *worlds.terms.noisy;
  const std::vector<double> labels(plan.rows, 1);
  learn::Coordinator coordinator({.loss = worlds.terms.loss, .lam = plan.lam, .rho = plan.rho},
                                 labels, rows.size());
  std::vector<learn::NoisySharingParty> parties;
  for (size_t m = 0; m < rows.size(); ++m) parties.emplace_back(rows[m], plan, m);
  std::vector<std::vector<double>> last(rows.size(), std::vector<double>(plan.rows));
  Shares expected;
  for (const auto& shares : published) {
    std::vector<double> sum(plan.rows);
    expected.emplace_back();
    for (size_t m = 0; m < rows.size(); ++m) {
      expected.back().push_back(parties[m].step(last[m], coordinator.message()));
      for (size_t i = 0; i < sum.size(); ++i) {
        last[m][i] = std::ldexp(double(shares[m][i]), -plan.fraction);
        sum[i] += last[m][i];
      }
    }
    coordinator.step(sum);
  }
  return expected;
}

/// What leaves every owner in each round is the first half of what it keeps of it.
Shares published_in(const VerticalJob& job, size_t rows) {
  Shares published(job.opened[0].size());
  for (size_t t = 0; t < published.size(); ++t)
    for (const auto& owner : job.opened)
      published[t].emplace_back(owner[t].begin(), owner[t].begin() + long(rows));
  return published;
}

/// The likelihood ratio of everything that was published, up to scale.
Play noisy_play(TwoWorlds worlds) {
  auto shared = std::make_shared<const TwoWorlds>(std::move(worlds));
  return [shared](World world, Entropy& entropy) -> Result<double> {
    const auto& rows = shared->rows[world == World::kSecond];
    const auto job = TRY(play_vertical(shared->charter, rows, entropy));
    const Shares published = published_in(job, shared->terms.plan.rows);
    const Shares first = expected_shares(*shared, World::kFirst, published);
    const Shares second = expected_shares(*shared, World::kSecond, published);
    double total = 0;
    for (size_t t = 0; t < first.size(); ++t)
      for (size_t m = 0; m < first[t].size(); ++m)
        for (size_t i = 0; i < first[t][m].size(); ++i) {
          const double middle = (double(first[t][m][i]) + double(second[t][m][i])) / 2;
          total += (double(published[t][m][i]) - middle) * double(second[t][m][i] - first[t][m][i]);
        }
    return total;
  };
}

/// Every record has numbers of its own here, so that more of them would not show much more; what
/// shows that the attack sees something is less noise.
}  // namespace

Result<Target> noisy_target(const Charter& charter, size_t owner) {
  const charter::Owner& who = charter.owners[owner];
  TwoWorlds worlds = TRY(noisy_worlds(charter));
  SystemEntropy entropy;
  const auto job = TRY(play_vertical(worlds.charter, worlds.rows[0], entropy));
  Charter loud = charter;
  for (charter::Owner& each : loud.owners) each.epsilon *= kLouder;
  return Target{.kind = "charter",
                .name = who.name,
                .what =
                    "one record at all owners, pointing one way or the other, in everything "
                    "that is published",
                .claimed = {std::min(job.epsilon[owner], who.epsilon), who.delta, true},
                .play = noisy_play(std::move(worlds)),
                .control = noisy_play(TRY(noisy_worlds(loud))),
                .control_name = "noise for a budget a hundred times as large"};
}

}  // namespace parley::audit
