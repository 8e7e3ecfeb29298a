#include "parley/plan/noise.h"

#include <cmath>
#include <map>

#include "parley/base/math/number.h"
#include "parley/charter/available.h"
#include "parley/plan/budget.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sensitivity.h"
#include "parley/plan/vertical_terms.h"
#include "parley/privacy/mechanism/laplace.h"

namespace parley::plan {

Result<NoiseLaw> NoiseLaw::of(const charter::Charter& charter) {
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.calibration != charter::Calibration::kSound)
    return charter::not_available("privacy.calibration", name_of(privacy.calibration),
                                  "Forecasts are of \"sound\" jobs.");
  const bool in_sums = charter.secure_aggregation.has_value();
  if (privacy.mechanism == charter::MechanismName::kSkellam && !in_sums)
    return charter::not_available("privacy.mechanism", name_of(privacy.mechanism),
                                  "Use \"laplace\" or \"gaussian\".");
  NoiseLaw law{privacy.mechanism, static_cast<double>(privacy.unit_records),
               static_cast<double>(parts_of(charter)), 1 - privacy.evaluate};
  // With columns in several places nothing is kept for an evaluation.
  if (charter.columns_apart()) law.training = 1;
  if (!in_sums) return law;
  // On so fine a lattice Skellam shares have the variance of Gaussian ones within a thousandth.
  law.mechanism = charter::MechanismName::kGaussian;
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  law.surplus = static_cast<double>(charter.owners.size()) /
                static_cast<double>(secure.survivors - secure.colluders);
  if (!charter.protocol.by_record()) law.unit_records = 1;
  return law;
}

double NoiseLaw::strength(double epsilon, double delta) const {
  const double reach = 2 * unit_records;
  if (mechanism == charter::MechanismName::kLaplace) {
    const double scale = reach * overlap / (training * epsilon);
    return 2 * scale * scale;
  }
  return surplus * reach * reach * overlap / (2 * *rho_of(training * epsilon, delta));
}

double NoiseLaw::epsilon(double wanted, double delta) const {
  if (mechanism == charter::MechanismName::kLaplace)
    return 2 * unit_records * overlap / (training * std::sqrt(wanted / 2));
  const double rho = surplus * 4 * unit_records * unit_records * overlap / (2 * wanted);
  return *epsilon_of(rho, delta) / training;
}

double NoiseLaw::variance(const charter::Owner& owner, double answers, double clip) const {
  const double reach = clip / static_cast<double>(owner.rows);
  return variance_of(strength(owner.epsilon, owner.delta), reach, answers);
}

std::vector<double> NoiseLaw::strengths(std::span<const charter::Owner> owners) const {
  std::map<std::pair<double, double>, double> known;
  std::vector<double> found;
  for (const charter::Owner& owner : owners) {
    const auto [at, fresh] = known.try_emplace({owner.epsilon, owner.delta});
    if (fresh) at->second = strength(owner.epsilon, owner.delta);
    found.push_back(at->second);
  }
  return found;
}

double minimum_moves(double max_grad_norm, uint32_t unit_records, uint64_t rows, double convexity) {
  return next_up(next_up(kReplaceOne * max_grad_norm * unit_records) /
                 next_down(static_cast<double>(rows) * convexity));
}

Result<double> noise_scale(const charter::Charter& charter, const charter::Owner& owner,
                           double sensitivity, double answers) {
  if (charter.privacy.mechanism == charter::MechanismName::kLaplace)
    return sensitivity * answers / TRY(epsilon_for(charter, owner, Part::kTraining)).value();
  const auto rho = TRY(rho_for(charter, owner, Part::kTraining));
  return gaussian_scale(sensitivity, answers, rho.value());
}

Result<double> paper_scale(const charter::Charter& charter, const charter::Owner& owner) {
  const charter::Privacy& privacy = charter.privacy;
  if (charter.protocol.learners.owner && owner.name == charter.learner.name) return 0.0;
  const auto epsilon = TRY(privacy::Epsilon::make(owner.epsilon));
  return privacy::laplace_scale(privacy.max_grad_norm, static_cast<double>(charter.protocol.rounds),
                                static_cast<double>(owner.rows), epsilon,
                                static_cast<double>(privacy.overlap));
}

Result<double> mean_noise_scale(const charter::Charter& charter, const charter::Owner& owner) {
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.calibration == charter::Calibration::kPaper) return paper_scale(charter, owner);
  const double per_unit = kReplaceOne * privacy.max_grad_norm * double(privacy.unit_records);
  return noise_scale(charter, owner, per_unit / static_cast<double>(owner.rows),
                     static_cast<double>(charter.answers()));
}

double paid_answers(const charter::Charter& charter) {
  const int64_t repeats = charter.secure_aggregation ? charter.secure_aggregation->repeats : 0;
  return static_cast<double>(charter.answers() + repeats);
}

double reach_of(const charter::Charter& charter) {
  if (charter.protocol.as<charter::Federated>())
    return local_update(charter, {})->sensitivity() / 2;  // job_of has checked it.
  const auto* vertical = charter.protocol.as<charter::Vertical>();
  if (vertical && vertical->rule == charter::Rule::kGradients) {
    // The gradient of half the squares is released.
    if (charter.protocol.without_dealer())
      return box_gradient(charter).sensitivity() * box_gradient(charter).unit();
    const double row = row_norm_of(charter);
    return row * row * vertical->model_ball + 2 * row;
  }
  if (!charter.protocol.statistics()) return charter.privacy.max_grad_norm;
  if (vertical) return learn::moments_reach<L2>(row_norm_of(charter), label_reach(charter)) / 2;
  const double row = charter.privacy.max_row_norm;
  const double label = label_bound(charter.schema.target) * charter.privacy.label_weight;
  const bool laplace = charter.privacy.mechanism == charter::MechanismName::kLaplace;
  return (laplace ? learn::moments_reach<L1>(row, label) : learn::moments_reach<L2>(row, label)) /
         2;
}

}  // namespace parley::plan
