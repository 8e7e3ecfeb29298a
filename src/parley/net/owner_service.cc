#include "parley/net/owner_service.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "parley/net/neighbours.h"

namespace parley::net {
namespace {

constexpr std::chrono::milliseconds kLook{500};

std::string outcome(const Result<std::optional<Hash>>& model) {
  if (!model) return describe(model.error()) + ". " + model.error().hint;
  if (!*model) return "every answer was given, and the learner left without a farewell";
  return "finished, model " + to_hex(**model);
}

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
        log_(log) {}

  void start(const std::filesystem::path& file) {
    threads_.emplace_back([this, file] {
      const auto ready = get_ready_for(file);
      if (!ready) return;
      std::vector<std::thread> others;
      for (size_t i = 1; i < ready->jobs.size(); ++i)
        others.emplace_back([&, i] { run(file, *ready, ready->jobs[i]); });
      run(file, *ready, ready->jobs[0]);
      for (std::thread& thread : others) thread.join();
    });
  }

  std::vector<JobEnd> wait() {
    for (std::thread& thread : threads_) thread.join();
    return std::move(ends_);
  }

 private:
  /// With one job at least; else how it ended is noted.
  std::optional<Ready> get_ready_for(const std::filesystem::path& file) {
    JobEnd end{file, "", {}, "", std::optional<Hash>()};
    auto ready = [&]() -> Result<Ready> {
      const charter::Charter charter = TRY(charter::read_charter(file));
      end.charter_name = charter.name, end.charter = charter.hash;
      TRY(check_approved(context_, charter));
      Ready ready = TRY(get_ready(context_.policy, charter));
      TRY(choose_jobs(ready));
      return ready;
    }();
    if (ready) return *std::move(ready);
    end.model = ready.error();
    note(end.charter_name.empty() ? file.string() : end.charter_name, std::move(end));
    return std::nullopt;
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

  void run(const std::filesystem::path& file, const Ready& ready, const charter::Charter& job) {
    const std::string title =
        ready.charter.name + (ready.jobs.size() > 1 ? " of " + job.learner.name : "");
    JobEnd end{file, ready.charter.name, job.hash, job.learner.name, std::optional<Hash>()};
    end.model = attend_one(ready, job, title);
    note(title, std::move(end));
  }

  Result<std::optional<Hash>> attend_one(const Ready& ready, const charter::Charter& job,
                                         const std::string& title) {
    const Log log = [&](const std::string& line) { say(title + ": " + line); };
    Patience patience = options_.patience;
    patience.answer_after = std::chrono::milliseconds(context_.policy.answer_ms);
    if (!ready.charter.protocol.learners.graph.empty())
      return learn_with_neighbours(context_, ready, credentials_, neighbour_options(job, patience),
                                   clock_, stop_, log);
    const Dial dial = TRY(dial_for(context_.policy, ready.charter, job, options_.dial));
    const auto owner = TRY(open_owner(context_, ready, job));
    const auto ticks = ticks_for(*owner, context_.policy, job);
    log("ready, dialling " + dial.address);
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

  void note(const std::string& title, JobEnd end) {
    const std::lock_guard lock(mutex_);
    say(title + ": " + outcome(end.model));
    ends_.push_back(std::move(end));
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
  std::vector<JobEnd> ends_;
  std::vector<std::thread> threads_;
};

std::set<std::filesystem::path> charters_in(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().string().ends_with(".charter.toml")) files.insert(entry.path());
  return files;
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
  ledger::Ledger ledger = TRY(open_ledger(policy, clock));
  std::mutex mutex;
  const OwnerContext context{policy, ledger, entropy, mutex};
  Jobs jobs(context, credentials, options, clock, stop, log);
  for (const auto& file : options.charters) jobs.start(file);
  if (!options.charters.empty()) return jobs.wait();
  const auto folder = policy.folder / policy.charters;
  log("watching " + folder.string() + " for charters");
  for (std::set<std::filesystem::path> seen; !stop; std::this_thread::sleep_for(kLook))
    for (const auto& file : charters_in(folder))
      if (seen.insert(file).second) jobs.start(file);
  return jobs.wait();
}

}  // namespace parley::net
