#include "parley/forecast/propagate/expected_loss.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "parley/base/math/eigen.h"
#include "parley/base/memory/parallel.h"

namespace parley::forecast {
namespace {

/// A Gauss-Hermite rule for expectations over N(0,1).
struct Quadrature {
  std::vector<double> nodes{}, weights{};
};

/// Nodes are eigenvalues of the Jacobi matrix (Golub, Welsch 1969).
Quadrature make_quadrature(int points) {
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(points, points);
  for (int k = 1; k < points; ++k)
    jacobi(k, k - 1) = jacobi(k - 1, k) = std::sqrt(static_cast<double>(k));
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(jacobi);
  Quadrature rule;
  for (int k = 0; k < points; ++k) {
    rule.nodes.push_back(solver.eigenvalues()[k]);
    rule.weights.push_back(std::pow(solver.eigenvectors()(0, k), 2));
  }
  return rule;
}

/// For smooth functions of a score of this deviation: up to 15 points, fewer where it is small.
const Quadrature& quadrature_for(double deviation) {
  static const Quadrature one = make_quadrature(1), few = make_quadrature(5),
                          some = make_quadrature(9), all = make_quadrature(15);
  if (deviation < 1e-6) return one;
  if (deviation < .25) return few;
  return deviation < .6 ? some : all;
}

/// E of 2 r clamped to +-limit, and of its derivative, for r ~ N(mean, deviation^2).
ExpectedLoss clamped_residual(double mean, double deviation, double limit) {
  const double v = 2 * mean, s = 2 * std::max(deviation, kTinyDeviation);
  if (limit == kNoLimit) return {0, v, 2};
  const double a = (-limit - v) / s, b = (limit - v) / s;
  if (a < -9 && b > 9) return {0, v, 2};  // No part of it is clamped.
  const double below = normal_share(a), up_to = normal_share(b);
  const double inside = up_to - below;
  return {0,
          v * inside - s * (normal_density(b) - normal_density(a)) + limit * ((1 - up_to) - below),
          2 * inside};
}

}  // namespace

ExpectedLoss expected(const learn::Squared&, const Score& score, double limit) {
  const double residual = score.mean - score.label;
  ExpectedLoss result = clamped_residual(residual, score.deviation, limit);
  result.value = residual * residual + score.deviation * score.deviation;
  return result;
}

/// |r| <= delta counts as r^2, the rest as 2 delta |r| - delta^2.
ExpectedLoss expected(const learn::Huber& loss, const Score& score, double limit) {
  const double m = score.mean - score.label, d = loss.delta;
  const double s = std::max(score.deviation, kTinyDeviation);
  ExpectedLoss result = clamped_residual(m, score.deviation, std::min(limit, 2 * d));
  const double a = (-d - m) / s, b = (d - m) / s;
  const double below = normal_share(a), above = normal_share(-b), inside = 1 - below - above;
  const double da = normal_density(a), db = normal_density(b);
  result.value = (m * m + s * s) * inside - s * ((m + d) * db - (m - d) * da) +
                 2 * d * ((m * above + s * db) - (m * below - s * da)) - d * d * (above + below);
  return result;
}

ExpectedLoss expected(const learn::Hinge& loss, const Score& score, double limit) {
  const double weight = loss.weights.of(score.label), jump = std::min(weight, limit);
  const double short_by = 1 - score.label * score.mean;
  const double s = std::max(score.deviation, kTinyDeviation);
  const double share = normal_share(short_by / s);
  const double width = std::hypot(score.deviation, kKinkWidth);
  return {weight * (short_by * share + s * normal_density(short_by / s)),
          -score.label * jump * share, jump * normal_density(short_by / width) / width};
}

ExpectedLoss expected(const learn::Logistic& loss, const Score& score, double limit) {
  const double weight = loss.weights.of(score.label), most = std::min(limit, weight);
  const Quadrature& rule = quadrature_for(limit < weight ? kNoLimit : score.deviation);
  ExpectedLoss result;
  for (size_t k = 0; k < rule.nodes.size(); ++k) {
    const double margin = score.label * (score.mean + score.deviation * rule.nodes[k]);
    const double e = std::exp(-std::fabs(margin));
    const double wrong = margin < 0 ? 1 / (1 + e) : e / (1 + e);  // 1 / (1 + exp(margin))
    const double slope = weight * wrong;
    result.value += rule.weights[k] * weight * (std::max(0.0, -margin) + std::log1p(e));
    result.slope -= rule.weights[k] * score.label * std::min(slope, most);
    result.curvature += slope > most ? 0 : rule.weights[k] * slope * (1 - wrong);
  }
  return result;
}

Clamped clamped(double mean, double variance, double box) {
  const double s = std::sqrt(std::max(variance, 1e-300));
  const double a = (-box - mean) / s, b = (box - mean) / s;
  if (a < -9 && b > 9) return {mean, variance, 1};
  const double below = normal_share(a), above = normal_share(-b), inside = 1 - below - above;
  const double da = normal_density(a), db = normal_density(b);
  const double m = box * (above - below) + mean * inside - s * (db - da);
  const double square = box * box * (below + above) + (mean * mean + variance) * inside -
                        s * ((mean + box) * db - (mean - box) * da);
  return {m, std::max(square - m * m, 0.0), inside};
}

namespace {

/// Density and share below of N(0,1).
struct Normal {
  Floats density{}, share{};
};

/// The share to 1e-7 from one exponential, which is the density (Abramowitz, Stegun 7.1.26).
Normal normal(const Floats& x) {
  constexpr auto kRoot = static_cast<float>(1 / (std::numbers::sqrt2 * 1.7724538509055159));
  const Floats size = x.abs().min(40.F);
  const Floats exp = (-.5F * size.square()).exp();
  const Floats t = 1 / (1 + (.3275911F / std::numbers::sqrt2_v<float>)*size);
  const Floats tail =
      .5F * exp * t *
      (.254829592F +
       t * (-.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
  return {kRoot * exp, (x > 0).select(1 - tail, tail)};
}

/// E of v clamped to +-limit, v = 2 (score - label) ~ N(mean, deviation^2), and of its derivative
/// by the score.
void clamped_block(const Floats& mean, const Floats& deviation, const Floats& limit,
                   const SlopeBlock& found) {
  const Floats s = deviation.max(2 * static_cast<float>(kTinyDeviation));
  const Normal low = normal((-limit - mean) / s), high = normal((limit - mean) / s);
  const Floats inside = high.share - low.share;
  found.slope =
      mean * inside - s * (high.density - low.density) + limit * ((1 - high.share) - low.share);
  found.curvature = 2 * inside;
}

/// The class weight of every record.
Floats class_weights(const learn::ClassWeights& weights, const Floats& labels) {
  return (labels > 0)
      .select(Floats::Constant(labels.size(), static_cast<float>(weights.of(1))),
              static_cast<float>(weights.of(-1)));
}

}  // namespace

void expected_slopes(const learn::Squared&, const ScoreBlock& scores, const SlopeBlock& found) {
  clamped_block(2 * (scores.mean - scores.labels), 2 * scores.deviation, scores.limits, found);
}

void expected_slopes(const learn::Huber& loss, const ScoreBlock& scores, const SlopeBlock& found) {
  clamped_block(2 * (scores.mean - scores.labels), 2 * scores.deviation,
                scores.limits.min(2 * static_cast<float>(loss.delta)), found);
}

void expected_slopes(const learn::Hinge& loss, const ScoreBlock& scores, const SlopeBlock& found) {
  const Floats jump = class_weights(loss.weights, scores.labels).min(scores.limits);
  const Floats short_by = 1 - scores.labels * scores.mean;
  const Floats share =
      normal(short_by / scores.deviation.max(static_cast<float>(kTinyDeviation))).share;
  const Floats width =
      (scores.deviation.square() + static_cast<float>(kKinkWidth * kKinkWidth)).sqrt();
  found.slope = -scores.labels * jump * share;
  found.curvature = jump * normal(short_by / width).density / width;
}

void expected_slopes(const learn::Logistic& loss, const ScoreBlock& scores,
                     const SlopeBlock& found) {
  const Floats weights = class_weights(loss.weights, scores.labels);
  const Floats most = weights.min(scores.limits);
  const bool clipped = (scores.limits < weights).any();
  const Quadrature& rule = quadrature_for(clipped ? kNoLimit : scores.deviation.maxCoeff());
  const Floats margin = scores.labels * scores.mean;
  found.slope.setZero(margin.size());
  found.curvature.setZero(margin.size());
  for (size_t k = 0; k < rule.nodes.size(); ++k) {
    const auto node = static_cast<float>(rule.nodes[k]), part = static_cast<float>(rule.weights[k]);
    // The sign of a node does not matter: nodes come in pairs.
    const Floats wrong = 1 / (1 + (margin + node * scores.deviation).min(80.F).exp());
    const Floats slope = weights * wrong;
    const Floats curvature = part * slope * (1 - wrong);
    found.slope += part * slope.min(most);
    found.curvature += clipped ? Floats((slope > most).select(0.F, curvature)) : curvature;
  }
  found.slope *= -scores.labels;
}

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

/// Sums over pieces of the rows are added in order, so that they do not depend on the threads.
constexpr size_t kPieces = 8, kBlock = 256;

/// Whether no score can be clipped: the limit is not below the bound of the loss's slope.
bool never_clipped(const auto& loss, double limit) { return limit >= loss.lipschitz(); }

OutputEstimate of_record(const auto& loss, const Score& score, double limit) {
  const auto free = expected(loss, score);
  if (never_clipped(loss, limit)) return {free.value, 0};
  const auto held = expected(loss, score, limit);
  const bool less = held.curvature < free.curvature * (1 - 1e-9);
  return {free.value, less ? 1 - held.curvature / free.curvature : 0};
}

template <class Loss>
class Piece {
 public:
  Piece(const EstimatedOn& by, const Loss& loss, const Vector& mean, const Matrix& covariance)
      : by_(by), loss_(loss), mean_(mean), covariance_(covariance) {}

  /// Sums over rows begin, begin + stride, ... before end, block by block.
  OutputEstimate sum(size_t begin, size_t end) const {
    OutputEstimate all;
    for (size_t at = begin; at < end; at += kBlock) {
      const OutputEstimate found = block(at, std::min(kBlock, end - at));
      all.fitness += found.fitness, all.clipped += found.clipped;
    }
    return all;
  }

 private:
  OutputEstimate block(size_t begin, size_t count) const {
    const auto far = static_cast<Index>(by_.rows.stride() * by_.stride);
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> z(
        by_.rows.values() + begin * by_.stride * by_.rows.stride(), static_cast<Index>(count),
        mean_.size(), Eigen::OuterStride<>(far));
    const Vector scores = z * mean_;
    Vector variances = Vector::Zero(z.rows());
    if (covariance_.size() > 0)
      variances = (z * covariance_).cwiseProduct(z).rowwise().sum().cwiseMax(0);
    OutputEstimate all;
    for (size_t i = 0; i < count; ++i) {
      const size_t row = (begin + i) * by_.stride;
      const auto at = static_cast<Index>(i);
      const double limit = slope_limit(by_.norm, by_.limit, by_.rows.row(row));
      const OutputEstimate found =
          of_record(loss_, {scores[at], std::sqrt(variances[at]), by_.rows.label(row)}, limit);
      all.fitness += found.fitness, all.clipped += found.clipped;
    }
    return all;
  }

  const EstimatedOn& by_;
  const Loss& loss_;
  const Vector& mean_;
  const Matrix& covariance_;
};

}  // namespace

OutputDistribution distribution_of(const std::vector<std::vector<double>>& models) {
  const size_t p = models.front().size();
  const auto n = static_cast<double>(models.size());
  OutputDistribution distribution{std::vector<double>(p), std::vector<double>(p * p)};
  for (const auto& model : models)
    for (size_t j = 0; j < p; ++j) distribution.mean[j] += model[j] / n;
  for (const auto& model : models)
    for (size_t i = 0; i < p; ++i)
      for (size_t j = 0; j < p; ++j)
        distribution.covariance[i * p + j] +=
            (model[i] - distribution.mean[i]) * (model[j] - distribution.mean[j]) / n;
  return distribution;
}

double slope_limit(learn::ClipIn norm, double limit, std::span<const double> z) {
  if (norm == learn::ClipIn::kNone) return kNoLimit;
  double sum = 0;
  for (const double value : z) sum += norm == learn::ClipIn::kL1 ? std::fabs(value) : value * value;
  return sum == 0 ? kNoLimit : limit / (norm == learn::ClipIn::kL1 ? sum : std::sqrt(sum));
}

OutputEstimate estimate_output(const EstimatedOn& by, const OutputDistribution& distribution) {
  const auto p = static_cast<Index>(by.rows.columns());
  const Vector mean = Eigen::Map<const Vector>(distribution.mean.data(), p);
  Matrix covariance = Eigen::Map<const Matrix>(distribution.covariance.data(), p, p);
  if (covariance.isZero(0)) covariance.resize(0, 0);
  const double trace = covariance.trace();
  const size_t count = (by.rows.size() + by.stride - 1) / by.stride;
  std::vector<OutputEstimate> parts(kPieces);
  std::visit(
      [&](const auto& loss) {
        const Piece piece(by, loss, mean, covariance);
        in_parallel(by.threads, kPieces, [&](size_t, size_t first, size_t last) {
          for (size_t k = first; k < last; ++k)
            parts[k] = piece.sum(count * k / kPieces, count * (k + 1) / kPieces);
        });
      },
      by.loss);
  OutputEstimate all;
  for (const OutputEstimate& part : parts) all.fitness += part.fitness, all.clipped += part.clipped;
  const auto n = static_cast<double>(count);
  return {all.fitness / n + by.l2 / 2 * (mean.squaredNorm() + trace), all.clipped / n};
}

}  // namespace parley::forecast
