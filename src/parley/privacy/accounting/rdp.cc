#include "parley/privacy/accounting/rdp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "parley/privacy/accounting/basic.h"
#include "parley/privacy/accounting/conversion.h"
#include "parley/privacy/accounting/shares.h"

namespace parley::privacy {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

double renyi_of(const Event& event, double alpha) {
  const auto gaussian = [alpha](double multiplier) {
    return alpha / (2 * multiplier * multiplier) * (1 + 0x1p-50);
  };
  return std::visit(
      Overloaded{[&](const GaussianEvent& e) { return gaussian(e.noise_multiplier); },
                 [&](const DiscreteGaussianEvent& e) { return gaussian(e.sigma / e.sensitivity); },
                 [&](const LaplaceEvent& e) { return renyi_of_laplace(e.noise_multiplier, alpha); },
                 [&](const DiscreteLaplaceEvent& e) {
                   return renyi_of_pure(e.sensitivity / e.scale * (1 + 0x1p-52), alpha);
                 },
                 [&](const SampledGaussianEvent& e) {
                   return renyi_of_sampled(e.sampling_probability, e.noise_multiplier, alpha);
                 },
                 [&](const SharesEvent& e) { return share_sum_rho(e) * alpha; },
                 [&](const SkellamEvent& e) { return renyi_of_skellam(e, alpha); },
                 [&](const ZcdpEvent& e) { return e.xi + e.rho * alpha; },
                 [&](const ApproximateEvent& e) { return renyi_of_pure(e.epsilon, alpha); }},
      event);
}

double renyi_of(const Events& events, double alpha) {
  double sum = 0;
  for (const auto& [event, count] : events)
    sum += renyi_of(event, alpha) * static_cast<double>(count);
  return sum * (1 + 0x1p-46);
}

double own_delta(const Events& events) {
  double sum = 0;
  for (const auto& [event, count] : events)
    if (const auto* approximate = std::get_if<ApproximateEvent>(&event))
      sum += approximate->delta * static_cast<double>(count) * (1 + 0x1p-50);
  return sum * (1 + 0x1p-46);
}

bool has_sampled(const Events& events) {
  for (const Repeated& repeated : events)
    if (std::holds_alternative<SampledGaussianEvent>(repeated.event)) return true;
  return false;
}

/// The same releases for a neighbour that lacks a record: half the sensitivity of replace-one.
Result<Events> without_a_record(const Events& events) {
  Events halved = events;
  for (Repeated& repeated : halved) {
    if (auto* e = std::get_if<GaussianEvent>(&repeated.event))
      e->noise_multiplier *= 2;
    else if (auto* e = std::get_if<LaplaceEvent>(&repeated.event))
      e->noise_multiplier *= 2;
    else if (auto* e = std::get_if<SampledGaussianEvent>(&repeated.event))
      e->noise_multiplier *= 2;
    else if (auto* e = std::get_if<DiscreteGaussianEvent>(&repeated.event))
      e->sensitivity /= 2;
    else
      return Error{Code::kInvalid,
                   "under replace-one sampled events go together with Gaussian and Laplace events "
                   "only: of others, what one record less costs is not known"};
  }
  return halved;
}

Result<double> one_step(const Events& events, double delta) {
  const auto rest = Delta::make(delta - own_delta(events));
  if (!rest) return Error{Code::kInvalid, "the mechanisms' own delta is not below delta"};
  return epsilon_of([&](double alpha) { return renyi_of(events, alpha); }, *rest);
}

/// The largest delta1 with (1 + e^eps(delta1)) delta1 <= delta, by bisection of ln delta1; eps
/// falls as delta1 grows. The divergences do not depend on delta1: they are computed once.
double two_steps(const Events& events, double delta) {
  std::vector<std::pair<double, double>> curve;
  for (double x = -8; x <= 10; x += 0.05)
    curve.emplace_back(1 + std::exp(x), renyi_of(events, 1 + std::exp(x)));
  const auto epsilon_at = [&](double log_delta) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [alpha, renyi] : curve)
      least = std::min(
          least, renyi + std::log1p(-1 / alpha) - (log_delta + std::log(alpha)) / (alpha - 1));
    return std::max(0.0, least) * (1 + 0x1p-46) + 0x1p-60;
  };
  double high = std::log(delta / 2), low = high - 1;
  const auto allowed = [&](double log_delta) {
    const double epsilon = epsilon_at(log_delta);
    return log_delta + (epsilon > 40 ? epsilon : std::log1p(std::exp(epsilon))) + 0x1p-40 <=
           std::log(delta);
  };
  while (!allowed(low)) low = high - 2 * (high - low);
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (allowed(middle) ? low : high) = middle;
  }
  return 2 * epsilon_at(low);
}

}  // namespace

Result<double> rdp_epsilon(const Events& events, Delta delta, Adjacency adjacency) {
  if (adjacency == Adjacency::kReplaceOne && has_sampled(events))
    return two_steps(TRY(without_a_record(events)), delta.value());
  return one_step(events, delta.value());
}

Result<double> rdp_delta(const Events& events, double epsilon, Adjacency adjacency) {
  const auto curve = [](const Events& list) {
    return [&list](double alpha) { return renyi_of(list, alpha); };
  };
  if (adjacency == Adjacency::kReplaceOne && has_sampled(events)) {
    const Events halved = TRY(without_a_record(events));
    return std::min(1.0, (1 + std::exp(epsilon / 2)) * delta_of(curve(halved), epsilon / 2));
  }
  return std::min(1.0, delta_of(curve(events), epsilon) + own_delta(events));
}

}  // namespace parley::privacy
