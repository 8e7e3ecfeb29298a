#include "parley/plan/secagg_terms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/charter/available.h"
#include "parley/plan/terms.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

constexpr int kBitsMax = 40;            // of gamma = 2^-bits
constexpr double kShareMin = 1 << 10;   // deviation of a share in lattice units
constexpr double kRoundingPart = 1e-3;  // of the sensitivity that rounding may add
constexpr double kDeviations = 12;      // noise beyond has probability below 1e-32
constexpr double kRing = 0x1p63;        // half of 2^64: sums are signed

Error is_draft(const Charter& charter) {
  return {Code::kInvalid,
          "the charter is a draft: " + charter.undecided.front() + " is not decided",
          "Only a complete charter trains.",
          {.key = charter.undecided.front()}};
}

Result<void> check_sums(const Charter& charter) {
  if (!charter.complete()) return is_draft(charter);
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.calibration != charter::Calibration::kSound)
    return not_available("privacy.calibration", name_of(privacy.calibration), "Use \"sound\".");
  if (privacy.clip != charter::Clip::kGradient)
    return not_available("privacy.clip", name_of(privacy.clip), "Use \"gradient\".");
  if (privacy.evaluate > 0 && charter.protocol.level == charter::Level::kParty)
    return not_available("privacy.evaluate", shortest(privacy.evaluate),
                         "Where whole owners are protected take evaluate = 0.0.");
  if (const int64_t bits = charter.secure_aggregation->word_bits; bits != 64)
    return not_available("secure_aggregation.word_bits", std::to_string(bits), "Use 64.");
  if (charter.protocol.rule == charter::Rule::kStatistics)
    return not_available("protocol.rule", "statistics",
                         "Under secure aggregation take a rule that asks for gradients.");
  if (charter.protocol.schedule == charter::LocalSteps::kTheorem4 && !(charter.model.l2 > 0))
    return Error{Code::kInvalid,
                 "schedule = \"theorem4\" needs model.l2 above 0",
                 "Give model.l2, or take schedule = \"constant\".",
                 {.key = "protocol.schedule"}};
  if (charter.protocol.schedule == charter::LocalSteps::kTheorem4 &&
      charter.model.loss == charter::Loss::kHinge)
    return Error{Code::kInvalid,
                 "schedule = \"theorem4\" needs a smooth loss, and hinge is not",
                 "Take schedule = \"constant\".",
                 {.key = "protocol.schedule"}};
  return {};
}

std::vector<double> weights_of(const Charter& charter) {
  double rows = 0;
  for (const charter::Owner& owner : charter.owners) rows += static_cast<double>(owner.rows);
  const bool alike = charter.protocol.weights == charter::Weights::kParties;
  std::vector<double> weights;
  for (const charter::Owner& owner : charter.owners)
    weights.push_back(alike ? 1 / static_cast<double>(charter.owners.size())
                            : static_cast<double>(owner.rows) / rows);
  return weights;
}

Result<learn::LocalUpdate> update_of(const Charter& charter, size_t owner, double weight) {
  learn::LocalPlan plan{.loss = charter::loss_of(charter.model),
                        .l2 = charter.model.l2,
                        .step = charter.protocol.step,
                        .steps = charter.protocol.local_steps,
                        .max_row_norm = charter.privacy.max_row_norm,
                        .max_grad_norm = charter.privacy.max_grad_norm,
                        .box = charter.model.box,
                        .weight = weight,
                        .rows = static_cast<uint64_t>(charter.owners[owner].rows),
                        .unit_records = static_cast<uint32_t>(charter.privacy.unit_records),
                        .max_update = charter.protocol.max_update_norm,
                        .dimension = charter.schema.features().size()};
  if (charter.protocol.schedule == charter::LocalSteps::kTheorem4)
    plan = learn::with_falling_steps(plan);
  return learn::LocalUpdate::make(plan);
}

/// All that each owner may spend on a part of the job.
Result<std::vector<privacy::Rho>> rhos_of(const Charter& charter, Part part) {
  std::map<std::pair<double, double>, privacy::Rho> known;  // Many owners are alike.
  std::vector<privacy::Rho> rhos;
  for (const charter::Owner& owner : charter.owners) {
    const std::pair promise(owner.epsilon, owner.delta);
    if (!known.contains(promise)) known.emplace(promise, TRY(rho_for(charter, owner, part)));
    rhos.push_back(known.at(promise));
  }
  return rhos;
}

/// What the noise must be enough for.
struct Need {
  std::vector<privacy::Rho> rhos;
  privacy::Parties parties;
  uint32_t answers = 0;
  size_t numbers = 0;
};

/// For `sums` that are opened, and those that may fail.
Result<Need> need_of(const Charter& charter, Part part, int64_t sums, size_t numbers) {
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  const auto parties = TRY(privacy::Parties::make(static_cast<uint32_t>(charter.owners.size()),
                                                  static_cast<uint32_t>(secure.survivors),
                                                  static_cast<uint32_t>(secure.colluders)));
  auto rhos = TRY(rhos_of(charter, part));
  return Need{std::move(rhos), parties, static_cast<uint32_t>(sums + secure.repeats), numbers};
}

/// The noise that is enough for every owner, whose parts one unit moves by `sensitivities`.
template <class M>
Result<privacy::SharedMechanisms> shared_noise(const Need& need,
                                               const std::vector<double>& sensitivities) {
  std::map<std::pair<double, double>, bool> known;
  std::optional<M> largest;
  for (size_t i = 0; i < sensitivities.size(); ++i) {
    if (!known.emplace(std::pair(sensitivities[i], need.rhos[i].value()), true).second) continue;
    const M noise =
        TRY(M::calibrate(sensitivities[i], need.answers, need.rhos[i], need.parties, need.numbers));
    if (!largest || noise.variance() > largest->variance()) largest.emplace(noise);
  }
  return privacy::SharedMechanisms(*largest);
}

Result<privacy::SharedMechanisms> mechanism_for(const Charter& charter, const Need& need,
                                                const std::vector<double>& sensitivities) {
  if (charter.privacy.mechanism == charter::MechanismName::kSkellam)
    return shared_noise<privacy::SkellamShare>(need, sensitivities);
  return shared_noise<privacy::GaussianShare>(need, sensitivities);
}

Result<privacy::SharedMechanisms> mechanism_on(const Charter& charter, const Need& need,
                                               const std::vector<learn::LocalUpdate>& updates,
                                               double gamma) {
  std::vector<double> sensitivities;
  for (const auto& update : updates) sensitivities.push_back(update.sensitivity_on(gamma));
  return mechanism_for(charter, need, sensitivities);
}

double variance_of(const privacy::SharedMechanisms& mechanism) {
  return std::visit([](const auto& known) { return known.variance(); }, mechanism);
}

/// The coarsest lattice on which rounding hardly counts.
int bits_for(const std::vector<learn::LocalUpdate>& updates) {
  double sensitivity = updates[0].sensitivity();
  for (const auto& update : updates) sensitivity = std::min(sensitivity, update.sensitivity());
  const double root = std::sqrt(static_cast<double>(updates[0].plan().dimension));
  int bits = 0;
  while (bits < kBitsMax && std::ldexp(root, -bits) > kRoundingPart * sensitivity) ++bits;
  return bits;
}

/// Of the noise in the sum of all owners.
double largest_noise(size_t owners, const privacy::SharedMechanisms& mechanism) {
  return kDeviations * std::sqrt(variance_of(mechanism) * static_cast<double>(owners));
}

Error overflows(double largest) {
  return {Code::kInvalid,
          "the sum may reach " + shortest(std::ceil(std::log2(largest))) +
              " bits, and a word of secure aggregation has 63 and a sign",
          "Take a larger epsilon, fewer local_steps, a smaller step or box, or fewer grid_bits.",
          {.key = "secure_aggregation.word_bits"}};
}

/// Where local steps lead: on the coarsest lattice on which neither rounding nor a share of the
/// noise is coarse.
Result<SecaggPlan> plan_updates(const Charter& charter, const Need& need) {
  const std::vector<double> weights = weights_of(charter);
  std::vector<learn::LocalUpdate> updates;
  for (size_t i = 0; i < weights.size(); ++i)
    updates.push_back(TRY(update_of(charter, i, weights[i])));
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
  SecaggPlan plan{lattice.gamma(),     0,  need.parties,
                  weights_of(charter), {}, largest_noise(charter.owners.size(), mechanism)};
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

privacy::Cost SecaggTerms::evaluation_cost() const {
  return std::visit([&](const auto& known) { return known.cost(evaluation->sensitivity()); },
                    evaluation->mechanism);
}

std::string SecaggTerms::evaluation_event() const {
  return std::visit([&](const auto& known) { return known.event(evaluation->sensitivity()); },
                    evaluation->mechanism);
}

privacy::Cost SecaggTerms::cost() const {
  return std::visit([&](const auto& known) { return known.cost(sensitivity()); }, mechanism);
}

std::string SecaggTerms::event() const {
  return std::visit([&](const auto& known) { return known.event(sensitivity()); }, mechanism);
}

const learn::Lattice& SecaggTerms::lattice() const {
  if (const auto* sum = std::get_if<GradientSum>(&part)) return sum->lattice;
  return update().lattice();
}

uint64_t SecaggTerms::rows() const {
  if (const auto* sum = std::get_if<GradientSum>(&part)) return sum->rows;
  return update().plan().rows;
}

double SecaggTerms::sensitivity() const {
  if (const auto* sum = std::get_if<GradientSum>(&part)) return sum->sensitivity();
  return update().sensitivity_on(gamma);
}

Result<SecaggPlan> secagg_plan(const Charter& charter) {
  check(charter.secure_aggregation.has_value());
  TRY(check_sums(charter));
  const Need need = TRY(
      need_of(charter, Part::kTraining, charter.protocol.rounds, charter.schema.features().size()));
  SecaggPlan plan = TRY(charter.protocol.name == charter::ProtocolName::kFederated
                            ? plan_updates(charter, need)
                            : plan_gradients(charter, need));
  TRY(plan_evaluation(charter, plan));
  const double largest = std::fmax(plan.largest, plan.largest_evaluation);
  if (!(largest < kRing)) return overflows(largest);
  return plan;
}

}  // namespace parley::plan
