// Expectations of clamped slopes under normal scores, many records at a time: where the time of a
// propagation goes. The same numbers as gaussian_loss.h to single precision.
#pragma once

#include "parley/base/math/eigen_names.h"
#include "parley/learn/loss.h"

namespace parley::forecast {

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

}  // namespace parley::forecast
