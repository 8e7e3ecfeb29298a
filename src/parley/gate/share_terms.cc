#include "parley/gate/share_terms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "parley/base/number.h"
#include "parley/charter/available.h"
#include "parley/privacy/accounting/budget.h"

namespace parley::gate {
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

Result<void> check_available(const Charter& charter) {
  if (!charter.complete()) return is_draft(charter);
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.calibration != charter::Calibration::kSound)
    return not_available("privacy.calibration", name_of(privacy.calibration), "Use \"sound\".");
  if (privacy.clip != charter::Clip::kGradient)
    return not_available("privacy.clip", name_of(privacy.clip), "Use \"gradient\".");
  if (privacy.evaluate > 0)
    return not_available("privacy.evaluate", shortest(privacy.evaluate),
                         "Under protocol federated take evaluate = 0.0.");
  if (const int64_t bits = charter.secure_aggregation->word_bits; bits != 64)
    return not_available("secure_aggregation.word_bits", std::to_string(bits), "Use 64.");
  if (charter.protocol.schedule == charter::LocalSteps::kTheorem4 && !(charter.model.l2 > 0))
    return Error{Code::kInvalid,
                 "schedule = \"theorem4\" needs model.l2 above 0",
                 "Give model.l2, or take schedule = \"constant\".",
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

/// All that each owner may spend on the job, shared among overlapping data sets.
Result<std::vector<privacy::Rho>> rhos_of(const Charter& charter) {
  std::map<std::pair<double, double>, privacy::Rho> known;  // Many owners are alike.
  std::vector<privacy::Rho> rhos;
  for (const charter::Owner& owner : charter.owners) {
    const std::pair promise(owner.epsilon, owner.delta);
    if (!known.contains(promise)) {
      const auto epsilon = TRY(privacy::Epsilon::make(owner.epsilon));
      const double whole = TRY(privacy::Budget::make(epsilon, owner.delta, 0)).rho_max;
      const auto parts = static_cast<double>(charter.privacy.overlap);
      known.emplace(promise,
                    TRY(privacy::Rho::make(parts == 1 ? whole : next_down(whole / parts))));
    }
    rhos.push_back(known.at(promise));
  }
  return rhos;
}

/// What the noise must be enough for.
struct Need {
  const std::vector<learn::LocalUpdate>& updates;
  const std::vector<privacy::Rho>& rhos;
  privacy::Parties parties;
  uint32_t answers;
};

/// The noise that is enough for every owner.
template <class M>
Result<privacy::SharedMechanisms> shared_noise(const Need& need, double gamma) {
  std::map<std::pair<double, double>, bool> known;
  std::optional<M> largest;
  for (size_t i = 0; i < need.updates.size(); ++i) {
    const double sensitivity = need.updates[i].sensitivity_on(gamma);
    if (!known.emplace(std::pair(sensitivity, need.rhos[i].value()), true).second) continue;
    const M noise = TRY(M::calibrate(sensitivity, need.answers, need.rhos[i], need.parties,
                                     need.updates[i].plan().dimension));
    if (!largest || noise.variance() > largest->variance()) largest.emplace(noise);
  }
  return privacy::SharedMechanisms(*largest);
}

Result<privacy::SharedMechanisms> mechanism_on(const Charter& charter, const Need& need,
                                               double gamma) {
  if (charter.privacy.mechanism == charter::MechanismName::kSkellam)
    return shared_noise<privacy::SkellamShare>(need, gamma);
  return shared_noise<privacy::GaussianShare>(need, gamma);
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

/// Every coordinate of the sum of all owners, noise included.
double largest_sum(const std::vector<learn::LocalUpdate>& updates, double gamma, double variance) {
  double sum = kDeviations * std::sqrt(variance * static_cast<double>(updates.size()));
  for (const auto& update : updates) sum += update.largest() / gamma + 1;
  return sum;
}

Error overflows(double largest) {
  return {Code::kInvalid,
          "the sum may reach " + shortest(std::ceil(std::log2(largest))) +
              " bits, and a word of secure aggregation has 63 and a sign",
          "Take fewer local_steps, a smaller step or box, or a larger epsilon.",
          {.key = "secure_aggregation.word_bits"}};
}

}  // namespace

privacy::Cost ShareTerms::cost() const {
  return std::visit([&](const auto& known) { return known.cost(sensitivity()); }, mechanism);
}

std::string ShareTerms::event() const {
  return std::visit([&](const auto& known) { return known.event(sensitivity()); }, mechanism);
}

Result<SharePlan> share_plan(const Charter& charter) {
  check(charter.secure_aggregation.has_value());
  TRY(check_available(charter));
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  const auto parties = TRY(privacy::Parties::make(static_cast<uint32_t>(charter.owners.size()),
                                                  static_cast<uint32_t>(secure.survivors),
                                                  static_cast<uint32_t>(secure.colluders)));
  const std::vector<double> weights = weights_of(charter);
  std::vector<learn::LocalUpdate> updates;
  for (size_t i = 0; i < weights.size(); ++i)
    updates.push_back(TRY(update_of(charter, i, weights[i])));
  const auto answers = static_cast<uint32_t>(charter.protocol.rounds + secure.repeats);
  int bits = bits_for(updates);
  double gamma = std::ldexp(1, -bits);
  const auto rhos = TRY(rhos_of(charter));
  const Need need{updates, rhos, parties, answers};
  auto mechanism = TRY(mechanism_on(charter, need, gamma));
  while (bits < kBitsMax && variance_of(mechanism) < kShareMin * kShareMin) {
    gamma = std::ldexp(1, -++bits);
    mechanism = TRY(mechanism_on(charter, need, gamma));
  }
  const double largest = largest_sum(updates, gamma, variance_of(mechanism));
  if (!(largest < kRing)) return overflows(largest);
  SharePlan plan{gamma, parties, weights, {}, largest};
  for (learn::LocalUpdate& update : updates)
    plan.owners.push_back({charter.hash, answers, std::move(update), gamma, mechanism});
  return plan;
}

}  // namespace parley::gate
