// Expectations over a normal distribution of models. Under it the score of a record is normal, too:
// expected loss, clipped slope and curvature of one record, the same of many records at a time, the
// moments of a clamped normal number, and the expected loss of all rows.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "parley/base/math/eigen_names.h"
#include "parley/data/rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/objective.h"

namespace parley::forecast {

inline double normal_density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}
/// P(N(0,1) <= x).
inline double normal_share(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// u ~ N(mean, deviation^2), and the label that belongs to it.
struct Score {
  double mean = 0;
  double deviation = 0;
  double label = 0;
};

struct ExpectedLoss {
  double value = 0;      // of the loss as it is
  double slope = 0;      // of its slope, clamped to +-limit
  double curvature = 0;  // of the clamped slope's derivative
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();
inline constexpr double kTinyDeviation = 1e-9;  // below, a score counts as known
inline constexpr double kKinkWidth = .003;      // least width of the kernel that smooths the hinge

ExpectedLoss expected(const learn::Squared& loss, const Score& score, double limit = kNoLimit);
ExpectedLoss expected(const learn::Huber& loss, const Score& score, double limit = kNoLimit);
/// The kink is smoothed by a normal kernel of width 0.003 or more, chosen on the grid of
/// docs/results/forecasts.md.
ExpectedLoss expected(const learn::Hinge& loss, const Score& score, double limit = kNoLimit);
/// By Gauss-Hermite quadrature at up to 15 points.
ExpectedLoss expected(const learn::Logistic& loss, const Score& score, double limit = kNoLimit);
/// Mean and variance of N(mean, variance) clamped to +-box, and how much of a small shift passes.
struct Clamped {
  double mean = 0;
  double variance = 0;
  double gain = 1;
};
Clamped clamped(double mean, double variance, double box);

// The same of many records at a time, to single precision: a propagation spends its time here.

using Floats = FloatArray;

/// u_i ~ N(mean_i, deviation_i^2), with the records' labels and the largest slope each may have.
struct ScoreBlock {
  const Floats& mean;
  const Floats& deviation;
  const Floats& labels;
  const Floats& limits;
};

/// A limit that stands for none: products of it with zero stay zero.
inline constexpr float kNoSlopeLimit = 1e18F;

/// Where the results go.
struct SlopeBlock {
  Floats& slope;
  Floats& curvature;  // of the clamped slope's derivative
};

void expected_slopes(const learn::Squared& loss, const ScoreBlock& scores, const SlopeBlock& found);
void expected_slopes(const learn::Huber& loss, const ScoreBlock& scores, const SlopeBlock& found);
void expected_slopes(const learn::Hinge& loss, const ScoreBlock& scores, const SlopeBlock& found);
/// By Gauss-Hermite quadrature, with as many points as the widest score needs.
void expected_slopes(const learn::Logistic& loss, const ScoreBlock& scores,
                     const SlopeBlock& found);

/// The model that a job ends with, taken to be normal. Matrices are row-major, p x p.
struct OutputDistribution {
  std::vector<double> mean{};
  std::vector<double> covariance{};
};

/// Mean and covariance of a sample of models.
OutputDistribution distribution_of(const std::vector<std::vector<double>>& models);

/// What a model's loss is estimated from: rows, loss, and how records' gradients are clipped.
struct EstimatedOn {
  const data::Rows& rows;
  learn::Losses loss{};
  double l2 = 0;
  learn::ClipIn norm = learn::ClipIn::kNone;
  double limit = 0;   // of a record's gradient
  size_t stride = 1;  // every stride-th row is used
  int threads = 1;
};

/// E f over a distribution of models, and the share of records whose gradient is clipped there.
struct OutputEstimate {
  double fitness = 0;
  double clipped = 0;
};
OutputEstimate estimate_output(const EstimatedOn& by, const OutputDistribution& distribution);

/// The largest slope that a record keeps when its gradient is clipped.
double slope_limit(learn::ClipIn norm, double limit, std::span<const double> z);

}  // namespace parley::forecast
