// From a charter and its pilot to the learner's plan.
#pragma once

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/schedule/schedule.h"
#include "parley/plan/learner/weights.h"

namespace parley::plan {

/// All a learner knows: public numbers of the charter, and a schedule made from them and the pilot.
struct SyncPlan {
  struct Moments {
    double off = 1;         // what entries beside the diagonal were multiplied with
    double with_label = 1;  // and those with the label
    double floor = 0;       // below it an eigenvalue is noise
  };
  Hash charter{};
  std::vector<PlannedOwner> owners;
  double gamma = 0;  // of the lattice on which answers arrive
  double box = 0;
  double l2 = 0;
  learn::Schedule schedule;
  size_t quorum = 0;  // answers that are enough when the time is up; 0: of all owners
  /// Set where answers are second moments: the one step goes to their minimum.
  std::optional<Moments> moments{};
  /// Set where the model is evaluated after the last round.
  std::optional<learn::EvaluationMap> evaluation{};

  /// How many numbers an answer has.
  size_t numbers() const;
};

/// The charter's rule as a table of steps, from its start and, for pilot_newton, the inverse
/// Hessian there.
learn::Schedule step_table(const charter::Charter& charter, std::vector<double> start,
                           std::vector<double> inverse_hessian);

/// Where the charter says that training starts.
Result<std::vector<double>> start_of(const charter::Charter& charter, const data::Rows* pilot,
                                     size_t dimension);

/// That table for a synchronous charter, whose owners clip on this lattice.
Result<learn::Schedule> sync_schedule(const charter::Charter& charter, const data::Rows* pilot,
                                      const learn::Lattice& lattice);
/// Of pilot_newton: eigenvalues of the pilot's curvature below it count as it. So the noise of one
/// step is at most a quarter of the box in any direction, also where public rows are constant.
Result<double> newton_floor(const charter::Charter& charter);

/// `pilot` holds the charter's public rows; null where it has none. All that the plan contains
/// follows from public values.
Result<SyncPlan> sync_plan(const charter::Charter& charter, const data::Rows* pilot);

}  // namespace parley::plan
