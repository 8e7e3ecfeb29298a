#include "parley/forecast/noise.h"

#include <cmath>

#include "parley/charter/available.h"
#include "parley/privacy/accounting/budget.h"

namespace parley::forecast {
namespace {

double rho_of(double epsilon, double delta) {
  const auto whole = privacy::Epsilon::make(epsilon);
  return privacy::Budget::make(*whole, delta, 0)->rho_max;
}

constexpr double kSmallest = 1e-9, kLargest = 1e9;  // epsilons looked at

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
  double low = std::log(kSmallest), high = std::log(kLargest);
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (strength(std::exp(middle), delta) > wanted ? low : high) = middle;
  }
  return std::exp(high);
}

double NoiseLaw::variance(const charter::Owner& owner, double answers, double clip) const {
  const double reach = clip / static_cast<double>(owner.rows);
  return strength(owner.epsilon, owner.delta) * reach * reach * std::pow(answers, power());
}

}  // namespace parley::forecast
