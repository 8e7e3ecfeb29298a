#include "parley/plan/learner/federated_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "parley/plan/can_run.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/sums/share_noise.h"

namespace parley::plan {
namespace {

using charter::Charter;

Error too_few_owners(const charter::SecureAggregation& secure, size_t owners) {
  return {Code::kInvalid,
          "a sparse graph of " + std::to_string(owners) + " owners cannot stand " +
              std::to_string(secure.colluders) + " colluders and " +
              std::to_string(owners - static_cast<size_t>(secure.survivors)) + " dropouts",
          "Take fewer colluders, or more survivors.",
          {.key = "secure_aggregation.graph"}};
}

/// A member's neighbours open its secrets, so of the survivors one fewer must be enough.
Error too_high(const charter::SecureAggregation& secure) {
  return {Code::kInvalid,
          "threshold " + std::to_string(secure.threshold) + " cannot be met by " +
              std::to_string(secure.survivors) + " survivors: an owner's own share does not count",
          "Take a threshold below survivors.",
          {.key = "secure_aggregation.threshold"}};
}

/// Where owners make the steps, the learner's are whole: theta - (-1) (their mean update).
Result<learn::Schedule> schedule_of(const Charter& charter, const data::Rows* pilot,
                                    const learn::Lattice& lattice) {
  if (charter.protocol.as<charter::Sync>()) return sync_schedule(charter, pilot, lattice);
  auto start = TRY(start_of(charter, pilot, lattice.dimension()));
  return learn::constant_step(static_cast<uint32_t>(charter.protocol.rounds), 1,
                              learn::Average::kNone, std::move(start));
}

/// What the learner knows of the Gram matrix; `start` is where the gradients after an alarm begin.
std::optional<FederatedPlan::Gram> gram_of(const Charter& charter, const SecaggPlan& shares,
                                           const std::vector<double>& start) {
  const SecaggTerms& terms = shares.owners[0];
  if (!terms.gram) return std::nullopt;
  const double curvature = std::visit([](const auto& known) { return known.smoothness(); },
                                      charter::loss_of(charter.model));
  FederatedPlan::Gram gram{.unit = shares.gram.unit,
                           .largest = shares.gram.largest,
                           .variance = variance_of(terms.gram->mechanism),
                           .curvature = curvature,
                           .answers = terms.gram->answers};
  if (!terms.after_alarm) return gram;
  learn::Schedule schedule = learn::gram_steps(kAfterAlarmRounds, start);
  schedule.longest = longest_change(charter);
  gram.after_alarm = {shares.after_alarm.unit, shares.after_alarm.largest,
                      terms.after_alarm->answers, std::move(schedule)};
  return gram;
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// P[at least `least` of `drawn` are marked], `marked` of `all` being so.
double at_least(size_t least, size_t all, size_t marked, size_t drawn) {
  double sum = 0;
  const size_t most = std::min(marked, drawn);
  for (size_t k = std::max(least, drawn + marked > all ? drawn + marked - all : 0); k <= most; ++k)
    sum += std::exp(log_choose(double(marked), double(k)) +
                    log_choose(double(all - marked), double(drawn - k)) -
                    log_choose(double(all), double(drawn)));
  return std::min(sum, 1.0);
}

}  // namespace

std::optional<Degree> sparse_degree(size_t members, size_t colluders, size_t dropouts) {
  const double m = double(members), gone = double(colluders + dropouts) / m;
  for (size_t k = 2; k < members; k += 2) {
    if (m * std::pow(gone, double(k) / 2) >= 0x1p-40) continue;
    for (size_t t = k / 2; t <= k; ++t) {
      if (m * at_least(t, members - 1, colluders, k) >= 0x1p-40) continue;
      // Fewer than t left: at least k - t + 1 of them dropped out.
      if (m * at_least(k - t + 1, members - 1, dropouts, k) >= 0x1p-30) break;
      return Degree{k, t};
    }
  }
  return std::nullopt;
}

Result<Degree> degree_of(const Charter& charter) {
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  const size_t owners = charter.owners.size();
  if (secure.graph == charter::Graph::kSparse) {
    const auto degree = sparse_degree(owners, static_cast<size_t>(secure.colluders),
                                      owners - static_cast<size_t>(secure.survivors));
    if (!degree) return too_few_owners(secure, owners);
    return *degree;
  }
  if (secure.threshold >= secure.survivors) return too_high(secure);
  return Degree{0, static_cast<size_t>(secure.threshold)};
}

Result<FederatedPlan> federated_plan(const Charter& charter, const data::Rows* pilot) {
  if (!charter.secure_aggregation)
    return charter::not_available("protocol.name", name_of(charter.protocol.name()),
                                  "Use \"federated\", or add [secure_aggregation].");
  TRY(check_learner(charter));
  const SecaggPlan shares = TRY(secagg_plan(charter));
  std::vector<PlannedOwner> owners(charter.owners.size());
  TRY(require_signatures(owners, charter));
  TRY(degree_of(charter));
  auto schedule = TRY(schedule_of(charter, pilot, shares.owners[0].lattice()));
  const bool steps = charter.protocol.as<charter::Sync>() && !charter.protocol.distance();
  FederatedPlan plan{.charter = charter.hash,
                     .owners = std::move(owners),
                     .answers = shares.owners[0].answers,
                     .unit = shares.unit,
                     .largest = shares.largest,
                     .box = charter.model.box,
                     .l2 = steps ? charter.model.l2 : 0,
                     .schedule = std::move(schedule)};
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    plan.owners[i].name = charter.owners[i].name;
    plan.owners[i].rows = static_cast<uint64_t>(charter.owners[i].rows);
    plan.owners[i].weight = shares.weights[i];
  }
  if (const auto& last = shares.owners[0].evaluation)
    plan.evaluation = FederatedPlan::Evaluation{
        last->map, last->answers, variance_of(last->mechanism), shares.largest_evaluation};
  plan.gram = gram_of(charter, shares, plan.schedule.start);
  if (charter.protocol.distance())
    plan.distance = FederatedPlan::Distance{variance_of(shares.owners[0].mechanism),
                                            to_hex(charter.pilot->sha256)};
  return plan;
}

}  // namespace parley::plan
