#include "parley/ledger/price.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "parley/privacy/accounting/event_json.h"
#include "parley/privacy/accounting/tracks.h"
#include "parley/privacy/mechanisms.h"

namespace parley::ledger {
namespace {

using Json = nlohmann::json;
using privacy::Cost;
using privacy::Gaussian;
using privacy::Laplace;
using privacy::Track;

/// The mechanism that writes this very event, if `parameter` makes one.
template <class M, class Parameter>
std::optional<Cost> exactly(const std::string& event, const char* parameter) {
  const Json json = Json::parse(event, nullptr, false);
  const Json body = json.is_object() ? json.value(std::string(M::kName), Json()) : Json();
  if (!body.is_object() || !body.contains(parameter) || !body[parameter].is_number() ||
      !body.contains("sensitivity") || !body["sensitivity"].is_number())
    return std::nullopt;
  const double sensitivity = body["sensitivity"].get<double>();
  const auto mechanism = M::make(body[parameter].get<Parameter>());
  if (!mechanism || !(sensitivity > 0) || mechanism->event(sensitivity) != event)
    return std::nullopt;
  return mechanism->cost(sensitivity);
}

}  // namespace

Result<Cost> price_of(const std::string& event) {
  if (const auto cost = exactly<Laplace, uint64_t>(event, "scale")) return *cost;
  if (const auto cost = exactly<Gaussian, double>(event, "variance")) return *cost;
  const privacy::Events events = TRY(privacy::events_from_json(event, "the receipt's event"));
  const privacy::Spent spent = TRY(privacy::spent_on(events, Track::kPure));
  if (spent.pure > 0 && spent.rho > 0)
    return Error{Code::kIntegrity, "a receipt names a release on two tracks: " + event,
                 "It was not made by this program."};
  return spent.rho > 0 ? Cost{Track::kZcdp, spent.rho, spent.delta}
                       : Cost{Track::kPure, spent.pure, spent.delta};
}

}  // namespace parley::ledger
