// Which owners of an asynchronous job are alike.
#include <algorithm>
#include <tuple>

#include "parley/base/result.h"
#include "parley/forecast/propagate/async_moments.h"

namespace parley::forecast {
namespace {

bool same(const AsyncGroup& a, const AsyncGroup& b) {
  return a.probability == b.probability && a.weight == b.weight && a.variance == b.variance &&
         a.rows == b.rows && a.relative_curvature == b.relative_curvature;
}

/// One group instead of several: probabilities and weights keep their sums, noise what it does to
/// theta_i on average.
AsyncGroup merged(std::span<const AsyncGroup> parts) {
  AsyncGroup all{.relative_curvature = 0};
  double noise = 0;
  for (const AsyncGroup& part : parts) {
    const double reach = part.weight / part.probability;
    all.owners += part.owners;
    all.probability += part.owners * part.probability;
    all.weight += part.owners * part.weight;
    all.relative_curvature += part.owners * part.weight * part.relative_curvature;
    all.rows += part.owners * part.rows;
    noise += part.owners * part.probability * reach * reach * part.variance;
  }
  noise /= all.probability;
  all.relative_curvature /= all.weight;
  all.probability /= all.owners, all.weight /= all.owners;
  all.rows /= all.owners;
  const double reach = all.weight / all.probability;
  all.variance = noise / (reach * reach);
  return all;
}

}  // namespace

std::vector<AsyncGroup> grouped(const learn::AsyncRule& rule, std::span<const double> variances,
                                std::span<const double> rows, size_t most,
                                std::span<const double> curvatures) {
  check(rule.owners.size() == variances.size() && rows.size() == variances.size() && most > 0);
  check(curvatures.empty() || curvatures.size() == rows.size());
  std::vector<AsyncGroup> kinds;
  for (size_t i = 0; i < variances.size(); ++i)
    kinds.push_back({1, rule.step / rule.owners[i].step, rule.owners[i].weight, variances[i],
                     rows[i], curvatures.empty() ? 1 : curvatures[i]});
  const auto reach = [](const AsyncGroup& g) { return g.weight / g.probability; };
  std::sort(kinds.begin(), kinds.end(), [&](const AsyncGroup& a, const AsyncGroup& b) {
    return std::tuple(reach(a), a.variance, a.probability, a.relative_curvature) <
           std::tuple(reach(b), b.variance, b.probability, b.relative_curvature);
  });
  std::vector<AsyncGroup> groups;
  for (const AsyncGroup& kind : kinds)
    if (!groups.empty() && same(groups.back(), kind))
      groups.back().owners += 1;
    else
      groups.push_back(kind);
  if (groups.size() <= most) return groups;
  std::vector<AsyncGroup> fewer;
  for (size_t g = 0; g < most; ++g) {
    const size_t begin = groups.size() * g / most, end = groups.size() * (g + 1) / most;
    fewer.push_back(merged(std::span(groups).subspan(begin, end - begin)));
  }
  return fewer;
}

}  // namespace parley::forecast
