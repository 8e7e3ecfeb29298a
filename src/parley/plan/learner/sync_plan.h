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
  struct Gram {
    double unit = 0;   // times an entry of the one owner's answer: of the mean over rows
    double floor = 0;  // below it an eigenvalue is noise
    double curvature = 0;
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
  /// Set where one owner's Gram matrix comes first, by which the steps are made.
  std::optional<Gram> gram{};
  /// Set where the model is evaluated after the last round.
  std::optional<learn::EvaluationMap> evaluation{};

  /// How many numbers an answer has.
  size_t numbers() const;
};

/// The most that a Newton step moves a coefficient, whatever the answers: a bound for columns whose
/// Hessian the pilot or noise has wrong (theory (W12): 1 for labels in [-1, 1], 2 for classes).
double longest_change(const charter::Charter& charter);

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

/// Of pilot_newton: the Hessian of the pilot's clipped loss, clipped in the mechanism's norm as
/// owners do, in the columns of which the pilot has 10 rows or more. No step is made in the others,
/// where it would divide by little more than l2 (theory (W12)).
struct NewtonHessian {
  std::vector<size_t> columns{};
  std::vector<double> matrix{};
};
Result<NewtonHessian> newton_hessian(const charter::Charter& charter, const data::Rows* pilot,
                                     std::span<const double> theta, const learn::Lattice& lattice);
/// The standard deviation of the noise on a coordinate of the owners' mean gradient.
Result<double> mean_deviation(const charter::Charter& charter);
/// Eigenvalues below sd sqrt(p)/2 are raised to it: along them a step is mostly noise (theory
/// (W12)).
double newton_floor(double deviation, size_t columns);

/// `pilot` holds the charter's public rows; null where it has none. All that the plan contains
/// follows from public values.
Result<SyncPlan> sync_plan(const charter::Charter& charter, const data::Rows* pilot);

}  // namespace parley::plan
