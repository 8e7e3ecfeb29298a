#include "parley/forecast/expect/gaussian_loss.h"

#include <algorithm>

#include "parley/forecast/expect/quadrature.h"

namespace parley::forecast {
namespace {

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

}  // namespace parley::forecast
