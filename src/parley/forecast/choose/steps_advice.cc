#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "parley/base/math/number.h"
#include "parley/forecast/choose/choose.h"
#include "parley/forecast/predict/local_steps.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/forecast/study.h"
#include "parley/plan/noise.h"
#include "parley/plan/secagg_terms.h"

namespace parley::forecast {
namespace {

using charter::Charter;

constexpr int64_t kRoundsLeast = 10;  // Fewer aggregations leave no room for a lost one.
constexpr double kFree = 1.02;        // what more local steps may cost to count as free

/// The same number of local steps in all, divided into other rounds.
Charter with_steps(Charter charter, int64_t local_steps) {
  const int64_t all = charter.protocol.rounds * charter.protocol.local_steps();
  charter.protocol.as<charter::Federated>()->local_steps = local_steps;
  charter.protocol.rounds = (all + local_steps - 1) / local_steps;
  return charter;
}

/// 1, 2, 5, 10, ... as far as enough aggregations remain, and what the charter has.
std::set<int64_t> steps_to_try(const Charter& charter) {
  const int64_t all = charter.protocol.rounds * charter.protocol.local_steps();
  std::set<int64_t> found = {1, charter.protocol.local_steps()};
  for (int64_t ten = 1; ten <= all; ten *= 10)
    for (const int64_t times : {1, 2, 5})
      if (ten * times * kRoundsLeast <= all) found.insert(ten * times);
  return found;
}

/// Forecasts of other divisions: noise and optimisation are scaled by their ratio on the quadratic
/// approximation at the optimum.
class Points {
 public:
  explicit Points(const StepsQuestion& question)
      : question_(question), costs_(quadratic(question), {}), here_(costs_of(question.job)) {}

  StepsAdvice::Point at(int64_t local_steps) const {
    const StepsQuestion& q = question_;
    const Charter charter = with_steps(q.charter, local_steps);
    Job job = *job_of(charter, q.statistics, &q.pilot);
    auto& local = std::get<FederatedJob>(job.kind);
    local.differ = std::get<FederatedJob>(q.job.kind).differ;
    const ExactCosts::Costs costs = costs_of(job);
    const double noise = q.prediction.excess - q.prediction.optimisation;
    const double steps = q.prediction.optimisation - q.prediction.drift;
    StepsAdvice::Point point{.local_steps = local_steps, .rounds = charter.protocol.rounds};
    point.drift = local_steps == 1 ? 0 : drift_of(q.statistics, local) / q.best;
    point.noise = noise *
                  ratio(costs.noise_gain * job.variance(), here_.noise_gain * q.job.variance()) /
                  q.best;
    const double unfinished = steps * ratio(costs.optimisation, here_.optimisation) / q.best;
    point.psi = std::max(unfinished + point.drift, 0.0) + point.noise;
    point.bytes_per_owner = cost_of(charter).bytes_per_owner;
    return point;
  }

 private:
  static Quadratic quadratic(const StepsQuestion& q) {
    const auto& local = std::get<FederatedJob>(q.job.kind);
    Quadratic found{q.statistics.hessian, local.start, {}};
    for (size_t j = 0; j < found.start.size(); ++j) found.start[j] -= q.statistics.optimum.theta[j];
    for (const double value : q.statistics.spread)
      if (local.start_spread > 0) found.start_spread.push_back(local.start_spread * value);
    return found;
  }
  ExactCosts::Costs costs_of(const Job& job) const {
    const SyncJob table = as_one_schedule(std::get<FederatedJob>(job.kind));
    return costs_.of(table.schedule, table.variance_factor);
  }
  static double ratio(double there, double here) { return here > 0 ? there / here : 1; }

  const StepsQuestion& question_;
  ExactCosts costs_;
  ExactCosts::Costs here_;
};

StepsBound bound_of(const StepsQuestion& q, const SyntheticOwners& owners) {
  const auto& local = std::get<FederatedJob>(q.job.kind);
  const auto update = *plan::local_update(q.charter, {});
  const Dissimilarity start = dissimilarity(q.statistics, owners, local.start);
  const Dissimilarity end = dissimilarity(q.statistics, owners, q.statistics.optimum.theta);
  const auto k = static_cast<double>(local.plan.steps);
  // Noise once after K steps is equivalent to this variance in the gradient of every step.
  const double noise = q.job.variance() / (local.plan.step * local.plan.step * k);
  return {.smooth = update.smoothness(),
          .convex = q.statistics.l2 > 0 ? q.statistics.l2 : q.statistics.smallest_curvature,
          .steps = k * static_cast<double>(local.rounds),
          .optima = end.optima,
          .gradients = std::max(start.gradients, end.gradients),
          .noise = noise * static_cast<double>(q.statistics.dimension())};
}

const StepsAdvice::Point& advised(const StepsAdvice& advice) {
  const auto cost = [&](const StepsAdvice::Point& point) {
    return point.psi + advice.price * static_cast<double>(point.rounds);
  };
  const auto best = std::min_element(advice.points.begin(), advice.points.end(),
                                     [&](auto& a, auto& b) { return cost(a) < cost(b); });
  if (advice.price > 0) return *best;
  const auto* found = &*best;
  for (const auto& point : advice.points)
    if (point.psi <= kFree * best->psi && point.local_steps > found->local_steps &&
        point.rounds >= kRoundsLeast)
      found = &point;
  return *found;
}

std::string why(const StepsAdvice& advice, const StepsAdvice::Point& chosen, double differ) {
  const auto percent = [](double psi) { return significant(100 * psi) + " %"; };
  std::string text = fmt::format("expected {} above the best with {} aggregations",
                                 percent(chosen.psi), chosen.rounds);
  for (const auto& point : advice.points)
    if (point.local_steps > chosen.local_steps || (point.local_steps == 1 && &point != &chosen))
      text += fmt::format("; {} with {}", percent(point.psi), point.rounds);
  text += fmt::format("; the bound alone allows {}", advice.floor);
  if (differ == 0)
    text += "; owners are taken to differ by chance only (else --differ or --distance)";
  return text;
}

}  // namespace

double StepsBound::at(double k) const {
  const double gamma = std::max(8 * smooth / convex - 1, k);
  return 2 * smooth / (convex * convex * (gamma + steps)) *
         (6 * smooth * optima + 8 * (k - 1) * (k - 1) * gradients + noise);
}

int64_t StepsBound::floor() const {
  const double more = std::sqrt((6 * smooth * optima + noise) / (8 * gradients));
  return 1 + static_cast<int64_t>(std::min(more, steps));
}

int64_t StepsBound::priced(double price, int64_t most) const {
  int64_t best = 1;
  const auto cost = [&](int64_t k) {
    return at(static_cast<double>(k)) + price * steps / static_cast<double>(k);
  };
  for (int64_t k = 2; k <= most; ++k)
    if (cost(k) < cost(best)) best = k;
  return best;
}

StepsAdvice advise_steps(const StepsQuestion& q) {
  const auto& local = std::get<FederatedJob>(q.job.kind);
  const SyntheticOwners owners = synthetic_owners(
      q.statistics, {.weights = local.weights, .rows = local.rows, .differ = local.differ});
  const StepsBound bound = bound_of(q, owners);
  StepsAdvice advice{.price = q.price,
                     .gradients = bound.gradients,
                     .optima = bound.optima,
                     .floor = bound.floor()};
  const auto all = static_cast<int64_t>(bound.steps);
  const int64_t most = std::max<int64_t>(1, all / kRoundsLeast);
  advice.floor = std::min(advice.floor, most);
  if (q.price > 0) advice.priced_bound = bound.priced(q.price * q.best, most);
  if (q.statistics.l2 > 0) advice.saturation = 1 / (local.plan.step * q.statistics.l2);
  const Points points(q);
  for (const int64_t k : steps_to_try(q.charter)) {
    advice.points.push_back(points.at(k));
    advice.points.back().bound = bound.at(static_cast<double>(k)) / q.best;
  }
  const StepsAdvice::Point& chosen = advised(advice);
  advice.advised = chosen.local_steps;
  advice.rounds = chosen.rounds;
  advice.saved = 1 - static_cast<double>(chosen.rounds) / static_cast<double>(all);
  advice.why = why(advice, chosen, local.differ);
  return advice;
}

}  // namespace parley::forecast
