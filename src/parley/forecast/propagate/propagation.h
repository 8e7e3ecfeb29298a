// Gaussian moment propagation (spec, horizontal 4.4): where a schedule's output ends up for any
// loss, clip and box. The iterate is taken to be normal; each round's slope and curvature are
// expectations over it, record by record of the public rows, and the box acts on every coordinate.
//
// Slope and curvature change slowly once the iterate has settled: after the first rounds they are
// looked up in rounds further and further apart, and continued between them. The hinge loss, whose
// kink few records see at a time, is looked up in every round.
#pragma once

#include <span>
#include <vector>

#include "parley/forecast/expect/output_distribution.h"
#include "parley/forecast/expect/records.h"
#include "parley/learn/schedule/schedule.h"

namespace parley::forecast {

struct Propagation {
  const data::Rows& rows;
  learn::Losses loss{};
  double l2 = 0;
  double box = 0;
  learn::ClipIn norm = learn::ClipIn::kNone;
  double limit = 0;                           // of a record's gradient
  std::span<const double> variance_factor{};  // times the variance, round by round; empty: 1 in all
  std::vector<double> start_spread{};  // covariance of the start, where it is random; or empty
  size_t looked_at = 0;                // rows, about; 0: all
  int threads = 1;

  /// All rows, as models are judged by them.
  Estimated estimated(size_t stride = 1) const {
    return {rows, loss, l2, norm, limit, stride, threads};
  }
};

struct Propagated {
  OutputDistribution output{};
  double smallest_gain = 1;  // below 0.9 the box decides, and normal moments no longer tell
};

/// The rows of a propagation, ready for any number of schedules and variances.
class Propagator {
 public:
  explicit Propagator(const Propagation& how);

  /// `variance` is that of the noise on one coordinate of the owners' weighted mean gradient.
  Propagated run(const learn::Schedule& schedule, double variance) const;
  /// E f of the output on the rows looked at, which have an optimum of their own.
  double fitness(const Propagated& found) const;

 private:
  const Propagation& how_;
  size_t stride_;
  Records records_;
};

}  // namespace parley::forecast
