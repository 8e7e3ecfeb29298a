// Forecasts a charter that may be a draft: what it leaves open is chosen first.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"

namespace parley::forecast {

struct Draft {
  charter::Charter charter;  // with its bundle
  std::string text;          // as it was written
  std::span<const charter::Override> changes;
  bool tune = false;  // also chooses start, weights and mechanism where they were not written
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

// A draft's text with the missing keys written in.

/// Whether the text (or a change on the command line) gives `key`, such as protocol.rounds.
Result<bool> is_given(std::string_view toml, std::span<const charter::Override> changes,
                      std::string_view key);

/// The text with every choice and every change as a line of its section, choices with their reason
/// as a comment; a change of owner.2.epsilon as one of the third [[owner]] block. Everything else
/// stays as it was written, but for `parley init`'s marks that keys are open.
std::string completed(std::string_view toml, std::span<const charter::Override> changes,
                      std::span<const Choice> choices);

/// Changes of single owners: they cannot be written into the text if owners stand in a table.
std::vector<charter::Override> of_owners(std::span<const charter::Override> changes);

}  // namespace parley::forecast
