#include "parley/privacy/accounting/accountants.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/basic.h"
#include "parley/privacy/accounting/gdp.h"
#include "parley/privacy/accounting/pld/pld.h"
#include "parley/privacy/accounting/rdp.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/privacy/budget/tracks.h"

namespace parley::privacy {
namespace {

template <Track pure>
Result<double> by_tracks(const Events& events, Delta delta, Adjacency adjacency) {
  return tracks_epsilon(TRY(spent_on(events, pure, adjacency)), delta);
}

template <Track pure>
Result<double> delta_by_tracks(const Events& events, double epsilon, Adjacency adjacency) {
  const Spent spent = TRY(spent_on(events, pure, adjacency));
  const double rest = epsilon - spent.pure;
  if (rest < 0) return 1.0;
  return std::min(1.0, add_up(spent.delta, zcdp_delta(spent.rho, next_down(rest))));
}

/// Basic composition says nothing below the sum of all epsilons: delta is 1 there.
Result<double> delta_by_basic(const Events& events, double epsilon, Adjacency) {
  const Spent spent = TRY(spent_on(events, Track::kPure));
  if (spent.rho > 0) return Error{Code::kInvalid, "an event has no epsilon of its own"};
  return spent.pure <= epsilon ? std::min(1.0, spent.delta) : 1.0;
}

/// The delta' of the formula, by bisection: its epsilon falls as delta' grows.
Result<double> delta_by_advanced(const Events& events, double epsilon, Adjacency) {
  double low = -700, high = -1e-9;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    const auto found = advanced_epsilon(events, TRY(Delta::make(std::exp(middle))));
    if (!found && !basic_epsilon(events, Delta{0.999})) return found.error();
    (found && *found <= epsilon ? high : low) = middle;
  }
  return high == -1e-9 ? 1.0 : std::exp(high) * (1 + 0x1p-40);
}

constexpr Accountant kAccountants[] = {
    {"basic", "epsilons add up",
     [](const Events& e, Delta d, Adjacency) { return basic_epsilon(e, d); }, delta_by_basic},
    {"advanced", "the older advanced composition, for comparison",
     [](const Events& e, Delta d, Adjacency) { return advanced_epsilon(e, d); }, delta_by_advanced},
    {"tracks", "pure charges add up, the others by zCDP: what a ledger enforces",
     by_tracks<Track::kPure>, delta_by_tracks<Track::kPure>},
    {"zcdp", "all charges by zCDP: what a ledger enforces", by_tracks<Track::kZcdp>,
     delta_by_tracks<Track::kZcdp>},
    {"rdp", "Renyi divergences of every order", rdp_epsilon, rdp_delta},
    {"gdp", "exact for continuous Gaussian noise",
     [](const Events& e, Delta d, Adjacency) -> Result<double> {
       return gdp_epsilon(TRY(gdp_mu(e)), d);
     },
     [](const Events& e, double epsilon, Adjacency) -> Result<double> {
       return gdp_delta(TRY(gdp_mu(e)), epsilon);
     }},
    {"pld", "privacy loss distributions: tight for schedules fixed in advance",
     [](const Events& e, Delta d, Adjacency a) { return pld_epsilon(e, d, a); },
     [](const Events& e, double epsilon, Adjacency a) { return pld_delta(e, epsilon, a); }},
};

}  // namespace

std::span<const Accountant> accountants() { return kAccountants; }

Result<Accountant> accountant_named(std::string_view name) {
  std::string known;
  for (const Accountant& accountant : kAccountants) {
    if (accountant.name == name) return accountant;
    known += (known.empty() ? "" : ", ") + std::string(accountant.name);
  }
  return Error{Code::kInvalid, "there is no accountant " + std::string(name), "Known: " + known};
}

const Accountant& enforced_for(const Events& events) {
  const auto any = [&](auto predicate) {
    return std::any_of(events.begin(), events.end(),
                       [&](const Repeated& repeated) { return predicate(repeated.event); });
  };
  const auto named = [](std::string_view name) -> const Accountant& {
    return *std::find_if(std::begin(kAccountants), std::end(kAccountants),
                         [name](const Accountant& a) { return a.name == name; });
  };
  const auto pure = [](const Event& event) { return bool(as_approximate(event)); };
  if (any([](const Event& e) {
        const auto* sampled = std::get_if<SampledGaussianEvent>(&e);
        return sampled != nullptr && sampled->delta == 0;
      }))
    return named("rdp");
  if (!any([&](const Event& e) { return !pure(e); })) return named("basic");
  return any(pure) ? named("tracks") : named("zcdp");
}

}  // namespace parley::privacy
