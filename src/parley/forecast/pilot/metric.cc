#include "parley/forecast/pilot/metric.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>

#include "parley/base/memory/parallel.h"
#include "parley/learn/fitness.h"
#include "parley/learn/metrics.h"
#include "parley/learn/pilot/whitened.h"

namespace parley::forecast {

using learn::Whitened, learn::mean_loss_of, learn::mean_of, learn::scores_of, learn::slopes_of;

namespace {

std::span<const double> labels_of(const data::Rows& rows) { return {rows.labels(), rows.size()}; }

/// Scores by ten-fold cross-validation.
std::vector<double> folded_scores(const PilotStatistics& pilot, int threads) {
  const data::Rows& rows = *pilot.rows;
  const size_t folds = std::min<size_t>(10, rows.size());
  std::vector<double> scores(rows.size());
  each_in_parallel(threads, folds, [&](size_t fold) {
    data::Rows others(rows.columns());
    for (size_t i = 0; i < rows.size(); ++i)
      if (i % folds != fold) others.add(rows.row(i), rows.label(i));
    learn::Fitness fitness(pilot.loss, rows.columns(), pilot.l2);
    fitness.add(others);
    const auto all = learn::scores_of(rows, fitness.minimum(pilot.box).theta);
    for (size_t i = fold; i < rows.size(); i += folds) scores[i] = all[i];
  });
  return scores;
}

double variance_of(std::span<const double> influence, std::span<const uint32_t> sites) {
  double alone = 0, together = 0;
  for (double value : influence) alone += value * value;
  if (sites.empty()) return alone;
  std::map<uint32_t, double> sums;
  for (size_t i = 0; i < influence.size(); ++i) sums[sites[i]] += influence[i];
  const auto count = static_cast<double>(sums.size());
  if (count < 2) return alone;
  for (const auto& [site, sum] : sums) together += sum * sum;
  return std::max(alone, together * count / (count - 1));
}

/// Mean square, mean log loss or AUC, and the influence of every row on it.
struct Measured {
  double value = 0;
  std::vector<double> influence{};
};
Measured measured(Measure measure, const data::Rows& rows, std::span<const double> scores) {
  if (measure == Measure::kAuc) {
    const double auc = *learn::auc(scores, labels_of(rows));
    return {auc, learn::influences_on_auc(scores, labels_of(rows))};
  }
  std::vector<double> values;
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double u = scores[i], y = rows.label(i);
    values.push_back(measure == Measure::kRmse ? (u - y) * (u - y)
                                               : learn::Logistic{}.value(u, y > 0 ? 1 : -1));
    sum += values.back();
  }
  return {sum / static_cast<double>(rows.size()), learn::influences_on_mean(values)};
}

Result<void> check_measure(const PilotStatistics& pilot, Measure measure) {
  const bool classes = learn::two_classes(pilot.loss);
  if (pilot.rows->size() < 2)
    return Error{Code::kInvalid, "a metric needs two public rows or more"};
  if (measure == Measure::kLogLoss && !std::holds_alternative<learn::Logistic>(pilot.loss))
    return Error{Code::kInvalid, "log loss needs the logistic loss, whose scores are log odds",
                 "Use auc, or rmse for a value."};
  if (measure == Measure::kRmse && classes)
    return Error{Code::kInvalid, "rmse needs a target that is a value", "Use auc."};
  if (measure == Measure::kAuc &&
      !learn::auc(labels_of(*pilot.rows), labels_of(*pilot.rows)).has_value())
    return Error{Code::kInvalid, "the public rows hold one class only, which defines no auc",
                 "Take public rows of both classes."};
  return {};
}

/// Whether the measure is the loss that is trained, or its root.
bool trains_it(const PilotStatistics& pilot, Measure measure) {
  if (measure == Measure::kRmse) return std::holds_alternative<learn::Squared>(pilot.loss);
  const auto* logistic = std::get_if<learn::Logistic>(&pilot.loss);
  return measure == Measure::kLogLoss && logistic && *logistic == learn::Logistic{};
}

}  // namespace

PilotScores pilot_scores(const PilotStatistics& pilot, int threads) {
  auto scores = learn::scores_of(*pilot.rows, pilot.optimum.theta);
  auto left_out = std::holds_alternative<learn::Hinge>(pilot.loss)
                      ? folded_scores(pilot, threads)
                      : learn::left_out_scores(pilot.loss, *pilot.rows, pilot.hessian, scores);
  return {std::move(scores), std::move(left_out)};
}

double PilotMetric::within(double value) const {
  const double least = std::fmax(value, 0);  // NaN becomes 0.
  return measure == Measure::kAuc ? std::min(least, 1.0) : least;
}

double PilotMetric::best_loss(double tau) const { return std::max(loss - tau / 2, .3 * loss); }

double PilotMetric::at(double excess, double tau) const {
  const double moved = slope * (excess - (loss - best_loss(tau)));
  if (measure == Measure::kAuc) return within(middle - moved);
  if (measure == Measure::kLogLoss) return within(middle + moved);
  const double root = middle / scale;
  return scale * std::sqrt(std::fmax(root * root + moved, 0));
}

Result<PilotMetric> pilot_metric(const PilotStatistics& pilot, const PilotScores& scores,
                                 Measure measure, double scale, std::span<const uint32_t> sites) {
  TRY(check_measure(pilot, measure));
  check(sites.empty() || sites.size() == pilot.rows->size());
  const Measured in = measured(measure, *pilot.rows, scores.in_sample);
  const Measured out = measured(measure, *pilot.rows, scores.left_out);
  const double loss_in = mean_loss_of(pilot.loss, *pilot.rows, scores.in_sample);
  const double loss_out = mean_loss_of(pilot.loss, *pilot.rows, scores.left_out);
  PilotMetric found{.measure = measure, .in_sample = in.value, .left_out = out.value};
  found.loss = (loss_in + loss_out) / 2;
  const double worse = measure == Measure::kAuc ? in.value - out.value : out.value - in.value;
  const double ratio = worse / std::max(loss_out - loss_in, 1e-12);
  found.slope = trains_it(pilot, measure) ? 1 : std::clamp(ratio, .3, 3.0);
  double variance = variance_of(out.influence, sites);
  if (measure == Measure::kRmse) {
    found.scale = scale;
    found.in_sample = scale * std::sqrt(in.value), found.left_out = scale * std::sqrt(out.value);
    variance = out.value > 0 ? scale * scale * variance / (4 * out.value) : 0;
  }
  found.middle = (found.in_sample + found.left_out) / 2;
  const double apart = (found.in_sample - found.left_out) / 2;
  found.error = std::sqrt(variance + apart * apart / 3);
  if (!std::isfinite(found.middle + found.error + found.loss))
    return Error{Code::kInvalid, "the public rows give no finite metric"};
  return found;
}

double rows_per_column(const PilotStatistics& pilot) {
  size_t positives = 0;
  for (double label : labels_of(*pilot.rows)) positives += label > 0;
  const size_t all = pilot.rows->size();
  const size_t least = learn::two_classes(pilot.loss) ? std::min(positives, all - positives) : all;
  return static_cast<double>(least) / static_cast<double>(pilot.dimension());
}

namespace {

/// Sum over records of the squared length of their gradients.
double sum_of_squares(std::span<const double> slopes, std::span<const double> lengths) {
  double sum = 0;
  for (size_t i = 0; i < slopes.size(); ++i) sum += slopes[i] * slopes[i] * lengths[i] * lengths[i];
  return sum;
}

/// tr(H^-1 covariance of slope z), with divisor n - lost.
double trace_of_covariance(const learn::Whitened& whitened, const data::Rows& rows,
                           std::span<const double> slopes, std::span<const double> lengths,
                           double lost) {
  const auto n = static_cast<double>(rows.size());
  const double mean = whitened.length(learn::mean_of(rows, slopes));
  return (sum_of_squares(slopes, lengths) - n * mean * mean) / (n - lost);
}

/// The part of each record's z in the intercept, as a length; 0 without one.
std::vector<double> intercept_lengths(const PilotStatistics& pilot, const data::Rows& rows) {
  std::vector<double> found(rows.size());
  if (!pilot.bias) return found;
  const double curvature = pilot.hessian[*pilot.bias * (pilot.dimension() + 1)];
  if (!(curvature > 0)) return found;
  for (size_t i = 0; i < rows.size(); ++i)
    found[i] = rows.row(i)[*pilot.bias] / std::sqrt(curvature);
  return found;
}

/// The variance of slope times length, which has a sign, with divisor n - lost.
double variance_of_products(std::span<const double> slopes, std::span<const double> lengths,
                            double lost) {
  const auto n = static_cast<double>(slopes.size());
  double mean = 0;
  for (size_t i = 0; i < slopes.size(); ++i) mean += slopes[i] * lengths[i] / n;
  return (sum_of_squares(slopes, lengths) - n * mean * mean) / (n - lost);
}

Parts parts_of(double all, double intercept) { return {all - intercept, intercept}; }

/// The smallest value of a convex function between two numbers, by golden section.
template <class Function>
double least_between(double low, double high, const Function& at) {
  constexpr double kGolden = 0.6180339887498949;
  for (int i = 0; i < 80; ++i) {
    const double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
    if (at(left) < at(right))
      high = right;
    else
      low = left;
  }
  return at((low + high) / 2);
}

/// The mean loss of the best constant score. For two classes it follows from their shares; log odds
/// beyond 30 make no difference.
double constant_loss(const PilotStatistics& pilot) {
  const std::span<const double> labels{pilot.rows->labels(), pilot.rows->size()};
  const auto n = static_cast<double>(labels.size());
  double mean = 0, positive = 0;
  for (double label : labels) mean += label / n, positive += (label > 0) / n;
  return std::visit(
      [&](const auto& loss) {
        if (loss.kTwoClasses)
          return least_between(-30, 30, [&](double score) {
            return positive * loss.value(score, 1) + (1 - positive) * loss.value(score, -1);
          });
        const auto at = [&](double score) {
          double sum = 0;
          for (double label : labels) sum += loss.value(score, label);
          return sum / n;
        };
        if (std::is_same_v<decltype(loss), const learn::Squared&>) return at(mean);
        const auto [low, high] = std::minmax_element(labels.begin(), labels.end());
        return least_between(*low, *high, at);
      },
      pilot.loss);
}

}  // namespace

PilotDistances pilot_distances(const PilotStatistics& pilot, const PilotScores& scores) {
  const data::Rows& rows = *pilot.rows;
  const learn::Whitened whitened(pilot.hessian, pilot.dimension());
  const auto lengths = whitened.lengths(rows), shifts = intercept_lengths(pilot, rows);
  const auto in = slopes_of(pilot.loss, rows, scores.in_sample);
  const auto out = slopes_of(pilot.loss, rows, scores.left_out);
  PilotDistances found{.rows = rows.size(), .columns = pilot.dimension()};
  found.sampling =
      parts_of((trace_of_covariance(whitened, rows, in, lengths, 0) +
                trace_of_covariance(whitened, rows, out, lengths, 1)) /
                   2,
               (variance_of_products(in, shifts, 0) + variance_of_products(out, shifts, 1)) / 2);
  std::vector<double> gradients;
  for (size_t i = 0; i < in.size(); ++i) gradients.push_back(std::fabs(in[i]) * lengths[i]);
  found.clip = quantile(gradients, .95);
  const double middle = (mean_loss_of(pilot.loss, rows, scores.in_sample) +
                         mean_loss_of(pilot.loss, rows, scores.left_out)) /
                        2;
  found.constant = 2 * std::max(constant_loss(pilot) - middle, 1e-9);
  return found;
}

Parts clipped_square(const PilotStatistics& pilot, const PilotScores& scores, double clip) {
  const auto lengths = Whitened(pilot.hessian, pilot.dimension()).lengths(*pilot.rows);
  const auto shifts = intercept_lengths(pilot, *pilot.rows);
  const auto slopes = slopes_of(pilot.loss, *pilot.rows, scores.left_out);
  double all = 0, intercept = 0;
  for (size_t i = 0; i < slopes.size(); ++i) {
    const double length = std::fabs(slopes[i]) * lengths[i];
    const double kept = slopes[i] * (length > clip ? clip / length : 1);
    all += std::pow(kept * lengths[i], 2) / pilot.count();
    intercept += std::pow(kept * shifts[i], 2) / pilot.count();
  }
  return parts_of(all, intercept);
}

Parts distance_from_pilot(const PilotStatistics& pilot, const data::Rows& rows) {
  check(rows.size() >= 2);
  const learn::Whitened whitened(pilot.hessian, pilot.dimension());
  const auto slopes = slopes_of(pilot.loss, rows, learn::scores_of(rows, pilot.optimum.theta));
  const auto shifts = intercept_lengths(pilot, rows);
  const auto n = static_cast<double>(rows.size());
  const auto unbiased = [&](double mean, std::span<const double> lengths) {
    return (n * n * mean * mean - sum_of_squares(slopes, lengths)) / (n * (n - 1));
  };
  double shift = 0;
  for (size_t i = 0; i < slopes.size(); ++i) shift += slopes[i] * shifts[i] / n;
  return parts_of(unbiased(whitened.length(learn::mean_of(rows, slopes)), whitened.lengths(rows)),
                  unbiased(shift, shifts));
}

}  // namespace parley::forecast
