#include "parley/forecast/value/pilot_distances.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "parley/forecast/uncertainty.h"
#include "parley/learn/pilot/whitened.h"

namespace parley::forecast {

using learn::Whitened, learn::mean_loss_of, learn::mean_of, learn::scores_of, learn::slopes_of;

namespace {

/// Sum over records of the squared length of their gradients.
double sum_of_squares(std::span<const double> slopes, std::span<const double> lengths) {
  double sum = 0;
  for (size_t i = 0; i < slopes.size(); ++i) sum += slopes[i] * slopes[i] * lengths[i] * lengths[i];
  return sum;
}

/// Mean over records of the squared length of their gradients, each cut to `clip`.
double mean_square(std::span<const double> slopes, std::span<const double> lengths, double clip) {
  double sum = 0;
  for (size_t i = 0; i < slopes.size(); ++i) {
    const double length = std::min(std::fabs(slopes[i]) * lengths[i], clip);
    sum += length * length / static_cast<double>(slopes.size());
  }
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

/// The mean loss of the best model without features. Of two classes their shares are all it needs,
/// and log odds beyond 30 would say no more.
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
  const auto lengths = whitened.lengths(rows);
  const auto in = slopes_of(pilot.loss, rows, scores.in_sample);
  const auto out = slopes_of(pilot.loss, rows, scores.left_out);
  PilotDistances found{.rows = rows.size(), .columns = pilot.dimension()};
  found.sampling = (trace_of_covariance(whitened, rows, in, lengths, 0) +
                    trace_of_covariance(whitened, rows, out, lengths, 1)) /
                   2;
  std::vector<double> gradients;
  for (size_t i = 0; i < in.size(); ++i) gradients.push_back(std::fabs(in[i]) * lengths[i]);
  found.clip = quantile(gradients, .95);
  found.square = mean_square(out, lengths, found.clip);
  const double middle = (mean_loss_of(pilot.loss, rows, scores.in_sample) +
                         mean_loss_of(pilot.loss, rows, scores.left_out)) /
                        2;
  found.constant = 2 * std::max(constant_loss(pilot) - middle, 1e-9);
  return found;
}

double clipped_square(const PilotStatistics& pilot, const PilotScores& scores, double clip) {
  const auto lengths = Whitened(pilot.hessian, pilot.dimension()).lengths(*pilot.rows);
  return mean_square(slopes_of(pilot.loss, *pilot.rows, scores.left_out), lengths, clip);
}

double distance_from_pilot(const PilotStatistics& pilot, const data::Rows& rows) {
  check(rows.size() >= 2);
  const learn::Whitened whitened(pilot.hessian, pilot.dimension());
  const auto slopes = slopes_of(pilot.loss, rows, learn::scores_of(rows, pilot.optimum.theta));
  const auto n = static_cast<double>(rows.size());
  const double mean = whitened.length(learn::mean_of(rows, slopes));
  const double squares = sum_of_squares(slopes, whitened.lengths(rows));
  return (n * n * mean * mean - squares) / (n * (n - 1));
}

}  // namespace parley::forecast
