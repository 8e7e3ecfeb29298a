#include "parley/forecast/value/own_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/base/result.h"

namespace parley::forecast {
namespace {

/// The distance of the mean of two models with independent errors, weighted by their inverses.
double combined(double one, double other) {
  if (!(one > 0 && other > 0)) return 0;
  return 1 / (1 / one + 1 / other);
}

}  // namespace

double sampling_distance(double sampling, double rows, size_t columns) {
  return sampling / std::max(rows - static_cast<double>(columns) - 1, rows / 3);
}

Pulled best_pull(double own, double other, double shared) {
  const double apart = own + other - 2 * shared;
  if (!(apart > 0)) return {own / 2, other / 2, std::min(own, other) / 2, 0};
  const double weight = std::clamp((other - shared) / apart, 0.0, 1.0);
  const double rest = 1 - weight;
  const double best = weight * weight * own + rest * rest * other + 2 * weight * rest * shared;
  return {own / 2, other / 2, best / 2,
          weight > 0 ? rest / weight : std::numeric_limits<double>::infinity()};
}

OwnerPlace place_of(size_t owner, std::span<const double> rows, std::span<const double> weights) {
  check(owner < rows.size() && rows.size() == weights.size());
  OwnerPlace place{.rows = rows[owner], .weight = weights[owner]};
  for (size_t j = 0; j < weights.size(); ++j)
    if (j != owner) place.others += weights[j] * weights[j];
  return place;
}

double joint_rows(std::span<const double> rows, std::span<const double> weights) {
  check(rows.size() == weights.size());
  double sum = 0;
  for (size_t j = 0; j < rows.size(); ++j) sum += weights[j] * weights[j] / rows[j];
  return 1 / sum;
}

OwnFigures own_figures(const OwnerPlace& owner, const Distances& distances) {
  const double rest = 1 - owner.weight;
  const double unlike = distances.own_tau * rest * rest + distances.tau * owner.others;
  const auto pulled = [&](double distance) { return combined(distances.own, distance) / 2; };
  return {.alone = pulled(distances.constant + distances.own_tau),
          .own_public = pulled(distances.own_tau + distances.pilot),
          .joint = (unlike + distances.joint) / 2,
          .unlike = unlike / 2,
          .personal = pulled(unlike + combined(distances.pilot, distances.joint))};
}

}  // namespace parley::forecast
