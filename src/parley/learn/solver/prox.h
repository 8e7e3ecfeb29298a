// An owner's own model near a given one: the minimiser over the box of
//
//   F(theta) = mean clipped loss + (l2/2)|theta|^2 + (pull/2)|theta - center|^2,
//
// found with a certificate: F is (l2 + pull)-strongly convex, so a point whose F is at most g above
// the minimum is within sqrt(2 g / (l2 + pull)) of the minimiser.
#pragma once

#include <limits>
#include <vector>

#include "parley/data/any_rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/objective.h"

namespace parley::learn {

struct Prox {
  std::vector<double> center;
  double pull = 1;
  double l2 = 0;
  double box = 1;
  ClipIn norm = ClipIn::kNone;
  double limit = 0;
  double longest = std::numeric_limits<double>::infinity();  // a longer record counts as zero

  double convexity() const { return l2 + pull; }  // above 0
};

struct ProxMinimum {
  std::vector<double> theta;
  double distance = 0;  // from the minimiser, at most
};

/// Does not give up before it is within `distance`, unless rounding is in the way. Smooth losses by
/// Newton's method, the hinge by ascent on its dual. Sparse rows are made dense.
ProxMinimum prox_minimum(const Losses& loss, const data::AnyRows& rows, const Prox& prox,
                         double distance);

}  // namespace parley::learn
