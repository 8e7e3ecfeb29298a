#include "parley/audit/targets/mechanisms.h"

#include <cmath>
#include <string>
#include <type_traits>
#include <variant>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/privacy/mechanisms.h"

namespace parley::audit {
namespace {

using privacy::Epsilon, privacy::Rho;

constexpr double kControlRecords = 4;  // A unit of four records where one is promised.

Result<Rho> rho_of(const MechanismSetting& s) {
  const auto delta = TRY(privacy::Delta::make(s.delta));
  return Rho::make(privacy::zcdp_rho(s.epsilon, delta));
}

/// Calibrated as the mechanism itself does it, by whichever budget it takes; for one coordinate
/// where that counts, since in one the worlds differ.
template <class M>
Result<M> specimen(const MechanismSetting& s) {
  const Epsilon epsilon = TRY(Epsilon::make(s.epsilon));
  if constexpr (requires { M::calibrate(s.sensitivity, s.answers, epsilon); }) {
    return M::calibrate(s.sensitivity, s.answers, epsilon);
  } else if constexpr (requires(Rho rho) { M::calibrate(s.sensitivity, s.answers, rho); }) {
    return M::calibrate(s.sensitivity, s.answers, TRY(rho_of(s)));
  } else if constexpr (requires(Rho rho) { M::calibrate(s.sensitivity, s.answers, rho, 1); }) {
    return M::calibrate(s.sensitivity, s.answers, TRY(rho_of(s)), 1);
  } else {
    return Error{Code::kFailed, std::string(M::kName) + ": the auditor cannot calibrate it",
                 "Teach audit/targets/mechanisms.cc how."};
  }
}

/// Noise whose errors may be judged as a Gaussian's. Skellam's excess kurtosis is 1/variance: next
/// to nothing at the widths of a lattice, and where it is not, its charge is loose.
template <class M>
constexpr bool kGaussian =
    std::is_same_v<M, privacy::Gaussian> || std::is_same_v<M, privacy::Skellam>;

/// What the mechanism says all answers together cost.
template <class M>
Claim claim_of(const M& mechanism, const MechanismSetting& s) {
  const privacy::Cost cost = mechanism.cost(s.sensitivity);
  double amount = 0, delta = 0;
  for (uint32_t i = 0; i < s.answers; ++i)
    amount = add_up(amount, cost.amount), delta = add_up(delta, cost.delta);
  if (cost.track == privacy::Track::kPure) return {amount, delta, false};
  return {privacy::zcdp_epsilon(amount, *privacy::Delta::make(s.delta)), add_up(s.delta, delta),
          kGaussian<M>};
}

/// The likelihood ratio of one answer, or what stands for it: the difference of distances where
/// noise is measured in L1 (Laplace's own), the projection on the shift in L2 (a Gaussian's).
template <class Norm>
double score(double answer, double shift) {
  if constexpr (std::is_same_v<Norm, L1>) return std::fabs(answer) - std::fabs(answer - shift);
  return answer;
}

template <class M>
Play play_of(const M& mechanism, const MechanismSetting& s, double times) {
  const double shift = std::floor(s.sensitivity * times);
  return [=](World world, Entropy& entropy) -> Result<double> {
    const double center = world == World::kFirst ? 0 : shift;
    double total = 0;
    for (uint32_t i = 0; i < s.answers; ++i)
      total += score<typename M::Norm>(center + double(mechanism.sample(entropy)), shift);
    return total;
  };
}

/// Every canary moves a coordinate of its own up or down by half of the sensitivity.
template <class M>
CanaryRun canaries_of(const M& mechanism, const MechanismSetting& s, double times) {
  const double half = std::floor(s.sensitivity * times / 2);
  return [=](const std::vector<bool>& coins, Entropy& entropy) -> Result<std::vector<double>> {
    std::vector<double> totals(coins.size());
    for (uint32_t i = 0; i < s.answers; ++i)
      for (size_t j = 0; j < coins.size(); ++j)
        totals[j] += (coins[j] ? half : -half) + double(mechanism.sample(entropy));
    return totals;
  };
}

template <class M>
Result<Target> target_of(const MechanismSetting& s) {
  if (!(s.sensitivity >= 1 && s.sensitivity <= 0x1p40 && s.answers >= 1))
    return Error{Code::kInvalid, "a sensitivity lies between 1 and 2^40, answers from 1 on"};
  const M mechanism = TRY(specimen<M>(s));
  return Target{.kind = "mechanism",
                .name = std::string(M::kName),
                .what = "sums that differ by the sensitivity in one coordinate",
                .claimed = claim_of(mechanism, s),
                .play = play_of(mechanism, s, 1),
                .control = play_of(mechanism, s, kControlRecords),
                .control_name = "four records instead of one",
                .canaries = canaries_of(mechanism, s, 1),
                .control_canaries = canaries_of(mechanism, s, kControlRecords)};
}

template <class... Known>
std::vector<std::string_view> names(std::type_identity<std::variant<Known...>>) {
  return {Known::kName...};
}

template <class... Known>
Result<Target> find(std::string_view name, const MechanismSetting& s,
                    std::type_identity<std::variant<Known...>>) {
  Result<Target> found = Error{Code::kInvalid, "there is no mechanism '" + std::string(name) + "'",
                               "`parley audit --list` names them."};
  ((Known::kName == name ? void(found = target_of<Known>(s)) : void()), ...);
  return found;
}

}  // namespace

std::vector<std::string_view> mechanism_names() {
  return names(std::type_identity<privacy::Mechanisms>{});
}

Result<Target> mechanism_target(std::string_view name, const MechanismSetting& setting) {
  return find(name, setting, std::type_identity<privacy::Mechanisms>{});
}

}  // namespace parley::audit
