// A wrong pilot (spec, value 6): the first paid answer against what the pilot predicts, columns
// that the pilot hardly knows, and steps that cannot run away.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/learn/objective.h"

namespace parley::forecast {

/// How a record's gradient is clipped.
struct RecordClip {
  learn::ClipIn norm = learn::ClipIn::kL2;
  double limit = 0;
};

/// The clipped mean gradient at the pilot's optimum, without l2: as the pilot's rows have it.
struct PredictedAnswer {
  std::vector<double> gradient{};  // g0
  /// S_c of one record: the covariance of clipped gradients at slopes left out, and (3/n0)
  /// mean(slope^2) on the diagonal. The rule of three: a level unseen in n0 rows may have a share
  /// of 3/n0. Row-major.
  std::vector<double> covariance{};
};
PredictedAnswer predicted_answer(const PilotStatistics& pilot, const RecordClip& clip);

/// The first paid answer, without l2.
struct FirstAnswer {
  std::vector<double> gradient{};
  double rows = 0;       // N
  double deviation = 0;  // sd: of the noise on a coordinate
  double tau = 0;        // how much owners differ, where it is known,
  double squares = 0;    // and sum of w_i^2: they add tau/p H sum w_i^2 to the covariance
};

struct PilotCheck {
  double statistic = 0;   // Q = d' V^-1 d, d = g~ - g0, V = S_c (1/n0 + 1/N) + sd^2 I
  double threshold = 0;   // phi chi^2_p(0.999)
  double dispersion = 1;  // phi
  double gap = 0;  // (d' H^-1 d - tr H^-1 V)/2: the loss between the pilot's model and the owners'
                   // best. For people; the alarm must not depend on it.
  bool alarm = false;
};

/// Q and gap of a difference d with covariance V at Hessian H; an error where V is singular.
struct Difference {
  double statistic = 0, gap = 0;
};
Result<Difference> judge(std::span<const double> difference, std::span<const double> covariance,
                         std::span<const double> hessian);

/// phi: the mean of Q/p between 8 random halvings of the pilot itself, at least 1. How much heavier
/// the tails of Q are than chi-square's.
double pilot_dispersion(const charter::Model& model, const PilotStatistics& pilot,
                        const RecordClip& clip);

/// False alarms: 1 in 1,000 nominally, 4 in the specification's 1,000 like pilots.
Result<PilotCheck> check_pilot(const PilotStatistics& pilot, const PredictedAnswer& predicted,
                               const FirstAnswer& answer, double dispersion);

/// Columns in which fewer than `least` pilot rows differ from the commonest value: the Hessian
/// hardly knows more than l2 there, and a Newton step may go anywhere. The bias, which is the first
/// column of one value other than 0, is none of them.
std::vector<size_t> thin_columns(const data::Rows& pilot, size_t least = 10);

/// Cuts every coordinate of a step: to 1 where labels are values in [-1, 1], to 2 for classes.
void cut_step(const learn::Losses& loss, std::span<double> step);

}  // namespace parley::forecast
