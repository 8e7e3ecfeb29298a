// The model that an owner makes from what it learned from the others and its own exact rows (theory
// (D12), variants A and C). It is a function of private records without noise and stays with its
// owner.
#pragma once

#include <span>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/any_rows.h"
#include "parley/protocol/job.h"

namespace parley::protocol {

/// What the others have released, for one learner: public.
struct FromOthers {
  std::vector<double> theta{};    // A: their model
  std::vector<double> moments{};  // C: the others' part of the mean of all rows' second moments
  double own_part = 0;            // C: of the learner's rows in all rows
  double floor = 0;               // C: below it an eigenvalue is noise
};

/// Of a finished job, whose answers are `journal`. `learner` is its place in the charter.
Result<FromOthers> from_others(const charter::Charter& charter, size_t learner,
                               const data::Rows* pilot, std::span<const wire::Entry> journal,
                               const Trained& trained);

/// A: tuned on the rows, near the others' model. C: the minimum of the others' noisy moments and
/// the rows' exact ones. Under own_noise nothing is to be added: the job's model.
std::vector<double> own_model(const charter::Charter& charter, const FromOthers& others,
                              const data::AnyRows& rows, int threads);

/// A, published: what the noisy integers on the lattice say.
std::vector<double> published_model(std::span<const int64_t> values, double gamma, double box);

}  // namespace parley::protocol
