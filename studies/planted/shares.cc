// NOT PRIVATE: sums of which the parts can be had, or whose noise is not what was charged.
#include <cmath>
#include <memory>

#include "parley/privacy/accounting/zcdp.h"
#include "parley/privacy/mechanisms.h"
#include "parley/protocol/secagg/aggregation_server.h"
#include "studies/planted/planted.h"

namespace parley::planted {
namespace {

using audit::World;
using namespace protocol;

constexpr double kShift = 0x1p20;  // the sensitivity, in lattice units
constexpr double kAtDelta = 1e-5;
constexpr size_t kOwners = 40, kVictim = 0;

/// What a sum of all owners needs, as a share of each.
Result<privacy::Gaussian> share_of(size_t owners) {
  const auto rho = TRY(privacy::Rho::make(privacy::zcdp_rho(1, *privacy::Delta::make(kAtDelta))));
  const auto whole = TRY(privacy::Gaussian::calibrate(kShift, 1, rho));
  return privacy::Gaussian::make(std::floor(whole.variance() / double(owners)));
}

/// The product's own aggregation up to the vectors, by a server that relays.
struct Begun {
  AggregationPlan plan;
  std::vector<SigningKey> keys{};
  std::vector<std::unique_ptr<AggregationMember>> members{};

  Begun(AggregationPlan of, Entropy& entropy) : plan(std::move(of)) {
    for (size_t i = 0; i < kOwners; ++i) {
      keys.push_back(SigningKey::make());
      plan.members.push_back({"owner-" + std::to_string(i), keys[i].public_key()});
    }
    for (size_t i = 0; i < kOwners; ++i)
      members.push_back(std::make_unique<AggregationMember>(plan, i, keys[i], entropy));
  }

  Result<void> relay() {
    AggregationServer server(plan);
    for (const auto& member : members) TRY(server.take(TRY(member->begin())));
    TRY(server.close_keys());
    for (const auto& [i, shown] : TRY(server.close_reveals()))
      TRY(server.take(i, TRY(members[i]->share(shown))));
    for (const auto& [i, shares] : TRY(server.close_shares())) TRY(members[i]->mask(shares));
    return {};
  }

  /// Does a list with the victim to one half, and one without to the other, open both its secrets?
  bool opened_by_two_lists() {
    Survivors with, without;
    for (size_t i = 0; i < kOwners; ++i) {
      with.members.push_back(i);
      if (i != kVictim) without.members.push_back(i);
    }
    const auto view = [&](size_t i) -> const Survivors& { return i % 2 ? without : with; };
    std::vector<Consent> consents[2];
    for (size_t i = 0; i < kOwners; ++i)
      if (const auto consent = members[i]->consent(view(i))) consents[i % 2].push_back(*consent);
    std::vector<SecretShare> found[2];
    for (size_t i = 0; i < kOwners; ++i)
      if (const auto shares = members[i]->unmask(consents[i % 2]))
        for (const auto& each : shares->shares)
          if (each.of == kVictim) found[each.of_key].push_back(each.share);
    return join_shares(found[0], plan.threshold) && join_shares(found[1], plan.threshold);
  }
};

}  // namespace

Result<Target> low_threshold() {
  AggregationPlan plan{.members = {},
                       .words = 1,
                       .threshold = kOwners / 2 - 1,
                       .survivors = kOwners - 1,
                       .consents = kOwners / 2 - 1};
  SystemEntropy entropy;
  Begun begun(std::move(plan), entropy);
  TRY(begun.relay());
  const size_t shares = begun.opened_by_two_lists() ? 1 : kOwners;
  const auto share = TRY(share_of(kOwners));
  return Target{.claimed = {1, kAtDelta, true},
                .play = [=](World world, Entropy& noise) -> Result<double> {
                  double seen = world == World::kFirst ? 0 : kShift;
                  for (size_t i = 0; i < shares; ++i) seen += double(share.sample(noise));
                  return seen;
                }};
}

Result<Target> noise_of_one() {
  const auto share = TRY(share_of(kOwners));
  return Target{.claimed = {1, kAtDelta, true},
                .play = [=](World world, Entropy& entropy) -> Result<double> {
                  const double sum = world == World::kFirst ? 0 : kShift;
                  return sum + double(share.sample(entropy));
                }};
}

Result<Target> noise_twice() {
  const auto whole = TRY(share_of(1));
  return Target{.claimed = {1, kAtDelta, true},
                .play = [=](World world, Entropy& entropy) -> Result<double> {
                  const double part = world == World::kFirst ? 0 : kShift;
                  const double noise = double(whole.sample(entropy));
                  const double first = part + noise, second = 2 * part + noise;
                  return second - first;
                }};
}

}  // namespace parley::planted
