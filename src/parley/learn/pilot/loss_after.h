// The expected loss, above the best one, after the steps of a schedule that starts at a known
// distance from the optimum. It serves the forecast of what remaining budget can still achieve
// after an alarm (theory (W11)).
#pragma once

#include <span>

#include "parley/learn/schedule/schedule.h"

namespace parley::learn {

/// Steps theta <- theta - a_k M (H (theta - best) + noise), with noise of this deviation on every
/// coordinate of a gradient, from a theta whose loss is `gap` above the best, spread evenly over
/// all directions of H; with the schedule's averages, without its box and cuts. H and M are
/// row-major and symmetric, M is the schedule's preconditioner.
///
/// With M = L L' and L' H L = U D U', the error in the coordinates x = (L U)^-1 (theta - best) has
/// the loss sum_j d_j x_j^2 / 2 and goes x_j <- (1 - a_k d_j) x_j - a_k (U' L' noise)_j: every
/// coordinate by itself. Directions that M leaves out stay where they are.
double loss_after(const Schedule& schedule, std::span<const double> hessian, double deviation,
                  double gap);

}  // namespace parley::learn
