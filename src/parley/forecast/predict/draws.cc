// The predictor "draws": noise is drawn many times on the public rows' second moments, which takes
// no pass over the rows. For rule "statistics", whose noise goes through a matrix inverse, and for
// secret-shared gradients.
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "parley/base/math/noise_floor.h"
#include "parley/base/math/seeded_random.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/statistics.h"
#include "parley/learn/vertical/joint_gradient.h"

namespace parley::forecast {
namespace {

constexpr size_t kDraws = 400;

/// f - f* of a model, for the squared loss.
double excess(const PilotStatistics& statistics, std::vector<double> model) {
  for (size_t j = 0; j < model.size(); ++j) model[j] -= statistics.optimum.theta[j];
  return quadratic_cost(statistics.hessian, model, {});
}

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

  double mean_excess_at(double variance) const {
    return mean_excess(statistics_, models(variance, variance > 0 ? kDraws : 1));
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
    found.excess += excess(statistics, model) / static_cast<double>(kDraws);
  found.optimisation = drawing.mean_excess_at(0);
  found.distribution = distribution_of(models);
  return found;
}

Response response_of(const PilotStatistics& statistics, const StatisticsJob& job,
                     const Prediction& here) {
  const Drawing drawing(statistics, job);
  std::vector<std::pair<double, double>> points = {{0, here.optimisation}};
  for (const double times : {1e-2, 1e-1, 1.0, 1e1, 1e2})
    points.emplace_back(times * job.variance, here.optimisation - drawing.mean_excess_at(0) +
                                                  drawing.mean_excess_at(times * job.variance));
  return Response::table(std::move(points));
}

namespace {

using Eigen::Index, Eigen::VectorXd;

constexpr size_t kColumnRuns = 400;
constexpr double kRarely = 1e-3;  // Balls active in no more steps than this are ignored.

/// The owners' descents, and the coordinates of each one's part in the whole model.
class Parties {
 public:
  Parties(const VerticalJob& job) : job_(job) {
    for (size_t m = 0; m < job.balls.size(); ++m) {
      places_.emplace_back();
      for (size_t j = 0; j < job.owners.size(); ++j)
        if (job.owners[j] == m) places_.back().push_back(j);
      descents_.emplace_back(job.steps, places_.back().size(), job.balls[m], job.box);
    }
  }

  VectorXd point() const {
    VectorXd x(static_cast<Index>(job_.owners.size()));
    for (size_t m = 0; m < places_.size(); ++m)
      for (size_t k = 0; k < places_[m].size(); ++k)
        x[static_cast<Index>(places_[m][k])] = descents_[m].point()[k];
    return x;
  }
  /// Takes a step; whether some part ended on its ball, or a coefficient at the end of its box.
  bool take(const VectorXd& gradient) {
    bool met = false;
    for (size_t m = 0; m < places_.size(); ++m) {
      std::vector<double> own;
      for (const size_t j : places_[m]) own.push_back(gradient[static_cast<Index>(j)]);
      descents_[m].take(own, 1);
      double squares = 0;
      for (const double value : descents_[m].point()) {
        squares += value * value;
        met = met || std::abs(value) >= job_.box;
      }
      met = met || std::sqrt(squares) > job_.balls[m] * (1 - 1e-6);
    }
    return met;
  }
  std::vector<double> model() const {
    std::vector<double> whole(job_.owners.size());
    for (size_t m = 0; m < places_.size(); ++m) {
      const auto own = descents_[m].model();
      for (size_t k = 0; k < own.size(); ++k) whole[places_[m][k]] = own[k];
    }
    return whole;
  }

 private:
  const VerticalJob& job_;
  std::vector<std::vector<size_t>> places_{};
  std::vector<learn::PartyDescent> descents_{};
};

/// The mean of z y, from the rows.
VectorXd label_moments(const PilotStatistics& statistics) {
  VectorXd sum = VectorXd::Zero(static_cast<Index>(statistics.dimension()));
  for (size_t i = 0; i < statistics.rows->size(); ++i)
    sum += statistics.rows->label(i) *
           Eigen::Map<const VectorXd>(statistics.rows->row(i).data(), sum.size());
  return sum / statistics.count();
}

}  // namespace

double mean_excess(const PilotStatistics& statistics,
                   const std::vector<std::vector<double>>& models) {
  double sum = 0;
  for (const auto& model : models) sum += excess(statistics, model);
  return sum / static_cast<double>(models.size());
}

VerticalRuns vertical_runs(const PilotStatistics& statistics, const VerticalJob& job,
                           double variance, size_t count) {
  const auto p = static_cast<Index>(statistics.dimension());
  const Eigen::Map<const Eigen::MatrixXd> hessian(statistics.hessian.data(), p, p);
  const VectorXd labels = label_moments(statistics);
  const double deviation = std::sqrt(variance) / 2;  // of half the squares
  SeededRandom random(7, 0);
  VerticalRuns found;
  double met = 0;
  for (size_t run = 0; run < count; ++run) {
    Parties parties(job);
    for (int64_t r = 0; r < job.steps.rounds; ++r) {
      const VectorXd x = parties.point();
      VectorXd gradient = hessian * x / 2 - labels - statistics.l2 / 2 * x;
      for (double& value : gradient) value += deviation * random.normal();
      met += parties.take(gradient);
    }
    found.models.push_back(parties.model());
  }
  found.met = met / static_cast<double>(count) / static_cast<double>(job.steps.rounds);
  return found;
}

SyncJob without_balls(const VerticalJob& job) {
  SyncJob table{.norm = learn::ClipIn::kNone, .variance = job.variance};
  table.schedule.start.assign(job.owners.size(), 0);
  table.schedule.momentum = job.steps.momentum;
  const int64_t first = job.steps.rounds - job.steps.averaged;
  for (int64_t r = 0; r < job.steps.rounds; ++r)
    table.schedule.rounds.push_back(
        {job.steps.step / 2, r < first ? 0 : 1 / static_cast<double>(r - first + 1)});
  return table;
}

Prediction predict(const PilotStatistics& statistics, const VerticalJob& job) {
  const VerticalRuns runs = vertical_runs(statistics, job, job.variance, kColumnRuns);
  const VerticalRuns quiet = vertical_runs(statistics, job, 0, 1);
  if (runs.met <= kRarely && quiet.met <= 0)
    if (Prediction found = predict(statistics, without_balls(job), {.runs = false});
        found.predictor == "moments") {
      found.why = std::isinf(job.box) ? "squared loss; the model stays inside its norm bound"
                                      : "squared loss; the model stays inside its box";
      return found;
    }
  Prediction found{.predictor = "draws",
                   .why = std::string("the model meets its ") +
                          (std::isinf(job.box) ? "norm bound" : "box") +
                          "; the steps were run 400 times on the public rows' second moments",
                   .excess = mean_excess(statistics, runs.models),
                   .optimisation = mean_excess(statistics, quiet.models),
                   .distribution = distribution_of(runs.models)};
  found.excess = std::max(found.excess, found.optimisation);
  return found;
}

/// Moments hold where no ball is active, which depends on the variance of the noise.
Response response_of(const PilotStatistics& statistics, const VerticalJob& job,
                     const Prediction& here) {
  constexpr size_t kFew = 200;
  const auto runs = [&](double variance) { return vertical_runs(statistics, job, variance, kFew); };
  const double noise = here.excess - here.optimisation;
  const double quiet = mean_excess(statistics, vertical_runs(statistics, job, 0, 1).models);
  const double middle = mean_excess(statistics, runs(job.variance).models);
  const double factor = middle > quiet && noise > 0 ? noise / (middle - quiet) : 1;
  std::vector<std::pair<double, double>> points = {{0, here.optimisation}};
  for (const double times : {1e-2, 1e-1, 1.0, 1e1, 1e2, 1e4}) {
    const VerticalRuns found = runs(times * job.variance);
    const bool exact = times == 1 || (here.predictor == "moments" && found.met <= kRarely);
    const double by_runs =
        here.optimisation + factor * (mean_excess(statistics, found.models) - quiet);
    const double above = exact ? here.optimisation + times * noise : by_runs;
    points.emplace_back(times * job.variance, std::max(above, points.back().second));
  }
  return Response::table(std::move(points));
}

}  // namespace parley::forecast
