// Gaussian moment propagation (spec, horizontal 4.4): where a schedule's output ends up for any
// loss, clip and box. The iterate is taken to be normal; each round's slope and curvature are
// expectations over it, record by record of the public rows, and the box acts on every coordinate.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/learn/data/rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/objective.h"
#include "parley/learn/schedule.h"

namespace parley::forecast {

/// A normal distribution of models. Matrices are row-major, p x p.
struct Landing {
  std::vector<double> mean{};
  std::vector<double> covariance{};
};

struct Propagation {
  const learn::Rows& rows;
  learn::Losses loss{};
  double l2 = 0;
  double box = 0;
  learn::ClipIn norm = learn::ClipIn::kNone;
  double limit = 0;                    // of a record's gradient
  std::vector<double> start_spread{};  // covariance of the start, where it is random; or empty
  size_t stride = 1;                   // every so many rows are looked at
  int threads = 1;
};

struct Propagated {
  Landing output{};
  double expected_fitness = 0;  // E f(output) on the rows looked at, of the loss as it is
  double smallest_gain = 1;     // below 0.9 the box decides, and normal moments no longer tell
};

/// `variance` is that of the noise on one coordinate of the owners' weighted mean gradient.
Propagated propagate(const Propagation& how, const learn::Schedule& schedule, double variance);

/// E f over a distribution of models, and the share of records whose gradient is clipped there.
struct AtLanding {
  double fitness = 0;
  double clipped = 0;
};
AtLanding at_landing(const Propagation& how, const Landing& landing);

}  // namespace parley::forecast
