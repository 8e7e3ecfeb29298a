// Rule "statistics": one answer of all second moments, whose noise goes through a matrix inverse.
// What that does is drawn, on the public rows' moments: a draw costs no pass over the rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "parley/base/math/noise_floor.h"
#include "parley/base/math/seeded_random.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/exact.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/statistics.h"

namespace parley::forecast {
namespace {

constexpr size_t kDraws = 400;

double length_of(std::span<const double> z, double weighted_label, learn::ClipIn norm) {
  return norm == learn::ClipIn::kL1 ? learn::statistics_length<L1>(z, weighted_label)
                                    : learn::statistics_length<L2>(z, weighted_label);
}

/// The upper triangle of the mean of z z' and then the mean of y z, of rows shrunk as owners do.
std::vector<double> moments_of(const PilotStatistics& statistics, const StatisticsJob& job) {
  const size_t p = statistics.dimension();
  std::vector<double> sums(p * (p + 3) / 2);
  for (size_t i = 0; i < statistics.rows->size(); ++i) {
    const auto z = statistics.rows->row(i);
    const double label = std::clamp(statistics.rows->label(i), -job.label, job.label);
    const double length = length_of(z, label * job.label_weight, job.norm);
    const double shrink = length > job.row_norm ? job.row_norm / length : 1;
    size_t next = 0;
    for (size_t j = 0; j < p; ++j)
      for (size_t k = j; k < p; ++k) sums[next++] += shrink * shrink * z[j] * z[k];
    for (size_t j = 0; j < p; ++j) sums[next++] += shrink * shrink * label * z[j];
  }
  for (double& sum : sums) sum /= statistics.count();
  return sums;
}

double unit_noise(SeededRandom& random, bool laplace) {
  if (!laplace) return random.normal();
  const double u = random.uniform() - .5;  // of variance 1
  return (u < 0 ? 1 : -1) * std::log(1 - 2 * std::fabs(u)) / std::numbers::sqrt2;
}

class Drawing {
 public:
  Drawing(const PilotStatistics& statistics, const StatisticsJob& job)
      : statistics_(statistics), job_(job), moments_(moments_of(statistics, job)) {}

  /// Models of that many draws at a variance; always the same draws.
  std::vector<std::vector<double>> models(double variance, size_t count) const {
    const size_t p = statistics_.dimension();
    const bool laplace = job_.norm == learn::ClipIn::kL1;
    const double off = laplace ? 1 : 1 / std::numbers::sqrt2;
    const double deviation = std::sqrt(variance);
    const double floor = std::max(noise_floor(deviation, off, p), 1e-12);
    SeededRandom random(3, 0);
    std::vector<std::vector<double>> found;
    for (size_t draw = 0; draw < count; ++draw) {
      std::vector<double> noisy = moments_;
      size_t next = 0;
      for (size_t j = 0; j < p; ++j)
        for (size_t k = j; k < p; ++k)
          noisy[next++] += deviation * (j == k ? 1 : off) * unit_noise(random, laplace);
      for (size_t j = 0; j < p; ++j)
        noisy[next++] += deviation * off / job_.label_weight * unit_noise(random, laplace);
      found.push_back(learn::moments_minimum(noisy, p, statistics_.l2, floor, statistics_.box));
    }
    return found;
  }

  double excess(const std::vector<double>& model) const {
    std::vector<double> off = model;
    for (size_t j = 0; j < off.size(); ++j) off[j] -= statistics_.optimum.theta[j];
    return quadratic_cost(statistics_.hessian, off, {});
  }

  double mean_excess(double variance) const {
    const auto all = models(variance, variance > 0 ? kDraws : 1);
    double sum = 0;
    for (const auto& model : all) sum += excess(model);
    return sum / static_cast<double>(all.size());
  }

 private:
  const PilotStatistics& statistics_;
  const StatisticsJob& job_;
  std::vector<double> moments_;
};

}  // namespace

Prediction predict(const PilotStatistics& statistics, const StatisticsJob& job) {
  const Drawing drawing(statistics, job);
  const auto models = drawing.models(job.variance, kDraws);
  Prediction found{.predictor = "draws",
                   .why = "one answer of second moments; its noise was drawn 400 times"};
  for (const auto& model : models)
    found.excess += drawing.excess(model) / static_cast<double>(kDraws);
  found.optimisation = drawing.mean_excess(0);
  found.distribution = distribution_of(models);
  return found;
}

Response response_of(const PilotStatistics& statistics, const StatisticsJob& job,
                     const Prediction& here) {
  const Drawing drawing(statistics, job);
  std::vector<std::pair<double, double>> points = {{0, here.optimisation}};
  for (const double times : {1e-2, 1e-1, 1.0, 1e1, 1e2})
    points.emplace_back(times * job.variance, here.optimisation - drawing.mean_excess(0) +
                                                  drawing.mean_excess(times * job.variance));
  return Response::table(std::move(points));
}

}  // namespace parley::forecast
