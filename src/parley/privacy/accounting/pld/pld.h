// Privacy loss distributions: the tightest accountant for lists of events fixed in advance.
//
// Losses on a grid, never better than the true ones (pld/loss_grid.h), convolved with every error
// added to delta (pld/composition.h). Gaussian events are merged into one beforehand, exactly; wide
// discrete ones are among them, at their distance (pld/wide.h). The
// step is chosen from the accuracy asked for: composing T releases with step h raises epsilon by
// about T h^2 (1 + tilt) / 12. It is found from coarse to fine, so the fine grid is computed once.
//
// NOT valid for noise or numbers of releases that were chosen after seeing answers: those need a
// filter (budget.h).
#pragma once

#include <cstddef>

#include "parley/privacy/accounting/event.h"
#include "parley/privacy/units.h"

namespace parley::privacy {

/// What a result may cost. With too few points it is looser, never wrong.
struct Accuracy {
  double relative = 1e-6;               // of epsilon, or of delta
  size_t points_max = size_t{1} << 21;  // 60 MB
};

/// Under replace-one, sampled events use a pair that is not proven to dominate (pld/pairs.h).
Result<double> pld_epsilon(const Events& events, Delta delta, Adjacency adjacency,
                           const Accuracy& accuracy = {});
Result<double> pld_delta(const Events& events, double epsilon, Adjacency adjacency,
                         const Accuracy& accuracy = {});

}  // namespace parley::privacy
