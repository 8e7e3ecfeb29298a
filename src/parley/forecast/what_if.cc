// What if: other budgets for everyone, other numbers of rows, budgets for sale.
#include <algorithm>
#include <cmath>

#include "parley/charter/available.h"
#include "parley/forecast/decide/market.h"
#include "parley/forecast/study.h"

namespace parley::forecast {

std::optional<double> common_epsilon(const Study& study, double psi) {
  const auto reached = [&](double log_strength) {
    std::vector<Player> players = study.players;
    for (size_t i = 0; i < players.size(); ++i)
      players[i].variance = std::exp(log_strength) * study.per_strength(i);
    return study.game.reached(study.game.of(players));
  };
  double low = -60, high = 120;
  if (reached(low) > psi) return std::nullopt;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (reached(middle) <= psi ? low : high) = middle;
  }
  return study.law.epsilon(std::exp(low), study.charter.owners.front().delta);
}

std::optional<double> rows_for(const Study& study, double psi) {
  const auto reached = [&](double log_times) {
    std::vector<Player> players = study.players;
    for (Player& player : players) {
      player.rows *= std::exp(log_times);
      if (study.charter.protocol.by_record()) player.variance *= std::exp(-2 * log_times);
    }
    return study.game.reached(study.game.of(players)) -
           study.game.spread() / (study.rows * std::exp(log_times));
  };
  double low = -20, high = 30;
  if (reached(high) > psi) return std::nullopt;
  while (high - low > 1e-9) {
    const double middle = (low + high) / 2;
    (reached(middle) <= psi ? high : low) = middle;
  }
  return study.rows * std::exp(high);
}

void add_grid(Forecast& result, const Study& study) {
  constexpr size_t kSide = 40;
  Forecast::Grid& grid = result.what_if.grid;
  for (size_t k = 0; k < kSide; ++k) {
    const double along = static_cast<double>(k) / (kSide - 1);
    grid.epsilon.push_back(.01 * std::pow(1e4, along));  // 0.01 to 100
    grid.times.push_back(.1 * std::pow(100, along));     // a tenth to ten times
  }
  const double delta = study.charter.owners.front().delta;
  std::vector<double> strength;
  for (const double epsilon : grid.epsilon) strength.push_back(study.law.strength(epsilon, delta));
  std::vector<Player> players = study.players;
  for (const double times : grid.times)
    for (const double loud : strength) {
      for (size_t i = 0; i < players.size(); ++i) {
        players[i].rows = study.players[i].rows * times;
        players[i].variance = loud * study.per_strength(i, times);
      }
      grid.psi.push_back(study.game.reached(study.game.of(players)) -
                         study.game.spread() / (study.rows * times));
    }
}

namespace {

Result<std::vector<Bid>> bids_of(const Study& study, const MarketTerms& terms) {
  std::vector<Bid> bids;
  for (const charter::Owner& owner : study.charter.owners) {
    const auto asked = std::find_if(terms.prices.begin(), terms.prices.end(),
                                    [&](const auto& price) { return price.first == owner.name; });
    if (asked == terms.prices.end() || !(asked->second > 0))
      return Error{Code::kInvalid, owner.name + " asks no price above 0 for a unit of epsilon",
                   "Give --price " + owner.name + "=PRICE, for every owner."};
    bids.push_back({static_cast<double>(owner.rows), asked->second, owner.epsilon});
  }
  return bids;
}

}  // namespace

/// An owner's epsilon in the charter is the most it sells.
Result<void> add_market(Forecast& result, const Study& study, const MarketTerms& terms) {
  const charter::Privacy& privacy = study.charter.privacy;
  if (privacy.mechanism != charter::MechanismName::kLaplace)
    return charter::not_available("privacy.mechanism", name_of(privacy.mechanism),
                                  "The market is made for \"laplace\".");
  if (study.charter.protocol.weights != charter::Weights::kRows)
    return charter::not_available("protocol.weights", name_of(study.charter.protocol.weights),
                                  "The market is made for weights \"rows\".");
  const std::vector<Bid> bids = TRY(bids_of(study, terms));
  if (!(terms.value > 0) || !(terms.cap > 0))
    return Error{Code::kInvalid, "a market needs a value above 0, and a cap on prices above 0",
                 "Give --value, and --price cap=PRICE: the most that anyone may ask."};
  const double loud = study.law.strength(1, 0) * study.per_strength(0) * study.players[0].rows *
                      study.players[0].rows;
  Demand demand{.value = terms.value,
                .floor = study.game.response().floor(),
                .spread = study.game.spread(),
                .gain = study.game.response().gain(study.job.variance()) * loud,
                .alone = study.game.alone(),
                .price_cap = terms.cap};
  const Deal deal = buy(demand, bids);
  const auto posted = negotiate(demand, bids);
  result.what_if.market = Forecast::Market{};
  Forecast::Market& market = *result.what_if.market;
  market.value = terms.value;
  market.psi = deal.psi;
  market.surplus = deal.surplus;
  for (size_t i = 0; i < bids.size(); ++i)
    market.sales.push_back({bids[i].price, deal.epsilon[i], deal.payments[i], posted[i]});
  return {};
}

}  // namespace parley::forecast
