#include "parley/forecast/expect/expected_slopes.h"

#include <Eigen/Core>
#include <numbers>

#include "parley/forecast/expect/gaussian_loss.h"
#include "parley/forecast/expect/quadrature.h"

namespace parley::forecast {
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

/// E of v clamped_block to +-limit, v ~ N(mean, deviation^2), and of its derivative by the score,
/// of which v is twice.
void clamped_block(const Floats& mean, const Floats& deviation, const Floats& limit,
                   const SlopeBlock& found) {
  const Floats s = deviation.max(2 * static_cast<float>(kTinyDeviation));
  const Normal low = normal((-limit - mean) / s), high = normal((limit - mean) / s);
  const Floats inside = high.share - low.share;
  found.slope =
      mean * inside - s * (high.density - low.density) + limit * ((1 - high.share) - low.share);
  found.curvature = 2 * inside;
}

/// Of positive records one weight, of the others another.
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

}  // namespace parley::forecast
