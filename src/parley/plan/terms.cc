#include "parley/plan/terms.h"

#include <cmath>
#include <string>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/charter/available.h"
#include "parley/privacy/budget/budget.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

Result<void> check_available(const Charter& charter) {
  if (!charter.complete())
    return Error{Code::kInvalid,
                 "the charter is a draft: " + charter.undecided.front() + " is not decided",
                 "Only a complete charter trains.",
                 {.key = charter.undecided.front()}};
  if (charter.protocol.name == charter::ProtocolName::kFederated)
    return not_available("protocol.name", "federated", "Here use \"sync\" or \"async\".");
  if (charter.secure_aggregation)  // Its owners answer in sums only: plan/secagg_terms.h.
    return Error{Code::kInvalid,
                 "[secure_aggregation] is not available here",
                 "Leave the table out.",
                 {.key = "secure_aggregation"}};
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.calibration != charter::Calibration::kSound)
    return not_available("privacy.calibration", name_of(privacy.calibration), "Use \"sound\".");
  if (privacy.mechanism == charter::MechanismName::kSkellam)
    return not_available("privacy.mechanism", name_of(privacy.mechanism),
                         "Use \"laplace\" or \"gaussian\".");
  if (privacy.clip != charter::Clip::kGradient)
    return not_available("privacy.clip", name_of(privacy.clip), "Use \"gradient\".");
  return {};
}

/// epsilon (1 - evaluate), rounded down at every step.
double training_epsilon(const Charter& charter, const charter::Owner& owner) {
  const double kept = next_down(1 - charter.privacy.evaluate);
  return charter.privacy.evaluate == 0 ? owner.epsilon : next_down(owner.epsilon * kept);
}

/// What one job on one of kappa data sets may use of `whole`, rounded down.
double share(double whole, const Charter& charter) {
  const auto parts = static_cast<double>(charter.privacy.overlap * charter.jobs());
  return parts == 1 ? whole : next_down(whole / parts);
}

/// The evaluation gets what the training leaves, so that both together never exceed the whole.
Result<privacy::Mechanisms> laplace_for(const Charter& charter, const charter::Owner& owner,
                                        Part part, double sensitivity, uint32_t answers) {
  const double training = training_epsilon(charter, owner);
  const double all = part == Part::kTraining ? training : next_down(owner.epsilon - training);
  const auto epsilon = TRY(privacy::Epsilon::make(share(all, charter)));
  return privacy::Mechanisms(TRY(privacy::Laplace::calibrate(sensitivity, answers, epsilon)));
}

Result<double> rho_of(double epsilon, double delta) {
  const auto whole = TRY(privacy::Epsilon::make(epsilon));
  return TRY(privacy::Budget::make(whole, delta, 0)).rho_max;
}

Result<privacy::Mechanisms> gaussian_for(const Charter& charter, const charter::Owner& owner,
                                         Part part, double sensitivity, uint32_t answers) {
  const auto rho = TRY(rho_for(charter, owner, part));
  return privacy::Mechanisms(TRY(privacy::Gaussian::calibrate(sensitivity, answers, rho)));
}

Result<privacy::Mechanisms> mechanism_for(const Charter& charter, const charter::Owner& owner,
                                          const learn::Lattice& lattice,
                                          const std::optional<Statistics>& statistics) {
  const auto answers = static_cast<uint32_t>(charter.answers());
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  if (charter.privacy.mechanism == charter::MechanismName::kLaplace)
    return laplace_for(charter, owner, Part::kTraining,
                       sensitivity_of<L1>(lattice, statistics, records), answers);
  return gaussian_for(charter, owner, Part::kTraining,
                      sensitivity_of<L2>(lattice, statistics, records), answers);
}

/// The largest label in size: public, by the target's bounds.
double label_bound(const data::Target& target) {
  if (!target.levels.empty()) return 1;
  return std::fmax(std::fabs(target.low - target.center), std::fabs(target.high - target.center)) /
         target.scale;
}

Result<Statistics> statistics_of(const Charter& charter) {
  const double row = charter.privacy.max_row_norm, label = label_bound(charter.schema.target);
  const int bits = static_cast<int>(charter.privacy.grid_bits);
  const size_t columns = charter.schema.features().size();
  const double weight = charter.privacy.label_weight;
  if (charter.privacy.mechanism == charter::MechanismName::kLaplace)
    return Statistics(TRY(learn::StatisticsMap<L1>::make(row, label, bits, columns, weight)));
  return Statistics(TRY(learn::StatisticsMap<L2>::make(row, label, bits, columns, weight)));
}

Result<learn::Lattice> lattice_of(const Charter& charter,
                                  const std::optional<Statistics>& statistics) {
  if (statistics) return std::visit([](const auto& map) { return map.lattice(); }, *statistics);
  return learn::Lattice::make(charter.privacy.max_grad_norm,
                              static_cast<int>(charter.privacy.grid_bits),
                              charter.schema.features().size());
}

Result<std::optional<Evaluation>> evaluation_for(const Charter& charter,
                                                 const charter::Owner& owner) {
  const auto map = TRY(evaluation_map(charter));
  if (!map) return std::optional<Evaluation>();
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  const bool laplace = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  const auto mechanism = TRY(
      laplace ? laplace_for(charter, owner, Part::kEvaluation, sensitivity<L1>(*map, records), 1)
              : gaussian_for(charter, owner, Part::kEvaluation, sensitivity<L2>(*map, records), 1));
  return std::optional(Evaluation{*map, mechanism});
}

/// Where not every owner must answer every round.
bool may_end_early(const Charter& charter) {
  return charter.network.quorum < static_cast<int64_t>(charter.owners.size());
}

/// Of the owner that learns from the others: all of its epsilon for its tuned model, once.
Result<Terms> fine_tune_for(const Charter& charter, const charter::Owner& who) {
  if (!charter.protocol.publish)
    return Error{Code::kInvalid, who.name + " learns from the others and is asked nothing"};
  const auto tune =
      TRY(FineTune::make({.loss = charter::loss_of(charter.model),
                          .rows = static_cast<uint64_t>(who.rows),
                          .columns = charter.schema.features().size(),
                          .max_grad_norm = charter.privacy.max_grad_norm,
                          .l2 = charter.model.l2,
                          .pull = charter.protocol.prox,
                          .box = charter.model.box,
                          .unit_records = static_cast<uint32_t>(charter.privacy.unit_records),
                          .grid_bits = static_cast<int>(charter.privacy.grid_bits)}));
  const bool laplace = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  const auto mechanism =
      TRY(laplace ? laplace_for(charter, who, Part::kTraining, tune.sensitivity<L1>(), 1)
                  : gaussian_for(charter, who, Part::kTraining, tune.sensitivity<L2>(), 1));
  return Terms{.charter = charter.hash,
               .rows = static_cast<uint64_t>(who.rows),
               .answers = 1,
               .box = charter.model.box,
               .unit_records = static_cast<uint32_t>(charter.privacy.unit_records),
               .loss = charter::loss_of(charter.model),
               .lattice = tune.lattice(),
               .mechanism = mechanism,
               .fine_tune = tune};
}

}  // namespace

/// The charges of kappa data sets add up as rho, so rho is what they share: for kappa data sets the
/// noise grows by sqrt(kappa) only. So do training and evaluation.
Result<privacy::Rho> rho_for(const Charter& charter, const charter::Owner& owner, Part part) {
  double all = TRY(rho_of(training_epsilon(charter, owner), owner.delta));
  if (part == Part::kEvaluation) {
    const double whole = TRY(rho_of(owner.epsilon, owner.delta));
    all = next_down(next_down(whole - all));
  }
  return privacy::Rho::make(share(all, charter));
}

Result<std::optional<learn::EvaluationMap>> evaluation_map(const Charter& charter) {
  if (charter.privacy.evaluate == 0 || charter.protocol.name == charter::ProtocolName::kSharing)
    return std::optional<learn::EvaluationMap>();
  return std::optional(TRY(learn::EvaluationMap::make(
      charter::loss_of(charter.model), label_bound(charter.schema.target),
      static_cast<int>(charter.privacy.grid_bits))));
}

Result<Terms> terms_for(const Charter& charter, size_t owner) {
  TRY(check_available(charter));
  const charter::Owner& who = charter.owners.at(owner);
  if (charter.learns_from_others(who.name)) return fine_tune_for(charter, who);
  std::optional<Statistics> statistics;
  if (charter.protocol.rule == charter::Rule::kStatistics) statistics = TRY(statistics_of(charter));
  const auto lattice = TRY(lattice_of(charter, statistics));
  const auto mechanism = TRY(mechanism_for(charter, who, lattice, statistics));
  auto evaluation = TRY(evaluation_for(charter, who));
  return Terms{.charter = charter.hash,
               .rows = static_cast<uint64_t>(who.rows),
               .answers = static_cast<uint32_t>(charter.answers()),
               .box = charter.model.box,
               .unit_records = static_cast<uint32_t>(charter.privacy.unit_records),
               .loss = charter::loss_of(charter.model),
               .lattice = lattice,
               .mechanism = mechanism,
               .statistics = std::move(statistics),
               .evaluation = std::move(evaluation),
               .may_end_early = may_end_early(charter)};
}

}  // namespace parley::plan
