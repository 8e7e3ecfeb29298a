// Reads what the console's pages show: the owner's files on disk, and the status that its daemon
// reports.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "parley/base/clock.h"
#include "parley/charter/policy.h"
#include "parley/report/console/console.h"

namespace parley::api {

/// Everything that a page may need.
struct OwnerState {
  charter::Policy policy{};
  std::shared_ptr<const std::optional<ledger::Contents>> ledger{};  // without its rows
  report::Console console{};
};

/// Reads a ledger, which takes longer the longer it is, for at most a tenth of the time, whoever
/// asks how often. For any thread.
class LedgerReader {
 public:
  using Contents = std::shared_ptr<const std::optional<ledger::Contents>>;
  Result<Contents> read(const charter::Policy& policy);
  /// What was read counts no more.
  void forget();

 private:
  using Steady = std::chrono::steady_clock;
  std::mutex mutex_{};
  std::filesystem::path file_{};
  Contents contents_{};
  Steady::time_point good_until_{};
};

Result<OwnerState> look_at_owner(const std::filesystem::path& policy, LedgerReader& ledgers,
                                 Clock& clock);

/// One of its charters, whose file is read again: nullptr if none has this hash.
const report::ConsoleCharter* find_charter(const OwnerState& state, const std::string& id);
std::filesystem::path file_of(const OwnerState& state, const report::ConsoleCharter& charter);

}  // namespace parley::api
