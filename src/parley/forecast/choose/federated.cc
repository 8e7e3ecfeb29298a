#include "parley/forecast/choose/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "parley/base/math/number.h"
#include "parley/forecast/predict/local_steps.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/forecast/study.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/noise.h"
#include "parley/plan/secagg_terms.h"

namespace parley::forecast {
namespace {

using charter::Charter;

constexpr size_t kShortlist = 4;

struct LocalStepsSearch {
  const Charter& draft;
  const PilotStatistics& statistics;
  const data::Rows& pilot;
  const Given& given;
};

/// What the text gives, or all that are worth looking at.
std::vector<int64_t> or_these(bool given, int64_t value, std::vector<int64_t> others) {
  return given ? std::vector<int64_t>{value} : std::move(others);
}

std::vector<std::pair<int64_t, int64_t>> rounds_and_steps(const LocalStepsSearch& search) {
  const bool rounds = search.given("protocol.rounds");
  const charter::Protocol& p = search.draft.protocol;
  // With both open single steps are looked at first: privacy does not tell how to divide them.
  const bool both = !rounds && !search.given("protocol.local_steps");
  const auto steps =
      or_these(search.given("protocol.local_steps"), p.local_steps(),
               both ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2, 5, 10, 20, 50, 100});
  std::vector<std::pair<int64_t, int64_t>> found;
  for (const int64_t r : or_these(rounds, p.rounds, {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}))
    for (const int64_t k : steps)
      if (r * k <= kLocalStepsMax) found.emplace_back(r, k);
  return found;
}

std::vector<double> clips_of(const LocalStepsSearch& search) {
  const bool clipped = search.draft.model.loss != charter::Loss::kLogistic;
  return clipped ? clips(search.draft, search.statistics, search.given) : std::vector<double>{0};
}

/// A start, and what steps from there cost on the quadratic near the optimum.
struct Beginning {
  charter::Start start;
  ExactCosts costs;
};

Beginning beginning_of(const LocalStepsSearch& search, charter::Start start) {
  const PilotStatistics& statistics = search.statistics;
  Quadratic quadratic{statistics.hessian, std::vector<double>(statistics.dimension()), {}};
  if (start == charter::Start::kPilot) {
    quadratic.start = plan::pilot_optimum(search.draft, search.pilot);
    for (const double value : statistics.spread)
      quadratic.start_spread.push_back(value *
                                       (1 / statistics.count() + 1 / owners_rows(search.draft)));
  }
  for (size_t j = 0; j < quadratic.start.size(); ++j)
    quadratic.start[j] -= statistics.optimum.theta[j];
  return {start, ExactCosts(quadratic, {})};
}

std::vector<Beginning> beginnings(const LocalStepsSearch& search) {
  if (search.given("protocol.start")) return {beginning_of(search, search.draft.protocol.start)};
  return {beginning_of(search, charter::Start::kZero),
          beginning_of(search, charter::Start::kPilot)};
}

std::vector<double> steps_of(const LocalStepsSearch& search, Charter charter) {
  if (search.given("protocol.step")) return {search.draft.protocol.step};
  if (charter.protocol.as<charter::Federated>()->schedule == charter::LocalSteps::kTheorem4)
    return {1, .5, .25};          // factors
  charter.protocol.step = 1e-12;  // allowed, to learn what is
  const auto update = plan::local_update(charter, {});
  if (!update) return {};
  std::vector<double> found;
  for (const double part : {.9, .45, .2, .09}) found.push_back(rounded(part * update->step_max()));
  return found;
}

/// On the quadratic near the optimum, and what the clip moves that by.
double quick_psi(const LocalStepsSearch& search, Charter charter, const Beginning& from,
                 double bias) {
  charter.protocol.start = charter::Start::kZero;  // Where it begins is in the costs.
  const auto job = job_of(charter, search.statistics, &search.pilot);
  if (!job) return std::numeric_limits<double>::infinity();
  const SyncJob table = as_one_schedule(std::get<FederatedJob>(job->kind));
  const auto costs = from.costs.of(table.schedule, table.variance_factor);
  return costs.optimisation + costs.noise_gain * job->variance() + bias;
}

std::vector<Candidate> candidates(const LocalStepsSearch& search) {
  std::vector<Candidate> found;
  const auto all = beginnings(search);
  for (const double clip : clips_of(search)) {
    Charter charter = search.draft;
    if (clip > 0) charter.privacy.max_grad_norm = clip;
    const auto near = clip > 0 ? clipped_at(charter, search.statistics, clip) : std::nullopt;
    if (clip > 0 && !near) continue;
    for (const Beginning& from : all)
      for (const auto& [rounds, steps] : rounds_and_steps(search)) {
        charter.protocol.start = from.start;
        charter.protocol.rounds = rounds;
        charter.protocol.as<charter::Federated>()->local_steps = steps;
        for (const double step : steps_of(search, charter)) {
          charter.protocol.step = step;
          found.push_back({charter, quick_psi(search, charter, from, near ? near->bias : 0)});
        }
      }
  }
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.psi < b.psi; });
  return found;
}

Result<Job> job_with(const LocalStepsSearch& search, const Charter& charter,
                     const ForecastOptions& options) {
  Job job = TRY(job_of(charter, search.statistics, &search.pilot));
  const double best = search.statistics.fitness(owners_rows(charter));
  std::get<FederatedJob>(job.kind).differ = best * options.differ_at(best);
  return job;
}

Result<Candidate> best_of(const LocalStepsSearch& search, const ForecastOptions& options) {
  Candidate best{.psi = std::numeric_limits<double>::infinity()};
  auto all = candidates(search);
  for (size_t k = 0; k < std::min(all.size(), kShortlist); ++k) {
    const auto job = job_with(search, all[k].charter, options);
    if (!job) continue;
    const double f = search.statistics.fitness(owners_rows(all[k].charter));
    const double psi = predict(search.statistics, *job, {.threads = options.threads}).excess / f;
    if (psi < best.psi) best = {all[k].charter, psi};
  }
  if (best.psi < std::numeric_limits<double>::infinity()) return best;
  return Error{Code::kInvalid, "no values were found for what the draft leaves open",
               "Give protocol.rounds, protocol.local_steps and protocol.step."};
}

/// How many of the steps are local, where the draft leaves both open.
Result<std::string> divide(const LocalStepsSearch& search, Candidate& best,
                           const ForecastOptions& options) {
  const Job job = TRY(job_with(search, best.charter, options));
  const double f = search.statistics.fitness(owners_rows(best.charter));
  const Prediction found = predict(search.statistics, job, {.threads = options.threads});
  const StepsAdvice advice = advise_steps(
      {best.charter, search.statistics, search.pilot, job, found, f, options.aggregation_price});
  best.charter.protocol.as<charter::Federated>()->local_steps = advice.advised;
  best.charter.protocol.rounds = advice.rounds;
  return advice.why;
}

}  // namespace

Result<Choosing> choose_federated(const Charter& draft, const PilotStatistics& statistics,
                                  const data::Rows& pilot, const Given& given,
                                  const ForecastOptions& options) {
  const LocalStepsSearch search{draft, statistics, pilot, given};
  Choosing chosen;
  chosen.best = TRY(best_of(search, options));
  std::string steps_why = fmt::format("expected {} above the best, the least of those tried",
                                      significant(chosen.best.psi, 2));
  const bool both = !given("protocol.rounds") && !given("protocol.local_steps");
  if (both) steps_why = TRY(divide(search, chosen.best, options));
  const charter::Protocol& p = chosen.best.charter.protocol;
  const auto add = [&](const std::string& key, std::string value, std::string why) {
    if (!given(key)) chosen.choices.push_back({key, std::move(value), std::move(why)});
  };
  add("protocol.local_steps", std::to_string(p.local_steps()), steps_why);
  add("protocol.rounds", std::to_string(p.rounds),
      fmt::format("{} local steps in all", p.rounds * p.local_steps()));
  add("protocol.step", shortest(p.step),
      fmt::format("at most 2/(L + l2), which is what is proved; the largest curvature of the "
                  "public rows is {}",
                  significant(statistics.largest_curvature)));
  if (draft.model.loss != charter::Loss::kLogistic)
    add("privacy.max_grad_norm", shortest(chosen.best.charter.privacy.max_grad_norm),
        fmt::format("{} % of the public records are clipped at the optimum",
                    significant(100 * clipped_share(chosen.best.charter, statistics), 2)));
  if (p.start == charter::Start::kPilot)
    add("protocol.start", "pilot", "the optimum of the public rows costs nothing");
  return chosen;
}

namespace {

constexpr int64_t kRoundsLeast = 10;  // Fewer aggregations leave no room for a lost one.
constexpr double kFree = 1.02;        // what more local steps may cost to count as free

/// The same number of local steps in all, divided otherwise.
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

/// Noise and optimisation of other divisions, by their ratio on the quadratic near the optimum.
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
  // One noise after K steps is as much as this in the gradient of each.
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
