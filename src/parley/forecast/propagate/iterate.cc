#include "parley/forecast/propagate/iterate.h"

#include <algorithm>

#include "parley/forecast/expect/gaussian_loss.h"

namespace parley::forecast {

using Index = Eigen::Index;

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

/// theta <- A theta + noise: the average, which waits, moves along in its covariance with theta.
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

}  // namespace parley::forecast
