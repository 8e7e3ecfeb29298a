#include "parley/forecast/noise.h"

#include <cmath>
#include <map>
#include <numbers>

#include "parley/charter/available.h"
#include "parley/privacy/accounting/budget.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::forecast {
namespace {

double rho_of(double epsilon, double delta) {
  const auto whole = privacy::Epsilon::make(epsilon);
  return privacy::Budget::make(*whole, delta, 0)->rho_max;
}

}  // namespace

Result<NoiseLaw> NoiseLaw::of(const charter::Charter& charter) {
  const charter::Privacy& privacy = charter.privacy;
  if (privacy.calibration != charter::Calibration::kSound)
    return charter::not_available("privacy.calibration", name_of(privacy.calibration),
                                  "Forecasts are of \"sound\" jobs.");
  if (privacy.mechanism == charter::MechanismName::kSkellam)
    return charter::not_available("privacy.mechanism", name_of(privacy.mechanism),
                                  "Use \"laplace\" or \"gaussian\".");
  return NoiseLaw{privacy.mechanism, static_cast<double>(privacy.unit_records),
                  static_cast<double>(privacy.overlap), 1 - privacy.evaluate};
}

double NoiseLaw::strength(double epsilon, double delta) const {
  const double reach = 2 * unit_records;
  if (mechanism == charter::MechanismName::kLaplace) {
    const double scale = reach * overlap / (training * epsilon);
    return 2 * scale * scale;
  }
  return reach * reach * overlap / (2 * rho_of(training * epsilon, delta));
}

double NoiseLaw::epsilon(double wanted, double delta) const {
  if (mechanism == charter::MechanismName::kLaplace)
    return 2 * unit_records * overlap / (training * std::sqrt(wanted / 2));
  const double rho = 4 * unit_records * unit_records * overlap / (2 * wanted);
  const double convert = delta - delta / 1024;  // as Budget::make keeps a part of it
  return privacy::zcdp_epsilon(rho, *privacy::Delta::make(convert)) / training;
}

double NoiseLaw::variance(const charter::Owner& owner, double answers, double clip) const {
  const double reach = clip / static_cast<double>(owner.rows);
  return strength(owner.epsilon, owner.delta) * reach * reach * std::pow(answers, power());
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

double label_bound(const learn::Target& target) {
  if (!target.levels.empty()) return 1;
  return std::fmax(std::fabs(target.low - target.center), std::fabs(target.high - target.center)) /
         target.scale;
}

double reach_of(const charter::Charter& charter) {
  if (charter.protocol.rule != charter::Rule::kStatistics) return charter.privacy.max_grad_norm;
  const double row = charter.privacy.max_row_norm;
  if (charter.privacy.mechanism == charter::MechanismName::kLaplace) return row * row;
  const double label = label_bound(charter.schema.target) * charter.privacy.label_weight;
  return row <= label ? std::numbers::sqrt2 * row * label
                      : (row * row + label * label) / std::numbers::sqrt2;
}

}  // namespace parley::forecast
