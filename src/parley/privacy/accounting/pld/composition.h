// The composition of many releases, from their losses on one grid.
//
// Finite losses add up, so the masses of the sum are a convolution, and powers of a transform.
// Three things keep its price low and its rounding harmless:
//
// Tilting. Masses are multiplied by exp(tilt loss) and made to sum to 1, convolved, and multiplied
//   back. With the tilt of Chernoff's bound at the epsilon asked for, the tilted sum is centred
//   there, and errors of the transform shrink with delta: any delta is computed to the same
//   relative accuracy, 1e-5 or 1e-200.
// A short window. Sums outside [top - width, top) come back inside it, with a sign, through the
//   transform. Chernoff bounds at three more points say how much of delta that can be.
// Error bounds. All of these are added to delta: the mass at infinity and above the window, what
//   may have come back, and the rounding of transforms and powers, in the 2-norm: each release
//   contributes its transform's error times the 2-norm of its masses (the others' transforms are
//   at most 1 in size), and what is asked for is a scalar product with a known vector.
#pragma once

#include <cmath>
#include <vector>

#include "parley/privacy/accounting/pld/loss_grid.h"

namespace parley::privacy {

struct Component {
  LossGrid grid;
  double count;
};
using Components = std::vector<Component>;

/// ln E[exp(t loss)] of all finite losses together, rounded up.
double log_moment(const Components& components, double t);

/// Where to look; any plan gives a valid answer, a good one gives a tight one.
struct Plan {
  double tilt = 0;
  double top = 0, width = 0;              // of the window
  double above = 0, right = 0, left = 0;  // points of the Chernoff bounds
  double lower = 0;                       // good for epsilons down to here
};

/// A plan for delta near `log_delta` at `epsilon`, good for epsilons at which delta is up to
/// exp(`margin`) times larger.
Plan plan_for(const Components& components, double epsilon, double log_delta, double margin = 6);

/// First answers, by Renyi divergences.
double renyi_epsilon(const Components& components, double log_delta);
double renyi_log_delta(const Components& components, double epsilon);

/// The number of points of a window of this width.
size_t window_points(double width, double step);

class Composition {
 public:
  /// All grids have the step width / a power of two.
  Composition(const Components& components, const Plan& plan);

  /// Never below the true delta; 1 below the window.
  double delta(double epsilon) const;

  /// An epsilon, found by bisection, at which the delta was computed to be small enough. At least
  /// 0; infinity if there is none.
  double epsilon(double delta) const;

  /// Below this epsilon no delta is known.
  double lowest() const;

 private:
  template <class Mass>
  void sum_from_the_top(size_t n, const Mass& mass);
  void convolve(const Components& components, const Plan& plan);
  void add_bounds(const Components& components, const Plan& plan);

  double step_, tilt_;
  int64_t first_ = 0;                         // of the window
  std::vector<double> from_here_;             // sum of p_k (1 - e^(e_i - e_k)) over k >= i
  std::vector<double> discounted_;            // sum of p_k e^(e_i - e_k) over k >= i, p_i included
  double fixed_ = 0;                          // added to every delta
  double log_scale_ = 0;                      // ln E[exp(tilt loss)]
  double rounding_ = 0;                       // times exp(log_scale - tilt epsilon)
  double right_ = 0, log_right_ = -HUGE_VAL;  // may come back: exp(log_right - right eps)
  double lowest_ = -HUGE_VAL;                 // no delta is known below
  double relative_ = 0;                       // of delta
  double shift_ = 0;                          // of epsilon: rounding of losses
};

}  // namespace parley::privacy
