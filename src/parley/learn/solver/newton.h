// Newton's method over a box for f(theta) = (l2/2)|theta|^2 + mean of phi_i(z_i . theta), with a
// search along each step that needs slopes only. For piecewise quadratic terms it is the semismooth
// method, which ends after finitely many steps.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "parley/learn/solver/design.h"

namespace parley::learn {

/// The convex terms phi_i, as functions of their scores; rows [begin, end) at a time.
class Terms {
 public:
  virtual ~Terms() = default;
  virtual void slopes(size_t begin, size_t end, const double* scores, double* out) const = 0;
  virtual void curvatures(size_t begin, size_t end, const double* scores, double* out) const = 0;
};

struct Problem {
  const Design& design;
  double l2 = 0;
  double box = 0;
};

/// Where the method stands.
struct Iterate {
  std::vector<double> theta{};
  std::vector<double> scores{}, slopes{};        // one per row
  std::vector<double> mean_slope{}, gradient{};  // of the terms, of f; one per column
  double gap = 0;                                // f here is at most this far above its minimum
};

/// Starts at theta = 0.
Iterate origin(const Problem& problem);

/// Steps until done(iterate), which it asks first with slopes, gradient and gap up to date; false
/// if it gave up before, because steps no longer make the gap smaller.
bool newton(const Problem& problem, const Terms& terms, Iterate& at,
            const std::function<bool(const Iterate&)>& done);

}  // namespace parley::learn
