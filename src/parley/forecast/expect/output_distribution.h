// Where a job's output ends up, and how good it is there.
#pragma once

#include <span>
#include <vector>

#include "parley/data/rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/objective.h"

namespace parley::forecast {

/// A normal distribution of models. Matrices are row-major, p x p.
struct OutputDistribution {
  std::vector<double> mean{};
  std::vector<double> covariance{};
};

/// That of models drawn from it.
OutputDistribution distribution_of(const std::vector<std::vector<double>>& models);

/// What models are judged by: records, the loss, and how records' gradients are clipped.
struct Estimated {
  const data::Rows& rows;
  learn::Losses loss{};
  double l2 = 0;
  learn::ClipIn norm = learn::ClipIn::kNone;
  double limit = 0;   // of a record's gradient
  size_t stride = 1;  // every so many rows are looked at
  int threads = 1;
};

/// E f over a distribution of models, and the share of records whose gradient is clipped there.
struct AtOutput {
  double fitness = 0;
  double clipped = 0;
};
AtOutput at_output(const Estimated& by, const OutputDistribution& distribution);

/// The largest slope that the clip leaves a record.
double slope_limit(learn::ClipIn norm, double limit, std::span<const double> z);

}  // namespace parley::forecast
