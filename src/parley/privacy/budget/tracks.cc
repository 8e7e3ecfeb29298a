#include "parley/privacy/budget/tracks.h"

#include <limits>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/basic.h"
#include "parley/privacy/accounting/sampled_step.h"
#include "parley/privacy/accounting/shares.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::privacy {
namespace {

/// 1 / (2 multiplier^2), rounded up.
double rho_of_gaussian(double multiplier) {
  return div_up(1, next_down(2 * multiplier * multiplier));
}

Result<Spent> spent_by_sampled(const SampledGaussianEvent& event, Adjacency adjacency) {
  if (event.delta == 0)
    return Error{Code::kInvalid, "sampled Gaussian noise has no zCDP without a delta of its own",
                 "Use the rdp or the pld accountant."};
  const auto [epsilon, delta] = sampled_step(event, adjacency);
  return Spent{.rho = zcdp_of_pure(epsilon), .delta = delta};
}

Result<Spent> spent_by(const Event& event, Track pure, Adjacency adjacency) {
  if (const auto* gaussian = std::get_if<GaussianEvent>(&event))
    return Spent{.rho = rho_of_gaussian(gaussian->noise_multiplier)};
  if (const auto* discrete = std::get_if<DiscreteGaussianEvent>(&event))
    return Spent{.rho = rho_of_gaussian(next_down(discrete->sigma / discrete->sensitivity))};
  if (const auto* zcdp = std::get_if<ZcdpEvent>(&event))
    return Spent{.pure = zcdp->xi, .rho = zcdp->rho};
  if (const auto* shares = std::get_if<SharesEvent>(&event))
    return Spent{.rho = share_sum_rho(*shares)};
  if (const auto* skellam = std::get_if<SkellamEvent>(&event))
    return Spent{.rho = skellam_rho(*skellam)};
  if (const auto* sampled = std::get_if<SampledGaussianEvent>(&event))
    return spent_by_sampled(*sampled, adjacency);
  const auto [epsilon, delta] = TRY(as_approximate(event));
  Spent spent{.delta = delta};
  (pure == Track::kPure ? spent.pure : spent.rho) =
      pure == Track::kPure ? epsilon : zcdp_of_pure(epsilon);
  return spent;
}

}  // namespace

Result<Spent> spent_on(const Events& events, Track pure, Adjacency adjacency) {
  Spent total;
  for (const auto& [event, count] : events) {
    const Spent one = TRY(spent_by(event, pure, adjacency));
    const double times = static_cast<double>(count);
    total.pure = add_up(total.pure, mul_up(one.pure, times));
    total.rho = add_up(total.rho, mul_up(one.rho, times));
    total.delta = add_up(total.delta, mul_up(one.delta, times));
  }
  return total;
}

double epsilon_at(double epsilon, double delta, double other) {
  if (delta == 0 || delta == other) return epsilon;
  const auto from = Delta::make(delta), to = Delta::make(other);
  if (!from || !to) return std::numeric_limits<double>::infinity();
  double rho = zcdp_rho(epsilon, *from);  // The lower end of a bisection.
  while (zcdp_epsilon(rho, *from) < epsilon) rho = next_up(rho * (1 + 0x1p-40));
  return zcdp_epsilon(rho, *to);
}

Result<double> tracks_epsilon(const Spent& spent, Delta delta) {
  if (spent.rho == 0 && spent.delta <= delta.value()) return spent.pure;
  const double rest = spent.delta == 0 ? delta.value() : next_down(delta.value() - spent.delta);
  if (!(rest > 0))
    return Error{Code::kInvalid,
                 "the mechanisms' own delta, " + shortest(spent.delta) + ", is not below delta",
                 "Ask for a larger delta."};
  return add_up(spent.pure, zcdp_epsilon(spent.rho, TRY(Delta::make(rest))));
}

}  // namespace parley::privacy
