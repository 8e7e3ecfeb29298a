#include "parley/audit/one_run.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "parley/sim/seeded_entropy.h"

namespace parley::audit {
namespace {

std::vector<bool> toss(size_t count, uint64_t seed) {
  sim::SeededEntropy entropy(seed, "audit coins");
  std::vector<bool> coins(count);
  for (size_t i = 0; i < count; ++i) coins[i] = entropy.word() & 1;
  return coins;
}

/// The coins of the highest scores are guessed true, those of the lowest false.
Guesses guess(const std::vector<double>& scores, const std::vector<bool>& coins, size_t each) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  Guesses guesses{scores.size(), 2 * each, 0};
  for (size_t i = 0; i < each; ++i)
    guesses.correct += size_t{!coins[order[i]]} + size_t{coins[order[order.size() - 1 - i]]};
  return guesses;
}

}  // namespace

Result<Certificate> one_run(const CanaryRun& canaries, const Claim& claim, const Effort& effort) {
  const size_t each = effort.runs / 20;
  if (each == 0) return Error{Code::kInvalid, "one run needs at least 20 canaries"};
  const std::vector<bool> coins = toss(effort.runs, effort.seed);
  sim::SeededEntropy entropy(effort.seed, "audit one run");
  const std::vector<double> scores = TRY(canaries(coins, entropy));
  check(scores.size() == coins.size());
  const Guesses guesses = guess(scores, coins, each);
  return Certificate{
      .clopper_pearson = epsilon_one_run(guesses, claim.delta, effort.alpha),
      .if_perfect = epsilon_one_run({guesses.canaries, guesses.guesses, guesses.guesses},
                                    claim.delta, effort.alpha)};
}

}  // namespace parley::audit
