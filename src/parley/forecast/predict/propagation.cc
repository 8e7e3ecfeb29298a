#include "parley/forecast/predict/propagation.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "parley/base/parallel.h"
#include "parley/base/result.h"
#include "parley/forecast/predict/gaussian_loss.h"

namespace parley::forecast {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

/// Sums are made over so many pieces of the rows and added in order, on any number of threads.
constexpr size_t kPieces = 8, kBlock = 256;

/// The rows looked at, together, with their labels and the largest slope each may have.
class Records {
 public:
  explicit Records(const Propagation& how);

  Index size() const { return labels_.size(); }
  Index columns() const { return z_.cols(); }
  int threads() const { return threads_; }
  /// work(piece, block of rows, first row, mean scores, deviations) over all rows.
  template <class Work>
  void each_block(const Vector& mean, const Matrix& covariance, const Work& work) const;
  double label(Index i) const { return labels_[i]; }
  double limit(Index i) const { return limits_[i]; }

 private:
  Matrix z_;
  Vector labels_, limits_;
  int threads_;
};

Records::Records(const Propagation& how) : threads_(how.threads) {
  const size_t count = (how.rows.size() + how.stride - 1) / how.stride;
  const auto p = static_cast<Index>(how.rows.columns());
  z_.resize(static_cast<Index>(count), p);
  labels_.resize(static_cast<Index>(count));
  limits_.resize(static_cast<Index>(count));
  for (size_t k = 0; k < count; ++k) {
    const auto i = static_cast<Index>(k);
    z_.row(i) = Eigen::Map<const Vector>(how.rows.row(k * how.stride).data(), p);
    labels_[i] = how.rows.label(k * how.stride);
    const double norm = how.norm == learn::ClipIn::kL1 ? z_.row(i).lpNorm<1>() : z_.row(i).norm();
    limits_[i] = how.norm == learn::ClipIn::kNone || norm == 0 ? kNoLimit : how.limit / norm;
  }
}

template <class Work>
void Records::each_block(const Vector& mean, const Matrix& covariance, const Work& work) const {
  const auto all = static_cast<size_t>(size());
  in_parallel(threads_, kPieces, [&](size_t, size_t first, size_t last) {
    for (size_t piece = first; piece < last; ++piece)
      for (size_t at = all * piece / kPieces; at < all * (piece + 1) / kPieces; at += kBlock) {
        const size_t count = std::min(kBlock, all * (piece + 1) / kPieces - at);
        const auto block = z_.middleRows(static_cast<Index>(at), static_cast<Index>(count));
        const Vector scores = block * mean;
        const Matrix spread = block * covariance;
        const Vector deviations =
            spread.cwiseProduct(block).rowwise().sum().cwiseMax(0).cwiseSqrt();
        work(piece, block, static_cast<Index>(at), scores, deviations);
      }
  });
}

/// Mean slope z and mean curvature z z' over the records.
struct Derivatives {
  Vector slope{};
  Matrix curvature{};
};

template <class Loss>
Derivatives derivatives(const Records& records, const Loss& loss, const Vector& mean,
                        const Matrix& covariance) {
  const Index p = records.columns();
  std::vector<Derivatives> parts(kPieces, {Vector::Zero(p), Matrix::Zero(p, p)});
  records.each_block(
      mean, covariance,
      [&](size_t piece, const auto& block, Index at, const Vector& scores, const Vector& spread) {
        Vector slopes(scores.size()), roots(scores.size());
        for (Index i = 0; i < scores.size(); ++i) {
          const auto found = expected_slope(loss, {scores[i], spread[i], records.label(at + i)},
                                            records.limit(at + i));
          slopes[i] = found.slope;
          roots[i] = std::sqrt(std::max(found.curvature, 0.0));
        }
        parts[piece].slope += block.transpose() * slopes;
        const Matrix scaled = roots.asDiagonal() * block;
        parts[piece].curvature.template selfadjointView<Eigen::Lower>().rankUpdate(
            scaled.transpose());
      });
  Derivatives all{Vector::Zero(p), Matrix::Zero(p, p)};
  for (const Derivatives& part : parts) all.slope += part.slope, all.curvature += part.curvature;
  const double n = static_cast<double>(records.size());
  all.slope /= n;
  all.curvature = Matrix(all.curvature.template selfadjointView<Eigen::Lower>()) / n;
  return all;
}

/// The joint distribution of iterate, average and, with momentum, velocity.
class State {
 public:
  State(const learn::Schedule& schedule, const Propagation& how);
  void round(size_t k, const Derivatives& at, double variance);
  Vector theta() const { return mean_.head(p_); }
  Matrix covariance() const { return joint_.topLeftCorner(p_, p_); }
  Landing output() const;
  double smallest_gain() const { return smallest_gain_; }

 private:
  void descend(double step, const Derivatives& at, double variance);
  void clamp();
  void average(double part);

  const learn::Schedule& schedule_;
  double l2_, box_;
  Index p_, size_;  // of the iterate, of all
  Vector mean_;
  Matrix joint_, preconditioner_;
  double smallest_gain_ = 1;
};

State::State(const learn::Schedule& schedule, const Propagation& how)
    : schedule_(schedule),
      l2_(how.l2),
      box_(how.box),
      p_(static_cast<Index>(schedule.start.size())),
      size_(p_ * (schedule.momentum > 0 ? 3 : 2)),
      mean_(Vector::Zero(size_)),
      joint_(Matrix::Zero(size_, size_)),
      preconditioner_(Matrix::Identity(p_, p_)) {
  const Vector start =
      Eigen::Map<const Vector>(schedule.start.data(), p_).cwiseMax(-box_).cwiseMin(box_);
  mean_.head(p_) = start, mean_.segment(p_, p_) = start;
  if (!schedule.preconditioner.empty())
    preconditioner_ = Eigen::Map<const Matrix>(schedule.preconditioner.data(), p_, p_);
  if (how.start_spread.empty()) return;
  const Matrix spread = Eigen::Map<const Matrix>(how.start_spread.data(), p_, p_);
  for (Index i = 0; i < 2; ++i)
    for (Index j = 0; j < 2; ++j) joint_.block(i * p_, j * p_, p_, p_) = spread;
}

/// theta <- theta - a M v, v <- momentum v + gradient; the average waits.
void State::descend(double step, const Derivatives& at, double variance) {
  const Matrix reach = step * preconditioner_;
  const Matrix curvature = at.curvature + l2_ * Matrix::Identity(p_, p_);
  const Vector slope = at.slope + l2_ * mean_.head(p_);
  Matrix map = Matrix::Identity(size_, size_);
  map.topLeftCorner(p_, p_) -= reach * curvature;
  Matrix noise = Matrix::Zero(size_, p_);
  noise.topRows(p_) = -reach;
  if (schedule_.momentum > 0) {
    const Vector velocity = schedule_.momentum * mean_.tail(p_) + slope;
    map.topRightCorner(p_, p_) = -schedule_.momentum * reach;
    map.bottomLeftCorner(p_, p_) = curvature;
    map.bottomRightCorner(p_, p_) = schedule_.momentum * Matrix::Identity(p_, p_);
    noise.bottomRows(p_).setIdentity();
    mean_.tail(p_) = velocity;
    mean_.head(p_) -= reach * velocity;
  } else {
    mean_.head(p_) -= reach * slope;
  }
  joint_ = Matrix(map * joint_ * map.transpose()) + variance * (noise * noise.transpose());
}

void State::clamp() {
  Vector gains = Vector::Ones(size_), variances(p_);
  for (Index j = 0; j < p_; ++j) {
    const Clamped found = clamped(mean_[j], joint_(j, j), box_);
    mean_[j] = found.mean;
    variances[j] = found.variance;
    gains[j] = found.gain;
    smallest_gain_ = std::min(smallest_gain_, found.gain);
  }
  joint_ = gains.asDiagonal() * joint_ * gains.asDiagonal();
  joint_.diagonal().head(p_) = variances;
}

/// average <- (1 - q) average + q theta.
void State::average(double part) {
  mean_.segment(p_, p_) = (1 - part) * mean_.segment(p_, p_) + part * mean_.head(p_);
  Matrix rows = (1 - part) * joint_.middleRows(p_, p_) + part * joint_.topRows(p_);
  rows.middleCols(p_, p_) = Matrix((1 - part) * rows.middleCols(p_, p_) + part * rows.leftCols(p_));
  joint_.middleRows(p_, p_) = rows;
  joint_.middleCols(p_, p_) = rows.transpose();
}

void State::round(size_t k, const Derivatives& at, double variance) {
  descend(schedule_.rounds[k].step, at, variance);
  clamp();
  average(schedule_.rounds[k].average);
}

Landing State::output() const {
  const Vector mean = mean_.segment(p_, p_);
  const Matrix covariance = joint_.block(p_, p_, p_, p_);
  return {{mean.begin(), mean.end()}, {covariance.data(), covariance.data() + covariance.size()}};
}

template <class Loss>
AtLanding at_landing_of(const Records& records, const Loss& loss, const Propagation& how,
                        const Landing& landing) {
  const Index p = records.columns();
  const Vector mean = Eigen::Map<const Vector>(landing.mean.data(), p);
  const Matrix covariance = Eigen::Map<const Matrix>(landing.covariance.data(), p, p);
  std::vector<AtLanding> parts(kPieces);
  records.each_block(
      mean, covariance,
      [&](size_t piece, const auto&, Index at, const Vector& scores, const Vector& spread) {
        for (Index i = 0; i < scores.size(); ++i) {
          const Score score{scores[i], spread[i], records.label(at + i)};
          const auto free = expected(loss, score),
                     held = expected(loss, score, records.limit(at + i));
          parts[piece].fitness += free.value;
          parts[piece].clipped += held.curvature < free.curvature * (1 - 1e-9)
                                      ? 1 - held.curvature / free.curvature
                                      : 0;
        }
      });
  AtLanding all;
  for (const AtLanding& part : parts) all.fitness += part.fitness, all.clipped += part.clipped;
  const double n = static_cast<double>(records.size());
  return {all.fitness / n + how.l2 / 2 * (mean.squaredNorm() + covariance.trace()),
          all.clipped / n};
}

}  // namespace

Propagated propagate(const Propagation& how, const learn::Schedule& schedule, double variance) {
  check(schedule.start.size() == how.rows.columns() && how.rows.size() > 0);
  const Records records(how);
  State state(schedule, how);
  return std::visit(
      [&](const auto& loss) {
        for (size_t k = 0; k < schedule.rounds.size(); ++k)
          state.round(k, derivatives(records, loss, state.theta(), state.covariance()), variance);
        const Landing output = state.output();
        return Propagated{output, at_landing_of(records, loss, how, output).fitness,
                          state.smallest_gain()};
      },
      how.loss);
}

AtLanding at_landing(const Propagation& how, const Landing& landing) {
  const Records records(how);
  return std::visit([&](const auto& loss) { return at_landing_of(records, loss, how, landing); },
                    how.loss);
}

}  // namespace parley::forecast
