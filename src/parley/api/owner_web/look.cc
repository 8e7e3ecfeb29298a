#include "parley/api/owner_web/look.h"

#include <algorithm>
#include <set>

#include "parley/net/decisions.h"
#include "parley/net/doctor/preflight.h"
#include "parley/net/identity/x509.h"

namespace parley::api {
namespace {

namespace fs = std::filesystem;
using ledger::Decision;

constexpr int64_t kDay = 86400, kRenewDays = 30;
constexpr uint64_t kDiskBytes = uint64_t{1} << 30;

std::string sentence_of(const Decision& word) {
  return std::string(name_of(word.what)) + " by " + word.by + " at " + word.at +
         (word.reason.empty() ? "" : ": " + word.reason);
}

/// The last word: of the ledger, or one that waits beside the charters for whoever has the ledger.
std::optional<Decision> word_about(const OwnerState& state, const charter::Charter& charter) {
  if (auto no = net::left_no(state.policy, charter)) return no;
  const Decision* chained = state.ledger ? state.ledger->chain.decision(charter.hash) : nullptr;
  const auto file = state.policy.approval_of(charter);
  std::error_code none;
  if (fs::exists(file, none))
    if (const auto yes = net::read_word(file, Decision::What::kApproved))
      if (chained == nullptr || yes->at >= chained->at) return *yes;
  return chained == nullptr ? std::nullopt : std::optional(*chained);
}

report::ConsoleCharter look_at_charter(const OwnerState& state, const fs::path& file,
                                       Clock& clock) {
  report::ConsoleCharter seen{.file = file.filename().string()};
  const auto charter = charter::read_charter(file);
  if (!charter) {
    seen.problem = describe(charter.error());
    return seen;
  }
  seen.id = to_hex(charter->hash);
  seen.purpose = charter->purpose;
  for (const charter::Owner& each : charter->owners)
    if (each.name == state.policy.owner) seen.epsilon = each.epsilon, seen.delta = each.delta;
  seen.preflight =
      net::preflight_of(state.policy, *charter, state.ledger, {.read_data = false}, clock);
  if (const auto word = word_about(state, *charter)) {
    seen.word = sentence_of(*word);
    seen.no = word->what != Decision::What::kApproved;
  }
  return seen;
}

std::string about_certificate(const charter::Policy& policy, Clock& clock) {
  const auto credentials = net::credentials_of(policy, clock);
  if (!credentials)
    return "Nothing can be answered: " + describe(credentials.error()) + ". " +
           credentials.error().hint;
  const int64_t until =
      net::validity_of(net::certificate_from(credentials->certificate).get()).until;
  const bool soon = until - clock.unix_seconds() < kRenewDays * kDay;
  return soon ? "The certificate ends at " + time_text(until) + ": have it renewed." : "";
}

std::string about_disk(const charter::Policy& policy) {
  std::error_code failed;
  const auto space = fs::space(policy.folder / policy.state, failed);
  if (failed || space.available >= kDiskBytes) return "";
  return "Less than 1 GB is free on the ledger's disk. When it is full, nothing more is answered.";
}

}  // namespace

Result<OwnerState> look_at_owner(const fs::path& file, Clock& clock) {
  OwnerState state{.policy = TRY(charter::read_policy(file))};
  state.ledger = TRY(net::look_into_ledger(state.policy));
  report::Console& console = state.console;
  console.owner = state.policy.owner;
  for (const std::string& warning :
       {about_certificate(state.policy, clock), about_disk(state.policy)})
    if (!warning.empty()) console.warnings.push_back(warning);
  for (const charter::Dataset& data : state.policy.datasets) {
    ledger::Dataset shown{.name = data.name, .budget = data.budget};
    if (state.ledger)
      for (const ledger::Dataset& known : state.ledger->datasets)
        if (known.name == data.name) shown = known;
    console.datasets.push_back(shown);
  }
  std::set<fs::path> files;
  std::error_code failed;
  for (const auto& entry :
       fs::directory_iterator(state.policy.folder / state.policy.charters, failed))
    if (entry.path().string().ends_with(".charter.toml")) files.insert(entry.path());
  for (const fs::path& each : files)
    console.charters.push_back(look_at_charter(state, each, clock));
  return state;
}

const report::ConsoleCharter* find_charter(const OwnerState& state, const std::string& id) {
  const auto& all = state.console.charters;
  const auto found = std::find_if(all.begin(), all.end(), [&](const report::ConsoleCharter& each) {
    return each.problem.empty() && each.id == id;
  });
  return found == all.end() ? nullptr : &*found;
}

fs::path file_of(const OwnerState& state, const report::ConsoleCharter& charter) {
  return state.policy.folder / state.policy.charters / charter.file;
}

}  // namespace parley::api
