// Rule "gram", for jobs without public rows (theory (W10)): owners first add up the Gram matrix
// Z'Z of their records, paid with 30 % of rho, and then gradients with the rest, which are stepped
// by it. One owner alone releases both with noise of its own (plan/terms.h), k below being 1. After
// an alarm of rule pilot_newton the same is done with what its first answers leave.
//
// Every row is as long as max_row_norm = R at most: it is shrunk to it. Two rows' products differ
// by |zz' - ww'| <= sqrt(2) R^2 in the Frobenius norm (learn/kernel/statistics_map.h), so that an
// entry of Z'Z/N on the diagonal has noise of deviation
//     s_G = sqrt(2) R^2 sqrt(k) / (mu sqrt(.3) N),   k = m / (survivors - colluders),
// and one beside it less by sqrt(2). Eigenvalues below 2 s_G sqrt(p) are not told from noise.
#pragma once

#include <optional>
#include <string>

#include "parley/charter/charter.h"
#include "parley/plan/secagg_terms.h"

namespace parley::plan {

/// The matrix's part of what Gram matrix and gradients may cost together.
inline constexpr double kGramShare = .3;
/// Rounds of gradients after an alarm and its Gram matrix.
inline constexpr int64_t kAfterAlarmRounds = 5;

/// Adds to a plan of gradients what its charter asks for beside them.
Result<void> plan_gram(const charter::Charter& charter, SecaggPlan& plan);

/// Of one owner's records, each shrunk to max_row_norm; labels are 0.
Result<learn::StatisticsMap<L2>> gram_map(const charter::Charter& charter);

/// The part of rho that pays for the Gram matrix, and what is left for the gradients of rule gram.
Result<privacy::Rho> for_gram(const privacy::Rho& rho);
Result<privacy::Rho> after_gram(const privacy::Rho& rho);

/// What a job buys, in numbers of its charter.
struct GramJob {
  double row_norm = 0;  // R
  size_t columns = 0;   // p
  double rows = 0;      // N
  double clip = 0;      // of gradients
  double rounds = 20;
  double repeats = 0;  // sums of either kind for which there is room beyond what is needed
  double surplus = 1;  // k
  double rho = 0;      // of the whole job
};

/// Standard deviations, of means over N rows.
struct GramNoise {
  double entry = 0;     // s_G
  double floor = 0;     // 2 s_G sqrt(p)
  double gradient = 0;  // sd: of a coordinate of one round's mean gradient
};
GramNoise gram_noise(const GramJob& job);

/// A column of ones has an eigenvalue of at least 1, the only one that would stand out from such a
/// floor: refused.
inline constexpr double kGramRefused = 1;
inline constexpr double kGramWarned = .3;

/// What would bring the floor to 0.3; each of them suffices.
struct GramHelp {
  double epsilon = 0;  // of the whole job
  double rows = 0;     // N
  double columns = 0;  // p, at the same row norm: fewer levels
};
Result<GramHelp> gram_help(const GramJob& job, double delta);

/// Of a charter that asks for a Gram matrix, by rule or after an alarm.
Result<GramJob> gram_job(const charter::Charter& charter);

/// The numbers, to be printed before anyone pays: with what would help where the floor is above
/// 0.3; an error instead from a floor of 1 on. Nothing where the charter asks for no Gram matrix.
Result<std::string> gram_notice(const GramJob& job, double delta);
Result<std::optional<std::string>> gram_notice(const charter::Charter& charter);

/// The same for every rule whose release may be mostly noise, "statistics" too; empty for others.
Result<std::string> noise_notice(const charter::Charter& charter);

}  // namespace parley::plan
