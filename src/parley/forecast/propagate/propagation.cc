#include "parley/forecast/propagate/propagation.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/result.h"
#include "parley/forecast/propagate/expected_loss.h"

namespace parley::forecast {
namespace {

using Index = Eigen::Index;

/// Means over the records of slope z and of curvature z z'.
struct Derivatives {
  Vector slope{};
  Matrix curvature{};
};

/// The joint distribution of iterate, average and, with momentum, velocity, taken to be normal.
class Iterate {
 public:
  /// `spread` is the start's covariance, p x p, or empty.
  Iterate(const learn::Schedule& schedule, double l2, double box, const Matrix& spread);

  /// Round k, with the derivatives at theta() and noise of `variance` on the gradient.
  void round(size_t k, const Derivatives& at, double variance);

  Vector theta() const { return mean_.head(p_); }
  /// Empty as long as nothing is random.
  Matrix covariance() const { return random_ ? Matrix(joint_.topLeftCorner(p_, p_)) : Matrix(); }
  OutputDistribution output() const;
  double smallest_gain() const { return smallest_gain_; }

 private:
  void move(double step, const Derivatives& at);
  void spread(double step, const Matrix& curvature, double variance);
  void spread_with_velocity(double step, const Matrix& curvature, double variance);
  void clamp();
  void average(double part);

  const learn::Schedule& schedule_;
  double l2_, box_;
  Index p_, size_;  // of the iterate, of all
  Vector mean_;
  Matrix joint_, preconditioner_;  // the latter empty: the identity
  bool random_;
  double smallest_gain_ = 1;
};

Iterate::Iterate(const learn::Schedule& schedule, double l2, double box, const Matrix& spread)
    : schedule_(schedule),
      l2_(l2),
      box_(box),
      p_(static_cast<Index>(schedule.start.size())),
      size_(p_ * (schedule.momentum > 0 ? 3 : 2)),
      mean_(Vector::Zero(size_)),
      joint_(Matrix::Zero(size_, size_)),
      random_(spread.size() > 0) {
  const Vector start =
      Eigen::Map<const Vector>(schedule.start.data(), p_).cwiseMax(-box_).cwiseMin(box_);
  mean_.head(p_) = start, mean_.segment(p_, p_) = start;
  if (!schedule.preconditioner.empty())
    preconditioner_ = Eigen::Map<const Matrix>(schedule.preconditioner.data(), p_, p_);
  if (!random_) return;
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 2; ++j) joint_.block(i * p_, j * p_, p_, p_) = spread;
}

/// theta <- theta - a M v, v <- momentum v + gradient.
void Iterate::move(double step, const Derivatives& at) {
  Vector velocity = at.slope + l2_ * mean_.head(p_);
  if (schedule_.momentum > 0) {
    velocity += schedule_.momentum * mean_.tail(p_);
    mean_.tail(p_) = velocity;
  }
  if (preconditioner_.size() > 0) velocity = preconditioner_ * velocity;
  mean_.head(p_) -= step * velocity;
}

/// theta <- A theta + noise. The average stays; its covariance with theta changes.
void Iterate::spread(double step, const Matrix& curvature, double variance) {
  Matrix map = -step * curvature;
  map.diagonal().array() -= step * l2_;
  if (preconditioner_.size() > 0) map = Matrix(preconditioner_ * map);
  map.diagonal().array() += 1;
  const Matrix moved = map * joint_.topRows(p_);
  Matrix own = moved.leftCols(p_) * map.transpose();
  if (preconditioner_.size() > 0)
    own += variance * step * step * (preconditioner_ * preconditioner_.transpose());
  else
    own.diagonal().array() += variance * step * step;
  joint_.topLeftCorner(p_, p_) = own;
  joint_.topRightCorner(p_, p_) = moved.rightCols(p_);
  joint_.bottomLeftCorner(p_, p_) = moved.rightCols(p_).transpose();
}

/// v <- momentum v + curvature theta + noise, then theta <- theta - a M v: on the rows of the joint
/// covariance, and by symmetry on its columns.
void Iterate::spread_with_velocity(double step, const Matrix& curvature, double variance) {
  const Matrix one = Matrix::Identity(p_, p_);
  const Matrix hessian = curvature + l2_ * one;
  const Matrix reach = step * (preconditioner_.size() > 0 ? preconditioner_ : one);
  for (int side = 0; side < 2; ++side) {
    const Matrix velocity =
        schedule_.momentum * joint_.bottomRows(p_) + hessian * joint_.topRows(p_);
    joint_.bottomRows(p_) = velocity;
    if (preconditioner_.size() > 0)
      joint_.topRows(p_) -= reach * velocity;
    else
      joint_.topRows(p_) -= step * velocity;
    joint_.transposeInPlace();
  }
  joint_.topLeftCorner(p_, p_) += variance * (reach * reach.transpose());
  joint_.topRightCorner(p_, p_) -= variance * reach;
  joint_.bottomLeftCorner(p_, p_) -= variance * reach.transpose();
  joint_.bottomRightCorner(p_, p_) += variance * one;
}

void Iterate::clamp() {
  Vector gains = Vector::Ones(size_), variances(p_);
  bool met = false;
  for (Index j = 0; j < p_; ++j) {
    const Clamped found = clamped(mean_[j], joint_(j, j), box_);
    mean_[j] = found.mean;
    variances[j] = found.variance;
    gains[j] = found.gain;
    met = met || found.gain != 1;
    smallest_gain_ = std::min(smallest_gain_, found.gain);
  }
  if (!met) return;
  joint_ = gains.asDiagonal() * joint_ * gains.asDiagonal();
  joint_.diagonal().head(p_) = variances;
}

/// average <- (1 - q) average + q theta.
void Iterate::average(double part) {
  mean_.segment(p_, p_) = (1 - part) * mean_.segment(p_, p_) + part * mean_.head(p_);
  if (!random_ || part == 0) return;
  Matrix rows = (1 - part) * joint_.middleRows(p_, p_) + part * joint_.topRows(p_);
  rows.middleCols(p_, p_) = Matrix((1 - part) * rows.middleCols(p_, p_) + part * rows.leftCols(p_));
  joint_.middleRows(p_, p_) = rows;
  joint_.middleCols(p_, p_) = rows.transpose();
}

void Iterate::round(size_t k, const Derivatives& at, double variance) {
  const learn::Schedule::Round& round = schedule_.rounds[k];
  move(round.step, at);
  random_ = random_ || variance > 0;
  if (random_) {
    if (schedule_.momentum > 0)
      spread_with_velocity(round.step, at.curvature, variance);
    else
      spread(round.step, at.curvature, variance);
  }
  clamp();
  average(round.average);
}

OutputDistribution Iterate::output() const {
  const Vector mean = mean_.segment(p_, p_);
  const Matrix covariance = joint_.block(p_, p_, p_, p_);
  return {{mean.begin(), mean.end()}, {covariance.data(), covariance.data() + covariance.size()}};
}

/// Slope and curvature are computed in the first kDense rounds, and then whenever the number of
/// rounds has grown by the factor apart(): in every round, unless it was measured for the loss that
/// a larger factor moves no forecast by more than 0.6 % on the grid of
/// docs/explanation/forecasting.md. Clipped squares change their curvature least.
constexpr size_t kDense = 4;
double apart(const learn::Losses& loss) {
  if (std::holds_alternative<learn::Logistic>(loss)) return 1.35;
  const bool squares =
      std::holds_alternative<learn::Squared>(loss) || std::holds_alternative<learn::Huber>(loss);
  return squares ? 2 : 1;
}

size_t stride_of(const Propagation& how) {
  return how.looked_at == 0 ? 1 : std::max<size_t>(1, how.rows.size() / how.looked_at);
}

/// Slope and curvature between the rounds in which they are computed: linear in theta, plus a drift
/// that is linear in the logarithm of the round.
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
  const auto p = static_cast<Index>(how_.rows.columns());
  Matrix spread;
  if (!how_.start_spread.empty()) spread = Eigen::Map<const Matrix>(how_.start_spread.data(), p, p);
  const bool every_round = apart(how_.loss) == 1;
  const bool random = variance > 0 || spread.size() > 0;
  Iterate iterate(schedule, how_.l2, how_.box, spread);
  Between between(apart(how_.loss));
  for (size_t k = 0; k < schedule.rounds.size(); ++k) {
    const Vector theta = iterate.theta();
    if (!random && every_round) {  // Slopes alone are quick.
      iterate.round(k, {records_.slope(theta, {}, nullptr), {}}, 0);
      continue;
    }
    if (between.due(k)) {
      Derivatives found;
      found.slope = records_.slope(theta, iterate.covariance(), &found.curvature);
      between.look_up(k, theta, std::move(found));
    }
    iterate.round(k, between.at(k, theta),
                  how_.variance_factor.empty() ? variance : variance * how_.variance_factor[k]);
  }
  return {iterate.output(), iterate.smallest_gain()};
}

double Propagator::fitness(const Propagated& found) const {
  return estimate_output(how_.estimated(stride_), found.output).fitness;
}

}  // namespace parley::forecast
