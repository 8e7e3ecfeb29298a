#include "parley/ledger/price.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/privacy/accounting/event_json.h"
#include "parley/privacy/budget/tracks.h"
#include "parley/privacy/mechanisms.h"

namespace parley::ledger {
namespace {

using Json = nlohmann::json;
using privacy::Cost;
using privacy::Gaussian;
using privacy::GaussianShare;
using privacy::Laplace;
using privacy::Skellam;
using privacy::Track;

/// The mechanism that writes this very event, if `make` finds its parameters there.
template <class M, class Make>
std::optional<Cost> exactly(const std::string& event, const Make& make) {
  const Json json = Json::parse(event, nullptr, false);
  if (!json.is_object() || !json.contains(M::kName)) return std::nullopt;
  try {
    const Json& body = json.at(std::string(M::kName));
    const double sensitivity = body.at("sensitivity").get<double>();
    const Result<M> mechanism = make(body);
    if (!mechanism || !(sensitivity > 0) || mechanism->event(sensitivity) != event)
      return std::nullopt;
    return mechanism->cost(sensitivity);
  } catch (const Json::exception&) {  // Something is missing, or not a number.
    return std::nullopt;
  }
}

Result<Laplace> laplace(const Json& body) {
  return Laplace::make(body.at("scale").get<uint64_t>());
}
Result<Gaussian> gaussian(const Json& body) {
  return Gaussian::make(body.at("variance").get<double>());
}
Result<Skellam> skellam(const Json& body) {
  return Skellam::make(body.at("variance").get<double>(), body.at("dimension").get<size_t>());
}
Result<GaussianShare> shares(const Json& body) {
  const auto honest = body.at("honest").get<uint32_t>();
  const auto parties =
      TRY(privacy::Parties::make(body.at("present").get<uint32_t>(), honest + 1, 1));
  return GaussianShare::make(body.at("variance").get<double>(), parties,
                             body.at("dimension").get<size_t>());
}

}  // namespace

Result<Cost> price_of(const std::string& event) {
  if (const auto cost = exactly<Laplace>(event, laplace)) return *cost;
  if (const auto cost = exactly<Gaussian>(event, gaussian)) return *cost;
  if (const auto cost = exactly<Skellam>(event, skellam)) return *cost;
  if (const auto cost = exactly<GaussianShare>(event, shares)) return *cost;
  const privacy::Events events = TRY(privacy::events_from_json(event, "the receipt's event"));
  const privacy::Spent spent = TRY(privacy::spent_on(events, Track::kPure));
  if (spent.pure > 0 && spent.rho > 0)
    return Error{Code::kIntegrity, "a receipt names a release on two tracks: " + event,
                 "It was not made by this program."};
  return spent.rho > 0 ? Cost{Track::kZcdp, spent.rho, spent.delta}
                       : Cost{Track::kPure, spent.pure, spent.delta};
}

}  // namespace parley::ledger
