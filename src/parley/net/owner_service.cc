#include "parley/net/owner_service.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

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
  Jobs(const Household& household, const Papers& papers, const ServiceOptions& options,
       const std::atomic<bool>& stop, const Log& log)
      : household_(household), papers_(papers), options_(options), stop_(stop), log_(log) {}

  void start(const std::filesystem::path& file) {
    threads_.emplace_back([this, file] {
      JobEnd end = attend_one(file);
      const std::lock_guard lock(mutex_);
      const std::string name = end.charter_name.empty() ? file.string() : end.charter_name;
      say(name + ": " + outcome(end.model));
      ends_.push_back(std::move(end));
    });
  }

  std::vector<JobEnd> wait() {
    for (std::thread& thread : threads_) thread.join();
    return std::move(ends_);
  }

 private:
  JobEnd attend_one(const std::filesystem::path& file) {
    auto charter = charter::read_charter(file);
    if (!charter) return {file, "", {}, charter.error()};
    JobEnd end{file, charter->name, charter->hash, std::optional<Hash>()};
    end.model = [&]() -> Result<std::optional<Hash>> {
      const Dial dial = TRY(dial_for(household_.policy, *charter, options_.dial));
      const auto owner = TRY(open_owner(household_, *charter));
      const auto ticks = ticks_for(household_.policy, *charter);
      say(charter->name + ": ready, dialling " + dial.address);
      Patience patience = options_.patience;
      patience.answer_after = std::chrono::milliseconds(household_.policy.answer_ms);
      return attend(*owner, ticks.get(), household_.mutex, papers_, dial, patience, stop_,
                    [&](const std::string& line) { say(charter->name + ": " + line); });
    }();
    return end;
  }

  void say(const std::string& line) {
    const std::lock_guard lock(log_mutex_);
    log_(line);
  }

  const Household& household_;
  const Papers& papers_;
  const ServiceOptions& options_;
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
                      const std::string& instead) {
  Dial dial{.address = instead, .proxy = policy.proxy, .learner = {}};
  if (dial.address.empty()) dial.address = policy.dial;
  if (dial.address.empty()) dial.address = charter.learner.address;
  if (dial.address.empty())
    return Error{Code::kInvalid,
                 "neither the policy nor the charter says where the learner is",
                 "Add [network] dial = \"host:port\" to the policy.",
                 {.key = "network.dial"}};
  dial.learner = {charter.consortium, "learner", charter.learner.name};
  return dial;
}

Result<Papers> papers_of(const charter::Policy& policy, Clock& clock) {
  if (!policy.identity)
    return Error{Code::kInvalid,
                 "the policy has no [identity]",
                 "`parley join` makes one and prints the table.",
                 {.key = "identity"}};
  Papers papers = TRY(read_papers(*policy.identity, clock));
  if (const Identity us{policy.identity->consortium, "owner", policy.owner}; papers.identity != us)
    return Error{Code::kInvalid,
                 "the certificate is " + papers.identity.uri() + ", the policy is " + us.uri(),
                 "Name the certificate that was made for this owner.",
                 {.file = policy.identity->certificate.string()}};
  return papers;
}

Result<std::vector<JobEnd>> serve(const charter::Policy& policy, const ServiceOptions& options,
                                  Entropy& entropy, Clock& clock, const std::atomic<bool>& stop,
                                  const Log& log) {
  const Papers papers = TRY(papers_of(policy, clock));
  ledger::Ledger ledger = TRY(ledger::Ledger::open(ledger_of(policy), policy.owner, clock));
  std::mutex mutex;
  const Household household{policy, ledger, entropy, mutex};
  Jobs jobs(household, papers, options, stop, log);
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
