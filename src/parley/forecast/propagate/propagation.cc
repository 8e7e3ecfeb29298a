#include "parley/forecast/propagate/propagation.h"

#include <cmath>

#include "parley/base/result.h"
#include "parley/forecast/propagate/iterate.h"

namespace parley::forecast {
namespace {

/// Rounds in which slope and curvature are looked up: the first ones, then as soon as so many times
/// the rounds of the last time have been made. Clipped squares change their curvature least; on the
/// specification's grid neither number moves a forecast by more than 0.6 %.
constexpr size_t kDense = 4;
double apart(const learn::Losses& loss) {
  if (std::holds_alternative<learn::Hinge>(loss)) return 1;
  return std::holds_alternative<learn::Logistic>(loss) ? 1.35 : 2;
}

size_t stride_of(const Propagation& how) {
  return how.looked_at == 0 ? 1 : std::max<size_t>(1, how.rows.size() / how.looked_at);
}

/// Slope and curvature between the rounds in which they are looked up: linear in theta, and what
/// theta does not explain goes on as it did, along the logarithm of rounds.
class Between {
 public:
  explicit Between(double apart) : apart_(apart) {}

  void look_up(size_t k, const Vector& theta, Derivatives found) {
    const double now = std::log(static_cast<double>(k + 1));
    if (known_) {
      const Vector expected = last_.slope + last_.curvature * (theta - theta_);
      drift_ = {(found.slope - expected) / (now - time_),
                (found.curvature - last_.curvature) / (now - time_)};
    } else {
      drift_ = {0 * found.slope, 0 * found.curvature};
    }
    known_ = true, time_ = now, theta_ = theta, last_ = std::move(found);
    next_ = k < kDense ? k + 1 : static_cast<size_t>(apart_ * static_cast<double>(k + 1));
  }
  bool due(size_t k) const { return !known_ || k >= next_; }
  Derivatives at(size_t k, const Vector& theta) const {
    const double later = std::log(static_cast<double>(k + 1)) - time_;
    return {last_.slope + last_.curvature * (theta - theta_) + later * drift_.slope,
            last_.curvature + later * drift_.curvature};
  }

 private:
  double apart_;
  bool known_ = false;
  size_t next_ = 0;
  double time_ = 0;
  Vector theta_{};
  Derivatives last_{}, drift_{};  // the latter per unit of log(rounds)
};

}  // namespace

Propagator::Propagator(const Propagation& how)
    : how_(how), stride_(stride_of(how)), records_(how.estimated(stride_)) {
  check(how.rows.size() > 0);
}

Propagated Propagator::run(const learn::Schedule& schedule, double variance) const {
  check(schedule.start.size() == how_.rows.columns());
  const auto p = static_cast<Eigen::Index>(how_.rows.columns());
  Matrix spread;
  if (!how_.start_spread.empty()) spread = Eigen::Map<const Matrix>(how_.start_spread.data(), p, p);
  const bool every_round = apart(how_.loss) == 1;
  const bool random = variance > 0 || spread.size() > 0;
  Iterate iterate(schedule, how_.l2, how_.box, spread);
  Between between(apart(how_.loss));
  for (size_t k = 0; k < schedule.rounds.size(); ++k) {
    const Vector theta = iterate.theta();
    if (!random && every_round) {  // Slopes alone are quick.
      iterate.round(k, records_.derivatives(theta, {}, false), 0);
      continue;
    }
    if (between.due(k))
      between.look_up(k, theta, records_.derivatives(theta, iterate.covariance(), true));
    iterate.round(k, between.at(k, theta),
                  how_.variance_factor.empty() ? variance : variance * how_.variance_factor[k]);
  }
  return {iterate.output(), iterate.smallest_gain()};
}

double Propagator::fitness(const Propagated& found) const {
  return at_output(how_.estimated(stride_), found.output).fitness;
}

}  // namespace parley::forecast
