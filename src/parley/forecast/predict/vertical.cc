#include "parley/forecast/predict/vertical.h"

#include <Eigen/Core>
#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/forecast/propagate/exact.h"
#include "parley/learn/vertical/joint_gradient.h"

namespace parley::forecast {
namespace {

using Eigen::Index, Eigen::VectorXd;

constexpr size_t kColumnRuns = 400;
constexpr double kRarely = 1e-3;  // Balls that stop no more steps than this are not looked at.

/// The owners' descents, and where their parts lie in the whole model.
class Parties {
 public:
  Parties(const VerticalJob& job) : job_(job) {
    for (size_t m = 0; m < job.balls.size(); ++m) {
      places_.emplace_back();
      for (size_t j = 0; j < job.owners.size(); ++j)
        if (job.owners[j] == m) places_.back().push_back(j);
      descents_.emplace_back(job.steps, places_.back().size(), job.balls[m]);
    }
  }

  VectorXd point() const {
    VectorXd x(static_cast<Index>(job_.owners.size()));
    for (size_t m = 0; m < places_.size(); ++m)
      for (size_t k = 0; k < places_[m].size(); ++k)
        x[static_cast<Index>(places_[m][k])] = descents_[m].point()[k];
    return x;
  }
  /// Whether some part ended at its ball.
  bool take(const VectorXd& gradient) {
    bool met = false;
    for (size_t m = 0; m < places_.size(); ++m) {
      std::vector<double> own;
      for (const size_t j : places_[m]) own.push_back(gradient[static_cast<Index>(j)]);
      descents_[m].take(own, 1);
      double squares = 0;
      for (const double value : descents_[m].point()) squares += value * value;
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

double excess(const PilotStatistics& statistics, std::vector<double> model) {
  for (size_t j = 0; j < model.size(); ++j) model[j] -= statistics.optimum.theta[j];
  return quadratic_cost(statistics.hessian, model, {});
}

}  // namespace

double mean_excess(const PilotStatistics& statistics, const SharingRuns& runs) {
  double sum = 0;
  for (const auto& model : runs.models) sum += excess(statistics, model);
  return sum / static_cast<double>(runs.models.size());
}

SharingRuns sharing_runs(const PilotStatistics& statistics, const VerticalJob& job, double variance,
                         size_t count) {
  const auto p = static_cast<Index>(statistics.dimension());
  const Eigen::Map<const Eigen::MatrixXd> hessian(statistics.hessian.data(), p, p);
  const VectorXd labels = label_moments(statistics);
  const double deviation = std::sqrt(variance) / 2;  // of half the squares
  SeededRandom random(7, 0);
  SharingRuns found;
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
  const SharingRuns runs = sharing_runs(statistics, job, job.variance, kColumnRuns);
  const SharingRuns quiet = sharing_runs(statistics, job, 0, 1);
  if (runs.met <= kRarely && quiet.met <= 0)
    if (Prediction found = predict(statistics, without_balls(job), {.runs = false});
        found.predictor == "moments") {
      found.why = "squared loss; the ball of the model is not met";
      return found;
    }
  Prediction found{.predictor = "draws",
                   .why =
                       "the ball of the model is met; the steps were run 400 times on the public "
                       "rows' second moments",
                   .excess = mean_excess(statistics, runs),
                   .optimisation = mean_excess(statistics, quiet),
                   .distribution = distribution_of(runs.models)};
  found.excess = std::max(found.excess, found.optimisation);
  return found;
}

/// Moments hold as far as the balls are not met, which other variances of the noise may change.
Response response_of(const PilotStatistics& statistics, const VerticalJob& job,
                     const Prediction& here) {
  constexpr size_t kFew = 200;
  const auto runs = [&](double variance) { return sharing_runs(statistics, job, variance, kFew); };
  const double noise = here.excess - here.optimisation;
  const double quiet = mean_excess(statistics, sharing_runs(statistics, job, 0, 1));
  const double middle = mean_excess(statistics, runs(job.variance));
  const double factor = middle > quiet && noise > 0 ? noise / (middle - quiet) : 1;
  std::vector<std::pair<double, double>> points = {{0, here.optimisation}};
  for (const double times : {1e-2, 1e-1, 1.0, 1e1, 1e2, 1e4}) {
    const SharingRuns found = runs(times * job.variance);
    const bool exact = times == 1 || (here.predictor == "moments" && found.met <= kRarely);
    const double by_runs = here.optimisation + factor * (mean_excess(statistics, found) - quiet);
    const double above = exact ? here.optimisation + times * noise : by_runs;
    points.emplace_back(times * job.variance, std::max(above, points.back().second));
  }
  return Response::table(std::move(points));
}

}  // namespace parley::forecast
