// The settings that a person has chosen on the page of `parley explore`, and the charter made from
// them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "parley/base/result.h"
#include "parley/charter.h"
#include "parley/forecast.h"
#include "parley/net/web/http.h"
#include "parley/report/explore/explore.h"

namespace parley::api {

/// The charter as it was written, and what the page starts from.
struct Explorer {
  std::string text{};  // with every owner as an [[owner]] block
  Charter charter;
  ForecastOptions how{};               // where the public rows lie, how they are read and judged
  bool trains = false;                 // the page offers to train with what was set
  std::optional<Forecast> as_it_is{};  // of the charter itself: the page that is opened first
};

/// kInvalid for charters whose owners hold columns, and for more than 500 owners.
Result<Explorer> explorer_of(const std::filesystem::path& charter);

/// As the charter is, with what the fields of an address change.
report::Explored state_of(const Explorer& explorer, const net::Fields& fields);

/// The charter of a state: other numbers, fewer owners. A protocol that is not the charter's own
/// leaves its keys open, and the forecast chooses them.
Result<Charter> charter_of(const Explorer& explorer, const report::Explored& state);

/// The forecast of this charter, exactly as `parley forecast` makes it.
Result<Forecast> forecast_of(const Explorer& explorer, const report::Explored& state);

}  // namespace parley::api
