// Moments in place of a pilot (data/transforms/paid_moments.h): one release of an owner, before
// there is a job, charged to its ledger like any answer.
#pragma once

#include "parley/charter/charter.h"
#include "parley/data/transforms/paid_moments.h"
#include "parley/plan/terms.h"
#include "parley/privacy/flow.h"

namespace parley::plan {

/// Its price, and the length to which w is shrunk first; without one as long as w can be.
struct MomentsPrice {
  privacy::Epsilon epsilon;
  std::optional<double> row_norm{};
};

/// The terms of owner `place`, in the charter's mechanism; the records are moment_rows. The charter
/// may be a draft. The job's name follows from the charter's and the price: asked again, the same
/// release is given for nothing.
Result<Terms> moments_terms(const charter::Charter& charter, size_t place,
                            const MomentsPrice& price);

/// How much noise each number of them will have, in a sentence; they lie in [-1, 1], so that a
/// deviation of 1 or more is refused, with what would help.
Result<std::string> moments_notice(const Terms& terms, const MomentsPrice& price);

/// What was released under those terms.
data::PaidMoments paid_moments(const charter::Charter& charter, size_t place, const Terms& terms,
                               const privacy::Released& released);

}  // namespace parley::plan
