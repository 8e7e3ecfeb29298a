// One line of a daemon's log: an event by a name for programs, and in words for people.
// docs/reference/log.md explains every name. Lines state public facts only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace parley::net {

enum class Level { kInfo, kWarning, kError };

struct LogEvent {
  std::string_view name;
  Level level;
};

namespace log {

// What a daemon does.
inline constexpr LogEvent kWatching{"watching", Level::kInfo};
inline constexpr LogEvent kListening{"listening", Level::kInfo};
inline constexpr LogEvent kConsole{"console", Level::kInfo};
inline constexpr LogEvent kDialling{"dialling", Level::kInfo};
inline constexpr LogEvent kWaiting{"waiting", Level::kWarning};
// Who comes and goes.
inline constexpr LogEvent kAttends{"attends", Level::kInfo};
inline constexpr LogEvent kLeft{"left", Level::kInfo};
inline constexpr LogEvent kRefused{"refused", Level::kWarning};
inline constexpr LogEvent kDismissed{"dismissed", Level::kWarning};
inline constexpr LogEvent kParted{"parted", Level::kWarning};
inline constexpr LogEvent kStaleLedger{"stale_ledger", Level::kError};
// How a job goes.
inline constexpr LogEvent kPlanWarning{"plan_warning", Level::kWarning};
inline constexpr LogEvent kPilotCheck{"pilot_check", Level::kInfo};
inline constexpr LogEvent kAlarmDecided{"alarm_decided", Level::kInfo};
inline constexpr LogEvent kDecided{"decided", Level::kInfo};
inline constexpr LogEvent kReceiptNotKept{"receipt_not_kept", Level::kError};
inline constexpr LogEvent kModel{"model", Level::kInfo};
inline constexpr LogEvent kEndedBefore{"ended_before_all_answers", Level::kInfo};
inline constexpr LogEvent kFinished{"finished", Level::kInfo};
inline constexpr LogEvent kEndedEarly{"ended_early", Level::kError};
// What was read again.
inline constexpr LogEvent kCredentials{"credentials_read", Level::kInfo};
inline constexpr LogEvent kRevocations{"revocations_read", Level::kInfo};
inline constexpr LogEvent kCredentialsRefused{"credentials_refused", Level::kError};
inline constexpr LogEvent kRenew{"renew", Level::kWarning};
inline constexpr LogEvent kPolicy{"policy_read", Level::kInfo};
inline constexpr LogEvent kPolicyRefused{"policy_refused", Level::kError};
inline constexpr LogEvent kNoStatus{"no_status", Level::kError};
// Of the whole program.
inline constexpr LogEvent kFailed{"failed", Level::kError};

}  // namespace log

struct LogLine {
  LogEvent event;
  std::string text;   // may have what others say in it
  std::string job{};  // the charter's name, where a daemon has several

  /// For people.
  operator std::string() const { return (job.empty() ? "" : job + ": ") + text; }  // NOLINT
};

/// May be called from several threads at once.
using Log = std::function<void(const LogLine& line)>;

}  // namespace parley::net
