#include "parley/plan/terms.h"

#include <string>
#include <utility>

#include "parley/plan/can_run.h"
#include "parley/plan/sums/gram.h"

namespace parley::plan {
namespace {

using charter::Charter;

Result<privacy::Mechanisms> laplace_for(const Charter& charter, const charter::Owner& owner,
                                        Part part, double sensitivity, uint32_t answers) {
  const auto epsilon = TRY(epsilon_for(charter, owner, part));
  return privacy::Mechanisms(TRY(privacy::Laplace::calibrate(sensitivity, answers, epsilon)));
}

Result<privacy::Mechanisms> gaussian_for(const Charter& charter, const charter::Owner& owner,
                                         Part part, double sensitivity, uint32_t answers) {
  const auto rho = TRY(rho_for(charter, owner, part));
  return privacy::Mechanisms(TRY(privacy::Gaussian::calibrate(sensitivity, answers, rho)));
}

/// The mechanism of gradients, paid with what the Gram matrix leaves.
Result<privacy::Mechanisms> after_gram_for(const Charter& charter, const charter::Owner& owner,
                                           const learn::Lattice& lattice) {
  const auto rho = TRY(after_gram(TRY(rho_for(charter, owner, Part::kTraining))));
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  return privacy::Mechanisms(TRY(privacy::Gaussian::calibrate(
      sensitivity<L2>(lattice, records), static_cast<uint32_t>(charter.answers()), rho)));
}

/// None unless the rule asks for one.
Result<std::optional<GramOnce>> gram_for(const Charter& charter, const charter::Owner& owner) {
  if (charter.protocol.rule() != charter::Rule::kGram) return std::optional<GramOnce>();
  if (charter.privacy.mechanism != charter::MechanismName::kGaussian)
    return charter::not_available("privacy.mechanism", name_of(charter.privacy.mechanism),
                                  "Rule \"gram\" of one owner has Gaussian noise: take "
                                  "\"gaussian\", or rule = \"constant\".");
  const auto map = TRY(gram_map(charter));
  const auto rho = TRY(for_gram(TRY(rho_for(charter, owner, Part::kTraining))));
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  const auto noise = TRY(privacy::Gaussian::calibrate(sensitivity(map, records), 1, rho));
  return std::optional(GramOnce{map, noise});
}

Result<privacy::Mechanisms> mechanism_for(const Charter& charter, const charter::Owner& owner,
                                          const learn::Lattice& lattice,
                                          const std::optional<Statistics>& statistics) {
  const auto answers = static_cast<uint32_t>(charter.answers());
  const auto records = static_cast<uint32_t>(charter.privacy.unit_records);
  if (charter.protocol.rule() == charter::Rule::kGram)
    return after_gram_for(charter, owner, lattice);
  if (charter.privacy.mechanism == charter::MechanismName::kLaplace)
    return laplace_for(charter, owner, Part::kTraining,
                       sensitivity_of<L1>(lattice, statistics, records), answers);
  return gaussian_for(charter, owner, Part::kTraining,
                      sensitivity_of<L2>(lattice, statistics, records), answers);
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

/// A job with a quorum may end before every owner has given all its answers.
bool may_end_early(const Charter& charter) {
  return charter.network.quorum < static_cast<int64_t>(charter.owners.size());
}

/// Terms of the owner that learns from the others: its whole epsilon pays for its tuned model.
Result<Terms> fine_tune_for(const Charter& charter, const charter::Owner& who) {
  if (!charter.protocol.learners.publish)
    return Error{Code::kInvalid,
                 who.name + " learns from the others and is asked nothing",
                 "Ask the other owners, or set protocol.publish = true to release its tuned model.",
                 {.key = "protocol.owner_learner"}};
  const auto tune =
      TRY(FineTune::make({.loss = charter::loss_of(charter.model),
                          .rows = static_cast<uint64_t>(who.rows),
                          .columns = charter.schema.features().size(),
                          .max_grad_norm = charter.privacy.max_grad_norm,
                          .l2 = charter.model.l2,
                          .pull = charter.protocol.learners.prox,
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

Result<std::optional<learn::EvaluationMap>> evaluation_map(const Charter& charter) {
  if (charter.privacy.evaluate == 0 || charter.columns_apart())
    return std::optional<learn::EvaluationMap>();
  return std::optional(TRY(learn::EvaluationMap::make(
      charter::loss_of(charter.model), label_bound(charter.schema.target),
      static_cast<int>(charter.privacy.grid_bits))));
}

Result<Terms> terms_for(const Charter& charter, size_t owner) {
  TRY(check_answers(charter));
  const charter::Owner& who = charter.owners.at(owner);
  if (charter.learns_from_others(who.name)) return fine_tune_for(charter, who);
  std::optional<Statistics> statistics;
  if (charter.protocol.statistics()) statistics = TRY(statistics_of(charter));
  const auto lattice = TRY(lattice_of(charter, statistics));
  auto gram = TRY(gram_for(charter, who));
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
               .gram = std::move(gram),
               .may_end_early = may_end_early(charter)};
}

}  // namespace parley::plan
