// Tests for a wrong pilot (theory (W11)): compares the first paid answer with the pilot's
// prediction, and finds columns about which the pilot has too few rows. All of it is public: the
// pilot's rows, and answers that were paid for.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/rows.h"
#include "parley/learn/objective.h"
#include "parley/model.h"

namespace parley::learn {

/// How a record's gradient is clipped.
struct RecordClip {
  ClipIn norm = ClipIn::kL2;
  double limit = 0;
};

/// The pilot's rows and where training starts.
struct PilotFit {
  std::shared_ptr<const data::Rows> rows{};
  Losses loss{};
  double l2 = 0, box = 0;
  std::vector<double> theta{};
  bool fitted = true;             // theta is the optimum of these rows
  std::vector<double> hessian{};  // there, with l2, row-major

  size_t dimension() const { return theta.size(); }
  double count() const { return static_cast<double>(rows->size()); }
};
/// At the optimum of these rows.
PilotFit fit_pilot(const Losses& loss, double l2, double box,
                   std::shared_ptr<const data::Rows> rows);

/// The clipped mean gradient there, without l2: as the pilot's rows have it.
struct PredictedAnswer {
  std::vector<double> gradient{};  // g0
  /// S_c of one record: the covariance of clipped gradients at slopes left out, and (3/n0)
  /// mean(slope^2) on the diagonal. The rule of three: a level unseen in n0 rows may have a share
  /// of 3/n0. Row-major.
  std::vector<double> covariance{};
};
PredictedAnswer predicted_answer(const PilotFit& pilot, const RecordClip& clip);

/// The first paid answer, without l2.
struct FirstAnswer {
  std::vector<double> gradient{};
  double rows = 0;       // N; with weights v_i, 1 / sum of v_i^2/n_i
  double deviation = 0;  // sd: of the noise on a coordinate
  double tau = 0;        // how much owners differ, where it is known,
  double squares = 0;    // and sum of w_i^2: they add tau/p H sum w_i^2 to the covariance
};

using parley::PilotCheck;

/// Q and gap of a difference d with covariance V at Hessian H; an error where V is singular.
struct Difference {
  double statistic = 0, gap = 0;
};
Result<Difference> judge(std::span<const double> difference, std::span<const double> covariance,
                         std::span<const double> hessian);

/// phi: the mean of Q/p between 8 random halvings of the pilot itself, at least 1. How much heavier
/// the tails of Q are than chi-square's.
double pilot_dispersion(const PilotFit& pilot, const RecordClip& clip);

/// With this phi.
Result<PilotCheck> check_pilot(const PilotFit& pilot, const PredictedAnswer& predicted,
                               const FirstAnswer& answer, double dispersion);

/// With the pilot's own phi, which takes 8 fits: it is at least 1, and looked at only where that
/// would be an alarm. False alarms: 1 in 1,000 nominally, 4 of 1,000 like pilots in the
/// numpy reference.
Result<PilotCheck> check_pilot(const PilotFit& pilot, const RecordClip& clip,
                               const FirstAnswer& answer);

/// Columns in which fewer than `least` pilot rows differ from the commonest value: the Hessian
/// hardly knows more than l2 there, and a Newton step may go anywhere. The bias, which is the last
/// column of one value other than 0, is none of them.
inline constexpr size_t kThin = 10;
std::vector<size_t> thin_columns(const data::Rows& pilot, size_t least = kThin);
/// The first of these columns by name, and how many more there are.
std::string names_of(std::span<const size_t> columns, const std::vector<std::string>& features);

}  // namespace parley::learn
