#include "parley/plan/secagg_terms.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/plan/can_run.h"
#include "parley/plan/learner/weights.h"
#include "parley/plan/sums/distance.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/sums/share_noise.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

constexpr int kBitsMax = 40;            // of gamma = 2^-bits
constexpr double kShareMin = 1 << 10;   // deviation of a share in lattice units
constexpr double kRoundingPart = 1e-3;  // of the sensitivity that rounding may add
constexpr double kRing = 0x1p63;        // half of 2^64: sums are signed

Result<privacy::SharedMechanisms> mechanism_on(const Charter& charter, const Need& need,
                                               const std::vector<learn::LocalUpdate>& updates,
                                               double gamma) {
  std::vector<double> sensitivities;
  for (const auto& update : updates) sensitivities.push_back(update.sensitivity_on(gamma));
  return mechanism_for(charter, need, sensitivities);
}

/// The coarsest lattice on which rounding adds at most kRoundingPart of the sensitivity.
int bits_for(const std::vector<learn::LocalUpdate>& updates) {
  double sensitivity = updates[0].sensitivity();
  for (const auto& update : updates) sensitivity = std::min(sensitivity, update.sensitivity());
  const double root = std::sqrt(static_cast<double>(updates[0].plan().dimension));
  int bits = 0;
  while (bits < kBitsMax && std::ldexp(root, -bits) > kRoundingPart * sensitivity) ++bits;
  return bits;
}

/// Advises a larger epsilon only where noise is what does not fit: less noise also makes the
/// lattice of updates finer, and everything else larger in its units.
Error overflows(const Charter& charter, double largest, double noise) {
  const bool updates = charter.protocol.as<charter::Federated>() != nullptr;
  return {Code::kInvalid,
          "the sum may reach " + shortest(std::ceil(std::log2(largest))) +
              " bits, and a word of secure aggregation has 63 and a sign",
          std::string("Take ") + (noise > largest / 2 ? "a larger epsilon, " : "") +
              (updates ? "fewer local_steps, or a smaller step or box."
                       : "fewer grid_bits, or fewer rows."),
          {.key = updates ? "protocol.local_steps" : "privacy.grid_bits"}};
}

/// Sums of local updates, on the coarsest lattice on which rounding adds little and a share of the
/// noise is wide enough.
Result<SecaggPlan> plan_updates(const Charter& charter, const Need& need) {
  const std::vector<double> weights = sum_weights(charter);
  std::vector<learn::LocalUpdate> updates;
  for (size_t i = 0; i < weights.size(); ++i)
    updates.push_back(TRY(local_update(
        charter, {.weight = weights[i],
                  .rows = static_cast<uint64_t>(charter.owners[i].rows),
                  .unit_records = static_cast<uint32_t>(charter.privacy.unit_records)})));
  int bits = bits_for(updates);
  double gamma = std::ldexp(1, -bits);
  auto mechanism = TRY(mechanism_on(charter, need, updates, gamma));
  while (bits < kBitsMax && variance_of(mechanism) < kShareMin * kShareMin) {
    gamma = std::ldexp(1, -++bits);
    mechanism = TRY(mechanism_on(charter, need, updates, gamma));
  }
  SecaggPlan plan{gamma,   -gamma, need.parties,
                  weights, {},     largest_noise(updates.size(), mechanism)};
  for (learn::LocalUpdate& update : updates) {
    plan.largest += update.largest() / gamma + 1;
    plan.owners.push_back(
        {charter.hash, need.answers, std::move(update), charter.model.box, gamma, mechanism});
  }
  return plan;
}

/// Sums of gradients, on the lattice of the records.
Result<SecaggPlan> plan_gradients(const Charter& charter, const Need& need) {
  if (charter.protocol.weights != charter::Weights::kRows)
    return not_available("protocol.weights", name_of(charter.protocol.weights),
                         "In a secure sum every record weighs alike: take weights = \"rows\".");
  const auto lattice = TRY(learn::Lattice::make(
      charter.privacy.max_grad_norm, static_cast<int>(charter.privacy.grid_bits), need.numbers));
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  const GradientSum one{charter::loss_of(charter.model), lattice, 0, records};
  const std::vector<double> sensitivities(charter.owners.size(), one.sensitivity());
  const auto mechanism = TRY(mechanism_for(charter, need, sensitivities));
  SecaggPlan plan{lattice.gamma(),      0,  need.parties,
                  sum_weights(charter), {}, largest_noise(charter.owners.size(), mechanism)};
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) {
    GradientSum sum = one;
    sum.rows = static_cast<uint64_t>(owner.rows);
    rows += static_cast<double>(owner.rows);
    plan.largest += sum.largest();
    plan.owners.push_back({charter.hash, need.answers, std::move(sum), charter.model.box,
                           lattice.gamma(), mechanism});
  }
  plan.unit = lattice.gamma() / rows;
  return plan;
}

/// Two lengths of each owner, on the lattice of the records.
Result<SecaggPlan> plan_distances(const Charter& charter, const Need& need) {
  const auto lattice = TRY(learn::Lattice::make(charter.privacy.max_grad_norm,
                                                static_cast<int>(charter.privacy.grid_bits),
                                                charter.schema.features().size()));
  std::vector<double> weights = distance_weights(charter);
  std::vector<DistanceSum> parts;
  std::vector<double> sensitivities;
  for (size_t i = 0; i < weights.size(); ++i) {
    parts.push_back(
        {charter::loss_of(charter.model),
         {lattice, static_cast<uint64_t>(charter.owners[i].rows), weights[i], charter.schema.bias},
         static_cast<uint32_t>(charter.privacy.unit_records)});
    sensitivities.push_back(parts.back().sensitivity());
  }
  const auto mechanism = TRY(mechanism_for(charter, need, sensitivities));
  SecaggPlan plan{lattice.gamma(), 0,  need.parties,
                  weights,         {}, largest_noise(charter.owners.size(), mechanism)};
  double total = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    total += weights[i];
    plan.largest += parts[i].norm.largest();
    plan.owners.push_back({charter.hash, need.answers, std::move(parts[i]), charter.model.box,
                           lattice.gamma(), mechanism});
  }
  for (double& weight : plan.weights) weight /= total;
  plan.unit = lattice.gamma() / total;
  return plan;
}

/// What owners add up, round by round or once.
Result<SecaggPlan> plan_sums(const Charter& charter) {
  const bool distance = charter.protocol.distance();
  Need need = TRY(need_of(charter, Part::kTraining, charter.protocol.rounds,
                          distance ? kDistanceNumbers : charter.schema.features().size()));
  if (charter.protocol.rule() == charter::Rule::kGram)
    for (privacy::Rho& rho : need.rhos) rho = TRY(after_gram(rho));
  if (distance) return plan_distances(charter, need);
  return charter.protocol.as<charter::Federated>() ? plan_updates(charter, need)
                                                   : plan_gradients(charter, need);
}

/// The same for all owners.
Result<void> plan_evaluation(const Charter& charter, SecaggPlan& plan) {
  const auto map = TRY(evaluation_map(charter));
  if (!map) return {};
  const Need need = TRY(need_of(charter, Part::kEvaluation, 1, map->size()));
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  const std::vector<double> sensitivities(charter.owners.size(), sensitivity<L2>(*map, records));
  const auto mechanism = TRY(mechanism_for(charter, need, sensitivities));
  plan.largest_evaluation = largest_noise(charter.owners.size(), mechanism);
  for (SecaggTerms& owner : plan.owners) {
    owner.evaluation = SecaggEvaluation{*map, records, need.answers, mechanism};
    plan.largest_evaluation += static_cast<double>(owner.rows()) * map->bound() / map->gamma();
  }
  return {};
}

}  // namespace

privacy::Cost SumTerms::cost() const {
  return std::visit([&](const auto& known) { return known.cost(sensitivity); }, *mechanism);
}

std::string SumTerms::event() const {
  return std::visit([&](const auto& known) { return known.event(sensitivity); }, *mechanism);
}

std::optional<SumTerms> SecaggTerms::of(privacy::ReleaseKind kind) const {
  using enum privacy::ReleaseKind;
  if (kind == kAnswer) return SumTerms{answers, numbers(), sensitivity(), &mechanism};
  if (kind == kEvaluation && evaluation)
    return SumTerms{evaluation->answers, evaluation->map.size(), evaluation->sensitivity(),
                    &evaluation->mechanism};
  if (kind == kGram && gram)
    return SumTerms{gram->answers, gram->map.size(), gram->sensitivity(), &gram->mechanism};
  if (kind == kAfterAlarm && after_alarm)
    return SumTerms{after_alarm->answers, features(), after_alarm->sum.sensitivity(),
                    &after_alarm->mechanism};
  return std::nullopt;
}

const learn::Lattice& SecaggTerms::lattice() const {
  if (const auto* sum = std::get_if<GradientSum>(&part)) return sum->lattice;
  if (const auto* sum = std::get_if<DistanceSum>(&part)) return sum->norm.lattice;
  return update().lattice();
}

uint64_t SecaggTerms::rows() const {
  if (const auto* sum = std::get_if<GradientSum>(&part)) return sum->rows;
  if (const auto* sum = std::get_if<DistanceSum>(&part)) return sum->norm.rows;
  return update().plan().rows;
}

size_t SecaggTerms::numbers() const {
  return std::holds_alternative<DistanceSum>(part) ? kDistanceNumbers : features();
}

double SecaggTerms::sensitivity() const {
  if (const auto* sum = std::get_if<GradientSum>(&part)) return sum->sensitivity();
  if (const auto* sum = std::get_if<DistanceSum>(&part)) return sum->sensitivity();
  return update().sensitivity_on(gamma);
}

std::vector<double> sum_weights(const Charter& charter) {
  const size_t owners = charter.owners.size();
  if (charter.protocol.weights == charter::Weights::kParties)
    return std::vector<double>(owners, 1 / static_cast<double>(owners));
  return row_weights(charter);
}

Result<learn::LocalUpdate> local_update(const Charter& charter, const LocalOwner& owner) {
  TRY(check_falling_steps(charter));
  const auto* federated = charter.protocol.as<charter::Federated>();
  check(federated != nullptr);
  learn::LocalPlan plan{.loss = charter::loss_of(charter.model),
                        .l2 = charter.model.l2,
                        .step = charter.protocol.step,
                        .steps = federated->local_steps,
                        .max_row_norm = charter.privacy.max_row_norm,
                        .max_grad_norm = charter.privacy.max_grad_norm,
                        .box = charter.model.box,
                        .weight = owner.weight,
                        .rows = owner.rows,
                        .unit_records = owner.unit_records,
                        .max_update = federated->max_update_norm,
                        .dimension = charter.schema.features().size()};
  if (federated->schedule == charter::LocalSteps::kTheorem4) plan = learn::with_falling_steps(plan);
  return learn::LocalUpdate::make(plan);
}

std::optional<double> shrunk_to(const Charter& charter) {
  if (!charter.protocol.as<charter::Federated>()) return std::nullopt;
  return charter.privacy.max_row_norm;
}

Result<SecaggPlan> secagg_plan(const Charter& charter) {
  check(charter.secure_aggregation.has_value());
  TRY(check_sums(charter));
  SecaggPlan plan = TRY(plan_sums(charter));
  TRY(plan_gram(charter, plan));
  TRY(plan_evaluation(charter, plan));
  const double largest = std::max(
      {plan.largest, plan.largest_evaluation, plan.gram.largest, plan.after_alarm.largest});
  if (!(largest < kRing))
    return overflows(charter, largest,
                     largest_noise(plan.owners.size(), plan.owners.front().mechanism));
  return plan;
}

}  // namespace parley::plan
