#include <algorithm>
#include <cmath>

#include "parley/forecast/choose/choose.h"
#include "parley/learn/fitness.h"
#include "parley/learn/objective.h"

namespace parley::forecast {
namespace {

using charter::Charter;

learn::ClipIn norm_of(const Charter& charter) {
  return charter.privacy.mechanism == charter::MechanismName::kLaplace ? learn::ClipIn::kL1
                                                                       : learn::ClipIn::kL2;
}

/// Lengths of the public records' gradients at the optimum, ascending.
std::vector<double> gradient_lengths(const Charter& charter, const PilotStatistics& statistics) {
  std::vector<double> lengths;
  const bool l1 = norm_of(charter) == learn::ClipIn::kL1;
  learn::each_gradient(statistics.loss, *statistics.rows, statistics.optimum.theta,
                       learn::ClipIn::kNone, 0, [&](std::span<const double> z, double slope) {
                         double sum = 0;
                         for (double value : z) sum += l1 ? std::fabs(value) : value * value;
                         lengths.push_back(std::fabs(slope) * (l1 ? sum : std::sqrt(sum)));
                       });
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

/// The smaller class's share of the public rows; of numbers, one half.
double smaller_class(const PilotStatistics& statistics) {
  if (!learn::two_classes(statistics.loss)) return .5;
  double positive = 0;
  for (size_t i = 0; i < statistics.rows->size(); ++i) positive += statistics.rows->label(i) > 0;
  return std::min(positive, statistics.count() - positive) / statistics.count();
}
/// With a class rarer than this, a clip must leave nearly all gradients as they are.
constexpr double kRareClass = .05;

std::vector<double> newton_step(const std::vector<double>& inverse,
                                const std::vector<double>& gradient) {
  const size_t p = gradient.size();
  std::vector<double> step(p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j) step[i] -= inverse[i * p + j] * gradient[j];
  return step;
}

}  // namespace

double rounded(double value) {
  const double places = 1 - std::floor(std::log10(value));
  const double unit = std::pow(10, std::fabs(places));
  const double digits = std::ceil((places > 0 ? value * unit : value / unit) * (1 - 1e-12));
  return places > 0 ? digits / unit : digits * unit;  // Either is exact, or rounds once.
}

double clip_at(const Charter& draft, const PilotStatistics& statistics, double share) {
  if (smaller_class(statistics) < kRareClass) share = std::max(share, .98);
  const auto lengths = gradient_lengths(draft, statistics);
  const double clip = lengths[static_cast<size_t>(share * static_cast<double>(lengths.size() - 1))];
  return clip > 0 ? rounded(clip) : rounded(std::max(lengths.back(), 1e-12));
}

std::vector<double> clips(const Charter& draft, const PilotStatistics& statistics,
                          const Given& given) {
  if (given("privacy.max_grad_norm")) return {draft.privacy.max_grad_norm};
  const auto lengths = gradient_lengths(draft, statistics);
  const double least = smaller_class(statistics) < kRareClass ? .98 : 0;
  std::vector<double> found;
  for (const double share : {.5, .7, .85, .93, .97, .98, .99, .997, .999, 1.0}) {
    if (share < least) continue;
    const auto at = static_cast<size_t>(share * static_cast<double>(lengths.size() - 1));
    const double clip = lengths[at] > 0 ? rounded(lengths[at]) : 0;
    if (clip > 0 && (found.empty() || clip > found.back() * 1.01)) found.push_back(clip);
  }
  return found;
}

std::optional<Clipped> clipped_at(const Charter& draft, const PilotStatistics& statistics,
                                  double clip) {
  const auto norm = norm_of(draft);
  const size_t p = statistics.dimension();
  Clipped found{.clip = clip, .theta = statistics.optimum.theta};
  for (int round = 0; round < 4; ++round) {
    found.hessian = learn::smoothed_hessian(statistics.loss, *statistics.rows, found.theta, norm,
                                            clip, statistics.l2);
    auto inverse = learn::inverse(found.hessian, p);
    if (!inverse) {  // The levels of a category add up to the bias: the Hessian is singular.
      const double floor = 1e-6 * learn::largest_eigenvalue(found.hessian, p);
      if (!(floor > 0)) return std::nullopt;
      inverse = learn::floored_inverse(found.hessian, p, floor);
    }
    found.inverse = *std::move(inverse);
    auto gradient =
        learn::mean_gradient(statistics.loss, *statistics.rows, found.theta, norm, clip);
    for (size_t j = 0; j < p; ++j) gradient[j] += statistics.l2 * found.theta[j];
    const auto step = newton_step(found.inverse, gradient);
    for (size_t j = 0; j < p; ++j)
      found.theta[j] = std::clamp(found.theta[j] + step[j], -statistics.box, statistics.box);
  }
  learn::Fitness fitness(statistics.loss, p, statistics.l2);
  fitness.add(*statistics.rows);
  found.bias = std::max(fitness.at(found.theta) - statistics.optimum.fitness, 0.0);
  return found;
}

double clipped_share(const Charter& charter, const PilotStatistics& statistics) {
  const auto lengths = gradient_lengths(charter, statistics);
  const auto longer = std::count_if(lengths.begin(), lengths.end(), [&](double length) {
    return length > charter.privacy.max_grad_norm;
  });
  return static_cast<double>(longer) / statistics.count();
}

}  // namespace parley::forecast
