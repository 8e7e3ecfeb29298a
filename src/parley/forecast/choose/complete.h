// A draft's text with the missing keys written in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/charter/charter.h"
#include "parley/forecast/forecast.h"

namespace parley::forecast {

/// Whether the text (or a change on the command line) gives `key`, such as protocol.rounds.
Result<bool> is_given(std::string_view toml, std::span<const charter::Override> changes,
                      std::string_view key);

/// The text with every choice and every change as a line of its section, choices with their reason
/// as a comment; a change of owner.2.epsilon as one of the third [[owner]] block. Everything else
/// stays as it was written, but for `parley init`'s marks that keys are open.
std::string completed(std::string_view toml, std::span<const charter::Override> changes,
                      std::span<const Choice> choices);

/// Changes of single owners, which have no place in the text if owners stand in a table.
std::vector<charter::Override> of_owners(std::span<const charter::Override> changes);

}  // namespace parley::forecast
