// The two solvers of the penalised problem in own_loss.h, for all strengths of a pull: in closed
// form for squared loss, by Newton steps for other losses.
#pragma once

#include <span>
#include <vector>

#include "parley/learn/loss.h"
#include "parley/learn/personal/pull.h"
#include "parley/learn/solver/design.h"
#include "parley/learn/solver/moments.h"

namespace parley::learn {

/// (2 G + nu M) theta = 2 c + nu M s for G = mean zz', c = mean yz. With M = L L' and
/// L^-1 G L^-T = U diag(e) U' it is theta = L^-T U (2 e + nu)^-1 U' (2 L^-1 c + nu L' s).
std::vector<std::vector<double>> squared_models(const Moments& moments, const Pull& pull);

/// The rows that count, by their weights in the mean: 1 / (how many they are), or 0.
struct Used {
  const Design& design;
  std::span<const double> weights;
};

/// A loss with curvature, by damped Newton steps.
std::vector<std::vector<double>> newton_models(const Used& rows, const Losses& loss,
                                               const Pull& pull);

/// The step along one coordinate to the smallest mean loss + (ridge/2) step^2. Where all labels are
/// of one class the loss alone has no minimum, so that `ridge` must be above 0.
double best_step_along(const Used& rows, const Losses& loss, std::span<const double> theta,
                       size_t coordinate, double ridge);

}  // namespace parley::learn
