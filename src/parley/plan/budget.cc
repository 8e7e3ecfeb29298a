#include "parley/plan/budget.h"

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/privacy/budget/budget.h"

namespace parley::plan {

namespace {

using charter::Charter;

Error buys_nothing(const Charter& charter, const charter::Owner& owner, Part part) {
  size_t place = 0;
  while (place < charter.owners.size() && charter.owners[place].name != owner.name) ++place;
  const std::string key = "owner[" + std::to_string(place) + "].epsilon";
  const bool training = part == Part::kTraining;
  return {
      Code::kInvalid,
      owner.name + "'s epsilon " + shortest(owner.epsilon) + " with delta " +
          shortest(owner.delta) + " leaves no rho for the " +
          (training ? "training" : "evaluation"),
      training ? "Take a larger epsilon or delta." : "Take a larger epsilon, or evaluate = 0.0.",
      {.key = key}};
}

}  // namespace

double divided(double whole, int64_t parts) {
  return parts == 1 ? whole : next_down(whole / static_cast<double>(parts));
}

int64_t parts_of(const Charter& charter) { return charter.privacy.overlap * charter.jobs(); }

double training_epsilon(const Charter& charter, const charter::Owner& owner) {
  if (charter.columns_apart() || charter.privacy.evaluate == 0) return owner.epsilon;
  return next_down(owner.epsilon * next_down(1 - charter.privacy.evaluate));
}

Result<double> rho_of(double epsilon, double delta) {
  const auto whole = TRY(privacy::Epsilon::make(epsilon));
  return TRY(privacy::Budget::make(whole, delta, 0)).rho_max;
}

Result<double> epsilon_of(double rho, double delta) {
  const auto budget = TRY(privacy::Budget::make(privacy::Epsilon(1.0), delta, 0));
  return privacy::zcdp_epsilon(rho, TRY(privacy::Delta::make(budget.delta_convert)));
}

Result<double> epsilon_of_jobs(double epsilon, double delta, double jobs) {
  if (delta == 0) return mul_up(epsilon, jobs);
  return epsilon_of(mul_up(TRY(rho_of(epsilon, delta)), jobs), delta);
}

Result<privacy::Epsilon> epsilon_for(const Charter& charter, const charter::Owner& owner,
                                     Part part) {
  const double training = training_epsilon(charter, owner);
  const double all = part == Part::kTraining ? training : next_down(owner.epsilon - training);
  return privacy::Epsilon::make(divided(all, parts_of(charter)));
}

Result<privacy::Rho> rho_for(const Charter& charter, const charter::Owner& owner, Part part) {
  double all = TRY(rho_of(training_epsilon(charter, owner), owner.delta));
  if (part == Part::kEvaluation) {
    const double whole = TRY(rho_of(owner.epsilon, owner.delta));
    all = next_down(next_down(whole - all));
  }
  const auto rho = privacy::Rho::make(divided(all, parts_of(charter)));
  if (!rho) return buys_nothing(charter, owner, part);
  return *rho;
}

}  // namespace parley::plan
