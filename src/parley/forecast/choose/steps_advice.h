// How many local steps between two aggregations (spec, vertical 3.3): privacy leaves it open, since
// noise grows as fast as aggregations become fewer; what limits it is that owners differ.
//
// A bound gives a floor that is surely safe. The forecasts themselves, at the same number of local
// steps in all, say more, and the advice is theirs.
#pragma once

#include "parley/forecast/forecast.h"
#include "parley/forecast/jobs.h"
#include "parley/forecast/pilot_statistics.h"

namespace parley::forecast {

struct StepsQuestion {
  const charter::Charter& charter;  // complete
  const PilotStatistics& statistics;
  const data::Rows& pilot;  // as published
  const Job& job;           // a FederatedJob
  const Prediction& prediction;
  double best = 0;   // f*
  double price = 0;  // of an aggregation, in relative fitness; 0: none is given
};

StepsAdvice advise_steps(const StepsQuestion& question);

/// Theorem 4's error with the dissimilarity of gradients in place of their largest size.
struct StepsBound {
  double smooth = 0, convex = 0;  // L and lambda
  double steps = 0;               // T
  double optima = 0;              // Gamma
  double gradients = 0;           // zeta^2
  double noise = 0;               // d sigma^2, of one step's gradient
  double at(double local_steps) const;
  /// Up to here the bracket at most doubles.
  int64_t floor() const;
  /// Where the error and a price per aggregation together are least, of at most `most`.
  int64_t priced(double price, int64_t most) const;
};

}  // namespace parley::forecast
