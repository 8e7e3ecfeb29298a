#include "parley/learn/pilot/wrong_pilot.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "parley/base/math/chi_square.h"
#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"
#include "parley/learn/fitness.h"
#include "parley/learn/pilot/whitened.h"
#include "parley/learn/solver/products.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

constexpr double kQuantile = .999;
constexpr size_t kHalvings = 8;

double norm_in(std::span<const double> z, ClipIn norm) {
  double sum = 0;
  for (double value : z) sum += norm == ClipIn::kL1 ? std::fabs(value) : value * value;
  return norm == ClipIn::kL1 ? sum : std::sqrt(sum);
}

/// Slopes of these scores, each cut so that slope z is within the clip.
std::vector<double> clipped_slopes(const PilotFit& pilot, std::span<const double> scores,
                                   const RecordClip& clip) {
  auto slopes = slopes_of(pilot.loss, *pilot.rows, scores);
  if (clip.norm == ClipIn::kNone) return slopes;
  for (size_t i = 0; i < slopes.size(); ++i) {
    const double most = clip.limit / norm_in(pilot.rows->row(i), clip.norm);
    slopes[i] = std::clamp(slopes[i], -most, most);
  }
  return slopes;
}

/// The covariance of slope z, divisor n - 1.
std::vector<double> covariance_of(const data::Rows& rows, std::span<const double> slopes) {
  const size_t p = rows.columns();
  std::vector<double> squares;
  for (double slope : slopes) squares.push_back(slope * slope);
  ProductSum sum(p, rows.stride());
  sum.add(rows.values(), squares.data(), rows.size());
  sum.flush();
  const auto mean = mean_of(rows, slopes);
  const auto n = static_cast<double>(rows.size());
  std::vector<double> found(p * p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      found[i * p + j] = (sum.at(i, j) - n * mean[i] * mean[j]) / std::fmax(n - 1, 1);
  return found;
}

/// The two halves of a random order of rows.
struct Halves {
  std::shared_ptr<data::Rows> one, other;
};
Halves halves_of(const data::Rows& rows, SeededRandom& random) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(random.index(static_cast<int>(i)))]);
  Halves halves{std::make_shared<data::Rows>(rows.columns()),
                std::make_shared<data::Rows>(rows.columns())};
  for (size_t k = 0; k < order.size(); ++k)
    (k < order.size() / 2 ? halves.one : halves.other)
        ->add(rows.row(order[k]), rows.label(order[k]));
  return halves;
}

}  // namespace

PilotFit fit_pilot(const Losses& loss, double l2, double box,
                   std::shared_ptr<const data::Rows> rows) {
  Fitness fitness(loss, rows->columns(), l2);
  fitness.add(*rows);
  auto theta = fitness.minimum(box).theta;
  auto hessian = smoothed_hessian(loss, *rows, theta, ClipIn::kNone, 0, l2);
  return {std::move(rows), loss, l2, box, std::move(theta), true, std::move(hessian)};
}

PredictedAnswer predicted_answer(const PilotFit& pilot, const RecordClip& clip) {
  const auto scores = scores_of(*pilot.rows, pilot.theta);
  const size_t p = pilot.dimension();
  const auto slopes = clipped_slopes(
      pilot,
      pilot.fitted ? left_out_scores(pilot.loss, *pilot.rows, pilot.hessian, scores) : scores,
      clip);
  PredictedAnswer found{mean_of(*pilot.rows, clipped_slopes(pilot, scores, clip)),
                        covariance_of(*pilot.rows, slopes)};
  double square = 0;
  for (double slope : slopes) square += slope * slope / pilot.count();
  for (size_t j = 0; j < p; ++j) found.covariance[j * (p + 1)] += 3 / pilot.count() * square;
  return found;
}

Result<Difference> judge(std::span<const double> difference, std::span<const double> covariance,
                         std::span<const double> hessian) {
  const auto factor = Cholesky::of(covariance, difference.size());
  if (!factor || !std::all_of(difference.begin(), difference.end(),
                              [](double value) { return std::isfinite(value); }))
    return Error{Code::kInvalid, "the pilot does not say how far the first answer may lie from it",
                 "Take public rows that differ from each other."};
  const Whitened whitened(hessian, difference.size());
  const double length = whitened.length(difference);
  return Difference{dot(difference, factor->solve(difference)),
                    (length * length - whitened.trace(covariance)) / 2};
}

double pilot_dispersion(const PilotFit& pilot, const RecordClip& clip) {
  if (pilot.rows->size() < 4) return 1;
  SeededRandom random(1, 0);
  double sum = 0;
  for (size_t k = 0; k < kHalvings; ++k) {
    const Halves halves = halves_of(*pilot.rows, random);
    const PilotFit half = fit_pilot(pilot.loss, pilot.l2, pilot.box, halves.one);
    const FirstAnswer answer{
        mean_gradient(half.loss, *halves.other, half.theta, clip.norm, clip.limit),
        static_cast<double>(halves.other->size())};
    const auto found = check_pilot(half, predicted_answer(half, clip), answer, 1);
    sum += found ? found->statistic / static_cast<double>(half.dimension()) : 1;
  }
  return std::max(1.0, sum / kHalvings);
}

Result<PilotCheck> check_pilot(const PilotFit& pilot, const PredictedAnswer& predicted,
                               const FirstAnswer& answer, double dispersion) {
  const size_t p = pilot.dimension();
  check(answer.gradient.size() == p && answer.rows > 0);
  std::vector<double> difference(p), covariance = predicted.covariance;
  for (size_t j = 0; j < p; ++j) difference[j] = answer.gradient[j] - predicted.gradient[j];
  const double records = 1 / pilot.count() + 1 / answer.rows;
  const double unlike = answer.tau / static_cast<double>(p) * answer.squares;
  for (size_t j = 0; j < p * p; ++j)
    covariance[j] = covariance[j] * records + unlike * pilot.hessian[j];
  for (size_t j = 0; j < p; ++j) covariance[j * (p + 1)] += answer.deviation * answer.deviation;
  const Difference found = TRY(judge(difference, covariance, pilot.hessian));
  PilotCheck result{.statistic = found.statistic, .dispersion = dispersion, .gap = found.gap};
  result.threshold =
      dispersion * wilson_hilferty(static_cast<double>(p), normal_quantile(kQuantile));
  result.alarm = !(result.statistic <= result.threshold);
  return result;
}

Result<PilotCheck> check_pilot(const PilotFit& pilot, const RecordClip& clip,
                               const FirstAnswer& answer) {
  const PredictedAnswer predicted = predicted_answer(pilot, clip);
  const PilotCheck plain = TRY(check_pilot(pilot, predicted, answer, 1));
  return plain.alarm ? check_pilot(pilot, predicted, answer, pilot_dispersion(pilot, clip)) : plain;
}

namespace {

/// The commonest of some values, which it sorts.
double commonest_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  size_t most = 0, run = 0;
  double found = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    run = i > 0 && values[i] == values[i - 1] ? run + 1 : 1;
    if (run > most) most = run, found = values[i];
  }
  return found;
}

}  // namespace

std::vector<size_t> thin_columns(const data::Rows& pilot, size_t least) {
  std::vector<size_t> found;
  // Where fewer than `least` rows differ from a value, most of the first 2 least rows have it.
  std::vector<double> first(std::min(pilot.size(), 2 * least));
  std::optional<size_t> bias;
  for (size_t j = 0; j < pilot.columns(); ++j) {
    for (size_t i = 0; i < first.size(); ++i) first[i] = pilot.row(i)[j];
    const double common = commonest_of(first);
    size_t others = 0;
    for (size_t i = 0; i < pilot.size() && others < least; ++i) others += pilot.row(i)[j] != common;
    if (others == 0 && pilot.size() > 0 && common != 0)
      bias = j;  // Before it: a level of all rows.
    if (others < least) found.push_back(j);
  }
  if (bias) std::erase(found, *bias);
  return found;
}

std::string names_of(std::span<const size_t> columns, const std::vector<std::string>& features) {
  constexpr size_t kNamed = 8;
  std::string text;
  for (size_t k = 0; k < std::min(columns.size(), kNamed); ++k)
    text += (k > 0 ? ", " : "") + features[columns[k]];
  if (columns.size() > kNamed) text += " and " + std::to_string(columns.size() - kNamed) + " more";
  return text;
}

}  // namespace parley::learn
