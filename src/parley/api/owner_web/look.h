// What is on disk about an owner, for its pages.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "parley/base/clock.h"
#include "parley/charter/policy.h"
#include "parley/report/console/console.h"

namespace parley::api {

/// Everything that a page may need.
struct OwnerState {
  charter::Policy policy{};
  std::optional<ledger::Contents> ledger{};
  report::Console console{};
};

Result<OwnerState> look_at_owner(const std::filesystem::path& policy, Clock& clock);

/// One of its charters, whose file is read again: nullptr if none has this hash.
const report::ConsoleCharter* find_charter(const OwnerState& state, const std::string& id);
std::filesystem::path file_of(const OwnerState& state, const report::ConsoleCharter& charter);

}  // namespace parley::api
