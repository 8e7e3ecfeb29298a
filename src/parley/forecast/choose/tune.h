// A forecast of a charter that may be a draft: what it leaves open is chosen first.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"

namespace parley::forecast {

struct Draft {
  charter::Charter charter;  // with its bundle
  std::string text;          // as it was written
  std::span<const charter::Override> changes;
  bool tune = false;  // also what has a default and was not written: start, weights, mechanism
};

struct Tuned {
  Forecast forecast{};
  std::string charter{};  // the text, complete
  /// Where features were chosen: the bundle that the text names, by `ForecastOptions::bundle`.
  std::optional<data::Bundle> bundle{};
};

/// A complete charter is forecast as it is unless `tune` is set.
Result<Tuned> forecast_draft(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                             const ForecastOptions& options);

}  // namespace parley::forecast
