#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/forecast/choose/choose.h"
#include "parley/forecast/predict/predict.h"
#include "parley/forecast/propagate/moments.h"
#include "parley/learn/schedule/weights.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/noise.h"

namespace parley::forecast {
namespace {

using charter::Charter, charter::Rule;

/// Rules that the loss and the charter allow.
std::vector<Rule> rules(const Charter& draft, const Given& given) {
  if (given("protocol.rule")) return {*draft.protocol.rule()};
  std::vector<Rule> found = {Rule::kConstant, Rule::kAlgorithm2};
  if (draft.model.loss != charter::Loss::kHinge) found.push_back(Rule::kPilotNewton);
  if (draft.model.l2 > 0) found.push_back(Rule::kStronglyConvex);
  return found;
}

/// The output each rule was made for (charter/protocol.cc has the same for what is not given).
charter::Average average_of(Rule rule) {
  if (rule == Rule::kAlgorithm2) return charter::Average::kPaper;
  return rule == Rule::kConstant || rule == Rule::kPilotNewton ? charter::Average::kTail
                                                               : charter::Average::kNone;
}

std::vector<double> steps(const Charter& draft, const Given& given, Rule rule, double curvature) {
  if (given("protocol.step")) return {draft.protocol.step};
  if (rule == Rule::kPilotNewton) return {.1, .3, 1};
  if (rule == Rule::kStronglyConvex) return {1};
  const double unit = rounded(1 / curvature);
  return {rounded(unit / 2), unit, rounded(unit * 1.5)};
}

std::vector<int64_t> rounds(const Charter& draft, const Given& given) {
  if (given("protocol.rounds")) return {draft.protocol.rounds};
  return {1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 70, 100, 150, 200, 300, 400};
}

std::vector<double> momenta(const Charter& draft, const Given& given, Rule rule) {
  if (given("protocol.momentum")) return {draft.protocol.as<charter::Sync>()->momentum};
  if (rule == Rule::kConstant) return {0, .3, .6};
  return {0};
}

/// The quadratic approximation at the clipped optimum, with a rule's start and preconditioner.
struct Near {
  Near(const Charter& charter, const Clipped& near, const PilotStatistics& statistics, double rows)
      : start(charter.protocol.start == charter::Start::kPilot
                  ? statistics.optimum.theta
                  : std::vector<double>(statistics.dimension())),
        metric(charter.protocol.rule() == Rule::kPilotNewton ? near.inverse
                                                             : std::vector<double>()),
        costs(quadratic(charter, near, statistics, rows), metric) {}

  Quadratic quadratic(const Charter& charter, const Clipped& near,
                      const PilotStatistics& statistics, double rows) const {
    Quadratic found{near.hessian, start, {}};
    for (size_t j = 0; j < start.size(); ++j) found.start[j] -= near.theta[j];
    if (charter.protocol.start == charter::Start::kPilot)
      for (double value : statistics.spread)
        found.start_spread.push_back(value * (1 / statistics.count() + 1 / rows));
    return found;
  }

  std::vector<double> start, metric;
  ExactCosts costs;
};

/// One rule with one clip: the best rounds, step and momentum near the clipped optimum.
class Search {
 public:
  Search(const Charter& draft, const PilotStatistics& statistics, const Given& given,
         const plan::NoiseLaw& law)
      : draft_(draft),
        statistics_(statistics),
        given_(given),
        law_(law),
        strengths_(law.strengths(draft.owners)),
        rows_(owners_rows(draft)) {}

  Candidate best_of(Rule rule, const Clipped& near) const {
    Candidate best{.psi = std::numeric_limits<double>::infinity()};
    Charter charter = filled(rule, near);
    const Near here(charter, near, statistics_, rows_);
    for (const double momentum : momenta(draft_, given_, rule))
      for (const double step : steps(draft_, given_, rule, statistics_.largest_curvature))
        for (const int64_t count : rounds(draft_, given_)) {
          charter.protocol.as<charter::Sync>()->momentum = momentum;
          charter.protocol.step = step;
          charter.protocol.rounds = count;
          const double psi = psi_near(charter, near, here);
          if (psi < best.psi) best = {charter, psi};
        }
    return best;
  }

 private:
  Charter filled(Rule rule, const Clipped& near) const {
    Charter charter = draft_;
    charter.undecided.clear();
    charter::Sync& sync = *charter.protocol.as<charter::Sync>();
    sync.rule = rule;
    charter.privacy.max_grad_norm = near.clip;
    if (!given_("protocol.average")) sync.average = average_of(rule);
    if (!given_("protocol.start")) charter.protocol.start = charter::Start::kPilot;
    if (!given_("protocol.weights") && !charter.secure_aggregation)
      charter.protocol.weights = charter::Weights::kNoiseOptimal;
    return charter;
  }

  double psi_near(const Charter& charter, const Clipped& near, const Near& here) const {
    const auto costs = here.costs.of(plan::step_table(charter, here.start, here.metric));
    if (!std::isfinite(costs.optimisation) || !std::isfinite(costs.noise_gain))
      return std::numeric_limits<double>::infinity();  // It diverges.
    return near.bias + costs.optimisation + owners_error(charter, costs.noise_gain);
  }

  /// Noise and weighting, with the weights that the charter would have.
  double owners_error(const Charter& charter, double gain) const {
    std::vector<learn::OwnerError> owners;
    std::vector<double> by_rows;
    const double answers = std::pow(plan::paid_answers(charter), law_.power());
    double strictest = 0;  // of what owners need in a secure sum
    for (size_t i = 0; i < charter.owners.size(); ++i) {
      const auto rows = static_cast<double>(charter.owners[i].rows);
      const double reach = charter.privacy.max_grad_norm / rows;
      const double variance = strengths_[i] * reach * reach * answers;
      owners.push_back({rows, gain * variance, statistics_.sampling / rows});
      by_rows.push_back(rows / rows_);
      strictest = std::max(strictest, variance * by_rows.back() * by_rows.back());
    }
    if (charter.secure_aggregation) return gain * strictest;
    const bool optimal = charter.protocol.weights == charter::Weights::kNoiseOptimal;
    return learn::weights_error(owners, optimal ? learn::optimal_weights(owners) : by_rows);
  }

  const Charter& draft_;
  const PilotStatistics& statistics_;
  const Given& given_;
  const plan::NoiseLaw& law_;
  std::vector<double> strengths_;  // of each owner
  double rows_;
};

/// The two best clips of each rule, for the predictors to compare.
std::vector<Candidate> sync_candidates(const Charter& draft, const PilotStatistics& statistics,
                                       const Given& given, const plan::NoiseLaw& law) {
  const Search search(draft, statistics, given, law);
  std::vector<Clipped> near;
  for (const double clip : clips(draft, statistics, given))
    if (auto found = clipped_at(draft, statistics, clip)) near.push_back(*std::move(found));
  std::vector<Candidate> all;
  for (const Rule rule : rules(draft, given)) {
    std::vector<Candidate> of_rule;
    for (const Clipped& clipped : near) of_rule.push_back(search.best_of(rule, clipped));
    std::sort(of_rule.begin(), of_rule.end(),
              [](const Candidate& a, const Candidate& b) { return a.psi < b.psi; });
    for (size_t k = 0; k < std::min<size_t>(2, of_rule.size()); ++k) {
      all.push_back(of_rule[k]);
      if (k > 0 || given("protocol.rounds")) continue;
      // The approximation takes the pilot's Hessian for the owners': they may need more rounds.
      const int64_t least = of_rule[k].charter.protocol.rounds;
      for (const int64_t more : {least + 1, 2 * least + 1}) {
        of_rule[k].charter.protocol.rounds = more;
        all.push_back(of_rule[k]);
      }
    }
  }
  return all;
}

/// Asynchronous candidates for the predictors, which may need runs.
constexpr size_t kAsyncShortlist = 3;

/// The best by exact moments of the quadratic approximation, plus the bias of the clip.
std::vector<Candidate> best_near(std::vector<Candidate> all, const PilotStatistics& statistics) {
  std::vector<std::pair<double, std::optional<Clipped>>> clipped;  // by clip, which repeat
  const auto near = [&](const Charter& charter) -> const std::optional<Clipped>& {
    const double clip = charter.privacy.max_grad_norm;
    for (const auto& [known, found] : clipped)
      if (known == clip) return found;
    return clipped.emplace_back(clip, clipped_at(charter, statistics, clip)).second;
  };
  for (Candidate& candidate : all) {
    const auto job = job_of(candidate.charter, statistics);
    const auto& at = near(candidate.charter);
    candidate.psi = job && at
                        ? at->bias + async_excess_near(statistics, std::get<AsyncJob>(job->kind))
                        : std::numeric_limits<double>::infinity();
  }
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.psi < b.psi; });
  all.resize(std::min(all.size(), kAsyncShortlist));
  return all;
}

/// Answers of each owner and steps within the stability rule.
std::vector<Candidate> async_candidates(const Charter& draft, const PilotStatistics& statistics,
                                        const Given& given) {
  double largest = 0;
  for (const charter::Owner& owner : draft.owners)
    largest = std::max(largest, static_cast<double>(owner.rows) / owners_rows(draft));
  const auto owners = static_cast<double>(draft.owners.size());
  const double most = 1.2 / (owners * largest * statistics.largest_curvature);
  std::vector<Candidate> all;
  const std::vector<double> tried = given("protocol.step") ? std::vector{draft.protocol.step}
                                                           : std::vector{most / 8, most / 3, most};
  std::vector<double> all_clips = clips(draft, statistics, given), some;
  for (size_t k = 0; k < all_clips.size(); k += 2) some.push_back(all_clips[k]);
  for (const double clip : some)
    for (const double step : tried)
      for (const int64_t answers : {1, 2, 4, 8, 16, 32}) {
        Candidate candidate{draft, 0};
        Charter& charter = candidate.charter;
        charter.undecided.clear();
        charter.privacy.max_grad_norm = clip;
        charter.protocol.step = step;
        if (!given("protocol.rounds"))
          charter.protocol.rounds = answers * static_cast<int64_t>(draft.owners.size());
        if (!given("protocol.answers"))
          charter.protocol.as<charter::Async>()->answers =
              (charter.protocol.rounds + static_cast<int64_t>(owners) - 1) /
              static_cast<int64_t>(owners);
        all.push_back(std::move(candidate));
        if (given("protocol.rounds")) break;
      }
  return best_near(std::move(all), statistics);
}

}  // namespace

Result<std::vector<Candidate>> shortlist(const Charter& draft, const PilotStatistics& statistics,
                                         const Given& given) {
  const plan::NoiseLaw law = TRY(plan::NoiseLaw::of(draft));
  if (draft.protocol.as<charter::Async>()) return async_candidates(draft, statistics, given);
  if (draft.protocol.as<charter::Sync>()) return sync_candidates(draft, statistics, given, law);
  return Error{Code::kInvalid,
               "a forecast of protocol \"" + std::string(name_of(draft.protocol.name())) +
                   "\" is not available yet",
               "Forecasts know \"sync\" and \"async\".",
               {.key = "protocol.name"}};
}

}  // namespace parley::forecast
