// What counts prove about epsilon. An auditor plays many times in two neighbouring worlds and says
// of each play in which it was; or once with many canaries, and guesses each one's coin. How often
// it is right bounds epsilon from below: a mechanism that keeps its promise lets nobody be right
// more often.
#pragma once

#include <cstdint>

namespace parley::audit {

/// How often the auditor said "the second world" in the second and in the first, of `trials` each.
struct Counts {
  uint64_t true_positives = 0;
  uint64_t false_positives = 0;
  uint64_t trials = 0;
};

/// A lower bound on epsilon at `delta`, wrong with probability at most `alpha`: the rates of both
/// errors are at most their Clopper-Pearson limits at alpha/2, and any (epsilon, delta) test has
///   1 - delta <= FNR + e^epsilon FPR,   1 - delta <= FPR + e^epsilon FNR
/// (Kairouz, Oh, Viswanath 2015). Zero if nothing is proved.
double epsilon_clopper_pearson(const Counts& counts, double delta, double alpha);

/// The same for noise that is claimed to be Gaussian: then the trade-off curve is a Gaussian's,
/// mu >= Phi^-1(1 - FNR) - Phi^-1(FPR) (Dong, Roth, Su 2019; Nasr et al. 2023), and epsilon follows
/// from mu. `delta` is positive.
double epsilon_gaussian(const Counts& counts, double delta, double alpha);

/// What the first bound comes to for an auditor that is never wrong: no more can be certified with
/// so many trials.
double epsilon_if_perfect(uint64_t trials, double delta, double alpha);

/// One run: of `canaries` fair coins, `guesses` were guessed and `correct` were right.
struct Guesses {
  uint64_t canaries = 0;
  uint64_t guesses = 0;
  uint64_t correct = 0;
};

/// The largest epsilon at which so many right guesses have probability below `alpha` (Steinke,
/// Nasr, Jagielski 2023, theorem 5.2):
///   P[Bin(r, 1/(1+e^-eps)) >= v] + 2 m delta max_i P[v > Bin >= v - i] / i.
double epsilon_one_run(const Guesses& guesses, double delta, double alpha);

}  // namespace parley::audit
