#include "parley/plan/learner/sync_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <variant>

#include "parley/base/math/noise_floor.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/pilot/wrong_pilot.h"
#include "parley/learn/statistics.h"
#include "parley/plan/can_run.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/learner/weights.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sensitivity.h"
#include "parley/plan/terms.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

/// The inverse of the pilot's Hessian, floored; 0 for columns that it leaves out.
Result<std::vector<double>> curvature_at(const Charter& charter, const data::Rows* pilot,
                                         std::span<const double> theta,
                                         const learn::Lattice& lattice) {
  const NewtonHessian hessian = TRY(newton_hessian(charter, pilot, theta, lattice));
  const size_t kept = hessian.columns.size(), p = lattice.dimension();
  const double floor = newton_floor(TRY(mean_deviation(charter)), kept);
  auto inverse = learn::inverse(hessian.matrix, kept);
  if (!inverse || learn::largest_eigenvalue(*inverse, kept) * floor > 1)
    inverse = learn::floored_inverse(hessian.matrix, kept, floor);
  std::vector<double> all(p * p);
  for (size_t i = 0; i < kept; ++i)
    for (size_t j = 0; j < kept; ++j)
      all[hessian.columns[i] * p + hessian.columns[j]] = (*inverse)[i * kept + j];
  return all;
}

Error thin_pilot() {
  return {Code::kInvalid,
          "in every column fewer than 10 rows of the pilot differ from the most common value, so "
          "that Newton steps have no curvature to use",
          "Take a larger pilot, or rule = \"constant\" with start = \"zero\".",
          {.key = "pilot"}};
}

/// How answers of moments are read, and how large their noise is in the weighted mean.
Result<SyncPlan::Moments> moments_of(const Charter& charter, const std::vector<double>& weights,
                                     const Terms& terms) {
  const bool frobenius = std::holds_alternative<learn::StatisticsMap<L2>>(*terms.statistics);
  const double off = frobenius ? std::numbers::sqrt2 : 1;
  double variance = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    variance += weights[i] * weights[i] * TRY(noise_variance(charter, i));
  return SyncPlan::Moments{
      .off = off,
      .with_label = off * charter.privacy.label_weight,
      .floor = noise_floor(std::sqrt(variance), 1 / off, terms.lattice.dimension())};
}

SyncPlan::Gram gram_of(const Charter& charter, const Terms& terms) {
  const double unit = terms.gram->map.lattice().gamma() / static_cast<double>(terms.rows);
  const double noise = unit * std::sqrt(static_cast<double>(terms.gram->mechanism.variance()));
  const double curvature = learn::smoothness_of(charter::loss_of(charter.model));
  return {unit, noise_floor(noise, 1, terms.gram->map.columns()), curvature};
}

/// The variance of the noise on one coordinate of the owners' mean gradient.
Result<double> mean_variance(const Charter& charter) {
  double rows = 0, squares = 0;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    const auto own = static_cast<double>(charter.owners[i].rows);
    rows += own;
    squares += own * own * TRY(noise_variance(charter, i));
  }
  return squares / (rows * rows);
}

/// The same in a secure sum with the shares of all owners.
Result<double> secure_mean_variance(const Charter& charter) {
  const SecaggPlan plan = TRY(secagg_plan(charter));
  const double share =
      std::visit([](const auto& known) { return known.variance(); }, plan.owners.front().mechanism);
  return share * static_cast<double>(plan.owners.size()) * plan.unit * plan.unit;
}

}  // namespace

size_t SyncPlan::numbers() const {
  return moments ? learn::statistics_size(schedule.start.size()) : schedule.start.size();
}

Result<double> mean_deviation(const Charter& charter) {
  return std::sqrt(
      TRY(charter.secure_aggregation ? secure_mean_variance(charter) : mean_variance(charter)));
}

double newton_floor(double deviation, size_t columns) {
  return deviation * std::sqrt(static_cast<double>(columns)) / 2;
}

Result<NewtonHessian> newton_hessian(const Charter& charter, const data::Rows* pilot,
                                     std::span<const double> theta, const learn::Lattice& lattice) {
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "the rule needs public rows, and the charter has no [pilot]",
                 "Add a [pilot], or use rule = \"constant\" with start = \"zero\".",
                 {.key = "pilot"}};
  const auto [norm, limit] = clip_of(charter, lattice);
  const auto whole = learn::clipped_hessian(charter::loss_of(charter.model), *pilot, theta, norm,
                                            limit, charter.model.l2);
  const std::vector<size_t> thin = learn::thin_columns(*pilot);
  const size_t p = lattice.dimension();
  NewtonHessian kept;
  for (size_t j = 0; j < p; ++j)
    if (!std::binary_search(thin.begin(), thin.end(), j)) kept.columns.push_back(j);
  if (kept.columns.empty()) return thin_pilot();
  for (const size_t i : kept.columns)
    for (const size_t j : kept.columns) kept.matrix.push_back(whole[i * p + j]);
  return kept;
}

double longest_change(const Charter& charter) {
  return learn::two_classes(charter::loss_of(charter.model)) ? 2
                                                             : label_bound(charter.schema.target);
}

learn::Schedule step_table(const Charter& charter, std::vector<double> start,
                           std::vector<double> inverse_hessian) {
  const charter::Protocol& p = charter.protocol;
  const auto* sync = p.as<charter::Sync>();
  check(sync != nullptr);
  const auto answers = static_cast<uint32_t>(charter.answers());
  const auto table = [&] {
    switch (sync->rule) {
      case charter::Rule::kAlgorithm1:
        return learn::algorithm1(answers, p.step, sync->average, std::move(start));
      case charter::Rule::kAlgorithm2:
        return learn::algorithm2(answers, p.step, sync->average, std::move(start));
      case charter::Rule::kConstant:
        return learn::constant_step(answers, p.step, sync->average, std::move(start));
      case charter::Rule::kStronglyConvex:
        return learn::strongly_convex(answers, p.step, charter.model.l2, sync->average,
                                      std::move(start));
      case charter::Rule::kPilotNewton:
        return learn::pilot_newton(answers, p.step, sync->average, std::move(start),
                                   std::move(inverse_hessian));
      case charter::Rule::kGram:
        if (sync->momentum > 0)
          return learn::constant_step(answers, 1, learn::Average::kTail, std::move(start));
        return learn::gram_steps(answers, std::move(start));
      default:  // Statistics: one step, to their minimum.
        return learn::constant_step(answers, 1, learn::Average::kNone, std::move(start));
    }
  };
  learn::Schedule schedule = table();
  schedule.momentum = sync->momentum;
  if (sync->rule == charter::Rule::kPilotNewton || sync->rule == charter::Rule::kGram)
    schedule.longest = longest_change(charter);
  return schedule;
}

Result<std::vector<double>> start_of(const Charter& charter, const data::Rows* pilot,
                                     size_t dimension) {
  if (charter.protocol.start == charter::Start::kZero) return std::vector<double>(dimension);
  if (pilot == nullptr)
    return Error{Code::kInvalid,
                 "the start is the optimum of public rows, and the charter has no [pilot]",
                 "Add a [pilot], or use start = \"zero\".",
                 {.key = "pilot"}};
  return pilot_optimum(charter, *pilot);
}

Result<learn::Schedule> sync_schedule(const Charter& charter, const data::Rows* pilot,
                                      const learn::Lattice& lattice) {
  auto start = TRY(start_of(charter, pilot, lattice.dimension()));
  std::vector<double> curvature;
  if (charter.protocol.rule() == charter::Rule::kPilotNewton)
    curvature = TRY(curvature_at(charter, pilot, start, lattice));
  return step_table(charter, std::move(start), std::move(curvature));
}

Result<SyncPlan> sync_plan(const Charter& charter, const data::Rows* pilot) {
  if (!charter.protocol.as<charter::Sync>())
    return not_available("protocol.name", name_of(charter.protocol.name()), "Use \"sync\".");
  TRY(check_learner(charter));
  const Terms terms = TRY(terms_for(charter, 0));
  learn::Schedule schedule = TRY(sync_schedule(charter, pilot, terms.lattice));
  const auto weights = TRY(owner_weights(charter, schedule, pilot, terms.lattice));
  SyncPlan plan{.charter = charter.hash,
                .owners = {},
                .gamma = terms.lattice.gamma(),
                .box = charter.model.box,
                .l2 = charter.model.l2,
                .schedule = std::move(schedule),
                .quorum = static_cast<size_t>(charter.network.quorum)};
  for (size_t i = 0; i < charter.owners.size(); ++i)
    plan.owners.push_back(
        {charter.owners[i].name, static_cast<uint64_t>(charter.owners[i].rows), weights[i]});
  plan.evaluation = TRY(plan_evaluation(charter, terms, plan.owners));
  if (terms.statistics) plan.moments = TRY(moments_of(charter, weights, terms));
  if (terms.gram) plan.gram = gram_of(charter, terms);
  return plan;
}

}  // namespace parley::plan
