#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "parley/base/math/number.h"
#include "parley/forecast/choose/choose.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/moments.h"
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

/// The value that the text gives, or the candidates.
std::vector<int64_t> or_these(bool given, int64_t value, std::vector<int64_t> others) {
  return given ? std::vector<int64_t>{value} : std::move(others);
}

std::vector<std::pair<int64_t, int64_t>> rounds_and_steps(const LocalStepsSearch& search) {
  const bool rounds = search.given("protocol.rounds");
  const charter::Protocol& p = search.draft.protocol;
  // With both open, single steps are tried first and divided afterwards (advise_steps).
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

/// A start, and the costs of schedules from there on the quadratic approximation.
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
  charter.protocol.step = 1e-12;  // any valid step: local_update() then says the largest one
  const auto update = plan::local_update(charter, {});
  if (!update) return {};
  std::vector<double> found;
  for (const double part : {.9, .45, .2, .09}) found.push_back(rounded(part * update->step_max()));
  return found;
}

/// By the quadratic approximation at the optimum, plus the bias of the clip.
double quick_psi(const LocalStepsSearch& search, Charter charter, const Beginning& from,
                 double bias) {
  charter.protocol.start = charter::Start::kZero;  // The start is part of `from.costs`.
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

}  // namespace parley::forecast
