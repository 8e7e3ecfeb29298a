#include "parley/api/owner_web/look.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "parley/net/control/status_socket.h"
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
  const auto& ledger = *state.ledger;
  const Decision* chained = ledger ? ledger->chain.decision(charter.hash) : nullptr;
  const auto file = state.policy.approval_of(charter);
  std::error_code none;
  if (fs::exists(file, none))
    if (const auto yes = net::read_word(file, Decision::What::kApproved))
      if (chained == nullptr || yes->at >= chained->at) return *yes;
  return chained == nullptr ? std::nullopt : std::optional(*chained);
}

/// What the daemon of this policy says, if one runs.
struct Said {
  std::string sentence{}, dial{};
  std::map<fs::path, report::DaemonJob> jobs{};  // by the charter's file
};

fs::path real_path(const fs::path& file) {
  std::error_code failed;
  const fs::path found = fs::weakly_canonical(file, failed);
  return failed ? file : found;
}

report::DaemonJob job_in(const nlohmann::json& said) {
  report::DaemonJob job{.state = said.at("state"),
                        .reason = said.at("reason"),
                        .received = said.at("received_bytes"),
                        .sent = said.at("sent_bytes")};
  if (const auto& pace = said.at("seconds_per_answer"); pace.is_number())
    job.seconds_per_answer = pace.get<double>();
  return job;
}

Said ask_daemon(const charter::Policy& policy) {
  const auto answer = net::ask_status(policy.folder / policy.state / net::kStatusSocket);
  if (!answer)
    return {.sentence =
                "No daemon of this policy runs, or it does not speak to us: nothing is "
                "answered."};
  try {
    const auto said = nlohmann::json::parse(*answer);
    Said all{.sentence = "The daemon runs since " + said.at("since").get<std::string>() + ".",
             .dial = said.at("dial")};
    for (const auto& each : said.at("charters"))
      all.jobs[real_path(each.at("file").get<std::string>())] = job_in(each);
    return all;
  } catch (const nlohmann::json::exception&) {
    return {.sentence = "The daemon is of another version than this page."};
  }
}

report::ConsoleCharter look_at_charter(const OwnerState& state, const fs::path& file,
                                       const Said& said, Clock& clock) {
  report::ConsoleCharter seen{.file = file.filename().string()};
  if (real_path(file.parent_path()) != real_path(state.policy.folder / state.policy.charters))
    seen.file = file.string();
  if (const auto job = said.jobs.find(real_path(file)); job != said.jobs.end())
    seen.job = job->second;
  const auto charter = charter::read_charter(file);
  if (!charter) {
    seen.problem = describe(charter.error());
    return seen;
  }
  seen.id = to_hex(charter->hash);
  seen.purpose = charter->purpose;
  for (const charter::Owner& each : charter->owners)
    if (each.name == state.policy.owner) seen.epsilon = each.epsilon, seen.delta = each.delta;
  seen.preflight = net::preflight_of(state.policy, *charter, *state.ledger,
                                     {.dial = said.dial, .read_data = false}, clock);
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

/// Those in the policy's folder first, then those that the daemon was given.
std::vector<fs::path> charters_of(const charter::Policy& policy, const Said& said) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(policy.folder / policy.charters, failed))
    if (entry.path().string().ends_with(".charter.toml")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& [file, job] : said.jobs)
    if (std::none_of(files.begin(), files.end(),
                     [&](const fs::path& each) { return real_path(each) == file; }))
      files.push_back(file);
  return files;
}

}  // namespace

Result<LedgerReader::Contents> LedgerReader::read(const charter::Policy& policy) {
  const std::lock_guard lock(mutex_);
  const fs::path file = net::ledger_of(policy);
  const auto begin = Steady::now();
  if (contents_ && file == file_ && begin < good_until_) return contents_;
  contents_ = std::make_shared<const std::optional<ledger::Contents>>(
      TRY(net::look_into_ledger(policy, {.most = 0})));
  file_ = file;
  const auto end = Steady::now();
  good_until_ = end + 9 * (end - begin);
  return contents_;
}

void LedgerReader::forget() {
  const std::lock_guard lock(mutex_);
  contents_.reset();
}

Result<OwnerState> look_at_owner(const fs::path& file, LedgerReader& ledgers, Clock& clock) {
  OwnerState state{.policy = TRY(charter::read_policy(file))};
  state.ledger = TRY(ledgers.read(state.policy));
  report::Console& console = state.console;
  console.owner = state.policy.owner;
  for (const std::string& warning :
       {about_certificate(state.policy, clock), about_disk(state.policy)})
    if (!warning.empty()) console.warnings.push_back(warning);
  for (const charter::Dataset& data : state.policy.datasets) {
    ledger::Dataset shown{.name = data.name, .budget = data.budget};
    if (const auto& ledger = *state.ledger)
      for (const ledger::Dataset& known : ledger->datasets)
        if (known.name == data.name) shown = known;
    console.datasets.push_back(shown);
  }
  const Said said = ask_daemon(state.policy);
  console.daemon = said.sentence;
  for (const fs::path& each : charters_of(state.policy, said))
    if (auto seen = look_at_charter(state, each, said, clock);
        seen.id.empty() || find_charter(state, seen.id) == nullptr)
      console.charters.push_back(std::move(seen));
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
