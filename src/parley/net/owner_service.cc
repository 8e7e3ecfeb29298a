#include "parley/net/owner_service.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "parley/base/files.h"
#include "parley/net/decisions.h"
#include "parley/net/neighbours.h"

namespace parley::net {
namespace {

constexpr std::chrono::milliseconds kLook{500};

std::string outcome(const Result<std::optional<Hash>>& model) {
  if (!model) return describe(model.error()) + ". " + model.error().hint;
  if (!*model) return "every answer was given, and the learner left without a farewell";
  return "finished, model " + to_hex(**model);
}

/// By which a file is known to have changed.
struct Stamp {
  std::filesystem::file_time_type written{};
  uintmax_t size = 0;
  bool operator==(const Stamp&) const = default;
};

Stamp stamp_of(const std::filesystem::path& file) {
  std::error_code failed;
  return {std::filesystem::last_write_time(file, failed), std::filesystem::file_size(file, failed)};
}

/// The jobs of one charter's file, and how they ended.
struct Attempt {
  Stamp stamp{};                     // of the file that was read
  Stamp members{};                   // of the certificates of owners
  std::filesystem::path approval{};  // a person's, for which it waits
  std::mutex mutex{};                // of `ends`
  std::vector<JobEnd> ends{};
  std::atomic<bool> over = false;
  std::thread thread{};

  /// Might it end otherwise now, if the files have these stamps?
  bool is_worth_another(const Stamp& now, const Stamp& members_now) const {
    if (now != stamp) return true;
    if (!approval.empty()) return std::filesystem::exists(approval);
    return std::any_of(ends.begin(), ends.end(), [&](const JobEnd& end) {
      return !end.model && (end.model.error().code == Code::kUnavailable || members_now != members);
    });
  }
};

/// All jobs of one owner, each in its thread.
class Jobs {
 public:
  Jobs(const OwnerContext& context, const Credentials& credentials, const ServiceOptions& options,
       Clock& clock, const std::atomic<bool>& stop, const Log& log)
      : context_(context),
        credentials_(credentials),
        options_(options),
        clock_(clock),
        stop_(stop),
        log_(log),
        watch_(context, [this](const std::string& line) { say(line); }) {}

  void start(const std::filesystem::path& file) {
    Attempt& attempt = *(attempts_[file] = std::make_unique<Attempt>());
    attempt.stamp = stamp_of(file);
    attempt.members = stamp_of(context_.policy.identity->members);
    attempt.thread = std::thread([this, file, &attempt] {
      run_all(file, attempt);
      attempt.over = true;
    });
  }

  /// One look at a watched folder's file: starts it when it has been the same for two looks, and
  /// again when it ended and might now end otherwise: it was copied whole meanwhile, or approved,
  /// or owners have new certificates, or its learner had not come.
  void look_at(const std::filesystem::path& file) {
    const Stamp stamp = stamp_of(file);
    const auto [seen, first] = seen_.try_emplace(file, stamp);
    if (first || std::exchange(seen->second, stamp) != stamp) return;
    const auto found = attempts_.find(file);
    if (found == attempts_.end()) return start(file);
    Attempt& attempt = *found->second;
    const Stamp members = stamp_of(context_.policy.identity->members);
    if (!attempt.over || !attempt.is_worth_another(stamp, members)) return;
    attempt.thread.join();
    start(file);
  }

  std::vector<JobEnd> wait() {
    std::vector<JobEnd> ends;
    for (auto& [file, attempt] : attempts_) {
      attempt->thread.join();
      for (JobEnd& end : attempt->ends) ends.push_back(std::move(end));
    }
    return ends;
  }

 private:
  void run_all(const std::filesystem::path& file, Attempt& attempt) {
    const auto ready = get_ready_for(file, attempt);
    if (!ready) return;
    std::vector<std::thread> others;
    for (size_t i = 1; i < ready->jobs.size(); ++i)
      others.emplace_back([&, i] { run(file, *ready, ready->jobs[i], attempt); });
    run(file, *ready, ready->jobs[0], attempt);
    for (std::thread& thread : others) thread.join();
    keep_if_finished(ready->charter.hash, attempt);
    if (!check_approved(context_, ready->charter))  // A person has said no meanwhile.
      wait_for(context_.policy.approval_of(ready->charter), attempt);
  }

  /// With one job at least; else how it ended is noted.
  std::optional<Ready> get_ready_for(const std::filesystem::path& file, Attempt& attempt) {
    JobEnd end{file, "", {}, "", std::optional<Hash>()};
    auto ready = [&]() -> Result<Ready> {
      const charter::Charter charter = TRY(charter::read_charter(file));
      end.charter_name = charter.name, end.charter = charter.hash;
      watch_.add(charter);
      const auto approved = check_approved(context_, charter);
      if (!approved && context_.policy.first_match(charter))
        wait_for(context_.policy.approval_of(charter), attempt);
      TRY(approved);
      Ready ready = TRY(get_ready(context_.policy, charter, clock_));
      TRY(choose_jobs(ready));
      return ready;
    }();
    if (ready && was_finished(ready->charter.hash, attempt)) return std::nullopt;
    if (ready) return *std::move(ready);
    end.model = ready.error();
    note(end.charter_name.empty() ? file.string() : end.charter_name, std::move(end), attempt);
    return std::nullopt;
  }

  /// One that is there and cannot be read is not waited for.
  static void wait_for(const std::filesystem::path& approval, Attempt& attempt) {
    if (!std::filesystem::exists(approval)) attempt.approval = approval;
  }

  Result<void> choose_jobs(Ready& ready) const {
    if (ready.jobs.empty())
      return Error{Code::kPolicy,
                   context_.policy.owner + " learns from the others, and is asked nothing",
                   "Type `parley learner run`, then `parley owner tune`."};
    if (!options_.learner.empty())
      std::erase_if(ready.jobs, [&](const charter::Charter& job) {
        return job.learner.name != options_.learner;
      });
    if (ready.jobs.empty())
      return Error{Code::kInvalid,
                   "no learner " + options_.learner + " asks " + context_.policy.owner,
                   "Name a learner of the charter with --learner, or leave it out."};
    if (ready.jobs.size() == 1 || options_.dial.empty()) return {};
    return Error{Code::kInvalid, "--dial names one address, and several learners ask",
                 "Name one of them with --learner, or give addresses in charter or policy."};
  }

  /// A file that is written again with the charter of a job that is done begins nothing.
  bool was_finished(const Hash& charter, Attempt& attempt) {
    const std::lock_guard lock(mutex_);
    const auto found = finished_.find(charter);
    if (found == finished_.end()) return false;
    attempt.ends = found->second;
    return true;
  }

  void keep_if_finished(const Hash& charter, const Attempt& attempt) {
    const std::lock_guard lock(mutex_);
    if (std::all_of(attempt.ends.begin(), attempt.ends.end(),
                    [](const JobEnd& end) { return bool(end.model); }))
      finished_[charter] = attempt.ends;
  }

  void run(const std::filesystem::path& file, const Ready& ready, const charter::Charter& job,
           Attempt& attempt) {
    const std::string title =
        ready.charter.name + (ready.jobs.size() > 1 ? " of " + job.learner.name : "");
    JobEnd end{file, ready.charter.name, job.hash, job.learner.name, std::optional<Hash>()};
    end.model = attend_one(ready, job, title);
    note(title, std::move(end), attempt);
  }

  Result<std::optional<Hash>> attend_one(const Ready& ready, const charter::Charter& job,
                                         const std::string& title) {
    const Log log = [&](const std::string& line) { say(title + ": " + line); };
    Patience patience = options_.patience;
    patience.answer_after = std::chrono::milliseconds(context_.policy.answer_ms);
    // While others answer, the learner has nothing to say.
    patience.silent = std::max(patience.absent, 2 * std::chrono::seconds(job.network.deadline_s));
    if (!ready.charter.protocol.learners.graph.empty())
      return learn_with_neighbours(context_, ready, credentials_, neighbour_options(job, patience),
                                   clock_, stop_, log);
    const Dial dial = TRY(dial_for(context_.policy, ready.charter, job, options_.dial));
    const auto owner = TRY(open_owner(context_, ready, job));
    const auto ticks = ticks_for(*owner, context_.policy, job);
    log("ready, dialling " + to_text(dial.address));
    return attend(*owner, ticks.get(), context_.mutex, credentials_, dial, patience, stop_, log);
  }

  /// In the policy's folder of state: a folder for each job, and one for all receipts.
  NeighbourOptions neighbour_options(const charter::Charter& job, const Patience& patience) const {
    const auto state = context_.policy.folder / context_.policy.state;
    return {.listen = options_.listen,
            .out = state / "jobs" / to_hex(job.hash).substr(0, 12),
            .receipts = state / "receipts",
            .patience = patience};
  }

  void note(const std::string& title, JobEnd end, Attempt& attempt) {
    const std::lock_guard lock(attempt.mutex);
    say(title + ": " + outcome(end.model));
    attempt.ends.push_back(std::move(end));
  }

  void say(const std::string& line) {
    const std::lock_guard lock(log_mutex_);
    log_(line);
  }

  const OwnerContext& context_;
  const Credentials& credentials_;
  const ServiceOptions& options_;
  Clock& clock_;
  const std::atomic<bool>& stop_;
  const Log& log_;
  std::mutex mutex_, log_mutex_;
  std::map<std::filesystem::path, std::unique_ptr<Attempt>> attempts_{};  // the newest of each file
  std::map<std::filesystem::path, Stamp> seen_{};
  std::map<Hash, std::vector<JobEnd>> finished_{};  // by charter
  NoWatch watch_;                                   // Last: it uses all of the above.
};

std::set<std::filesystem::path> charters_in(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().string().ends_with(".charter.toml")) files.insert(entry.path());
  return files;
}

/// Of a process that was killed while it wrote: the state's folder, and that of every job.
void remove_leftovers_of(const charter::Policy& policy) {
  const auto state = policy.folder / policy.state;
  for (const auto& folder : {state, state / "receipts", policy.folder / policy.charters})
    remove_leftovers(folder);
  std::error_code failed;
  for (const auto& jobs : {state / "jobs", state / "models"})
    for (const auto& entry : std::filesystem::directory_iterator(jobs, failed))
      remove_leftovers(entry.path());
}

}  // namespace

Result<Dial> dial_for(const charter::Policy& policy, const charter::Charter& charter,
                      const charter::Charter& job, const std::string& instead) {
  Dial dial{.address = instead, .proxy = policy.proxy, .learner = {}};
  const auto peer = policy.peers.find(job.learner.name);
  if (dial.address.empty() && peer != policy.peers.end()) dial.address = peer->second;
  if (dial.address.empty() && charter.central()) dial.address = policy.dial;
  if (dial.address.empty()) dial.address = job.learner.address;
  if (dial.address.empty())
    return charter.central()
               ? Error{Code::kInvalid,
                       "neither the policy nor the charter says where the learner is",
                       "Add [network] dial = \"host:port\" to the policy.",
                       {.key = "network.dial"}}
               : Error{Code::kInvalid,
                       "neither the policy nor the charter says where " + job.learner.name + " is",
                       "Add peers = { " + job.learner.name + " = \"host:port\" } to [network].",
                       {.key = "network.peers"}};
  dial.learner = {job.consortium, "learner", job.learner.name};
  return dial;
}

Result<Credentials> credentials_of(const charter::Policy& policy, Clock& clock) {
  if (!policy.identity)
    return Error{Code::kInvalid,
                 "the policy has no [identity]",
                 "`parley join` makes one and prints the table.",
                 {.key = "identity"}};
  Credentials credentials = TRY(read_credentials(*policy.identity, clock));
  if (const Identity us{policy.identity->consortium, "owner", policy.owner};
      credentials.identity != us)
    return Error{Code::kInvalid,
                 "the certificate is " + credentials.identity.uri() + ", the policy is " + us.uri(),
                 "Name the certificate that was made for this owner.",
                 {.file = policy.identity->certificate.string()}};
  return credentials;
}

Result<std::vector<JobEnd>> serve(const charter::Policy& policy, const ServiceOptions& options,
                                  Entropy& entropy, Clock& clock, const std::atomic<bool>& stop,
                                  const Log& log) {
  const Credentials credentials = TRY(credentials_of(policy, clock));
  remove_leftovers_of(policy);
  ledger::Ledger ledger = TRY(open_ledger(policy, clock));
  std::mutex mutex;
  const OwnerContext context{policy, ledger, entropy, mutex};
  Jobs jobs(context, credentials, options, clock, stop, log);
  for (const auto& file : options.charters) jobs.start(file);
  if (!options.charters.empty()) return jobs.wait();
  const auto folder = policy.folder / policy.charters;
  log("watching " + folder.string() + " for charters");
  for (; !stop; std::this_thread::sleep_for(kLook))
    for (const auto& file : charters_in(folder)) jobs.look_at(file);
  return jobs.wait();
}

}  // namespace parley::net
