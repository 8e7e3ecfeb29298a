#include "parley/plan/sums/share_noise.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace parley::plan {
namespace {

using charter::Charter;

constexpr double kDeviations = 12;

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

}  // namespace

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

Result<Need> need_of(const Charter& charter, Part part, int64_t sums, size_t numbers) {
  const charter::SecureAggregation& secure = *charter.secure_aggregation;
  const auto parties = TRY(privacy::Parties::make(static_cast<uint32_t>(charter.owners.size()),
                                                  static_cast<uint32_t>(secure.survivors),
                                                  static_cast<uint32_t>(secure.colluders)));
  auto rhos = TRY(rhos_of(charter, part));
  return Need{std::move(rhos), parties, static_cast<uint32_t>(sums + secure.repeats), numbers};
}

Result<privacy::SharedMechanisms> mechanism_for(const Charter& charter, const Need& need,
                                                const std::vector<double>& sensitivities) {
  if (charter.privacy.mechanism == charter::MechanismName::kSkellam)
    return shared_noise<privacy::SkellamShare>(need, sensitivities);
  return shared_noise<privacy::GaussianShare>(need, sensitivities);
}

double variance_of(const privacy::SharedMechanisms& mechanism) {
  return std::visit([](const auto& known) { return known.variance(); }, mechanism);
}

double largest_noise(size_t owners, const privacy::SharedMechanisms& mechanism) {
  return kDeviations * std::sqrt(variance_of(mechanism) * static_cast<double>(owners));
}

}  // namespace parley::plan
