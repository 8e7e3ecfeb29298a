// The noise of secure sums: shares of one variance for all owners, the largest that any of them
// needs (plan/secagg_terms.h).
#pragma once

#include <vector>

#include "parley/charter/charter.h"
#include "parley/plan/budget.h"
#include "parley/privacy/mechanisms.h"

namespace parley::plan {

/// What the noise must protect, and at which price.
struct Need {
  std::vector<privacy::Rho> rhos;  // of each owner, for all `answers`
  privacy::Parties parties;
  uint32_t answers = 0;
  size_t numbers = 0;
};

/// All that each owner may spend on a part of the job.
Result<std::vector<privacy::Rho>> rhos_of(const charter::Charter& charter, Part part);

/// For `sums` that are opened and the repetitions that the charter allows.
Result<Need> need_of(const charter::Charter& charter, Part part, int64_t sums, size_t numbers);

/// The noise that is enough for every owner, whose parts one unit moves by `sensitivities`.
Result<privacy::SharedMechanisms> mechanism_for(const charter::Charter& charter, const Need& need,
                                                const std::vector<double>& sensitivities);

/// The variance of a share.
double variance_of(const privacy::SharedMechanisms& mechanism);

/// A bound that the noise in the sum of all owners exceeds with probability below 1e-32.
double largest_noise(size_t owners, const privacy::SharedMechanisms& mechanism);

}  // namespace parley::plan
