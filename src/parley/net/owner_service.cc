#include "parley/net/owner_service.h"

#include <unistd.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "parley/base/files.h"
#include "parley/base/version.h"
#include "parley/net/control/metrics_server.h"
#include "parley/net/control/owner_meter.h"
#include "parley/net/control/status_socket.h"
#include "parley/net/decisions.h"
#include "parley/net/doctor/preflight.h"
#include "parley/net/journal/finished.h"
#include "parley/net/neighbours.h"

namespace parley::net {
namespace {

constexpr std::chrono::milliseconds kLook{500};

std::string outcome(const Result<std::optional<Hash>>& model) {
  if (!model) return describe(model.error()) + ". " + model.error().hint;
  if (!*model) return "every answer was given, and the learner left without a farewell";
  return "finished, model " + to_hex(**model);
}

/// Of a learner: one model, or room for the receipts that it shows. In secure sums and where
/// columns lie apart it passes on what owners say to each other, in pieces as long as messages may
/// be.
size_t longest_question(const charter::Charter& job) {
  if (job.secure_aggregation || job.columns_apart()) return wire::kMessageBytesMax;
  return std::min(8 * job.schema.features().size() + 8192, wire::kMessageBytesMax);
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

/// Bytes on the disk with this folder; 0 if it does not say.
uintmax_t room_at(const std::filesystem::path& folder) {
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  return failed ? 0 : space.available;
}

/// The jobs of one charter's file, and how they ended.
struct Attempt {
  explicit Attempt(const OwnerContext& context) : context(context) {}
  const OwnerContext& context;       // of the policy by which it began
  Stamp stamp{};                     // of the file that was read
  Stamp members{};                   // of the certificates of owners
  std::filesystem::path approval{};  // a person's, for which it waits
  uint32_t asked = 0;                // how often to read files again, when it began
  std::mutex mutex{};                // of what follows
  std::string name{};                // of the charter, once it is read
  Hash charter{};
  std::vector<Hash> jobs{};
  std::vector<JobEnd> ends{};
  uintmax_t room = 0;  // on the disk with the state, when it was over
  std::atomic<bool> over = false;
  std::thread thread{};

  /// Might it end otherwise now, if the files have these stamps?
  bool is_worth_another(const Stamp& now, const Stamp& members_now, uint32_t asked_now) const {
    if (now != stamp) return true;
    if (asked_now != asked && !ended_well()) return true;
    if (!approval.empty()) return std::filesystem::exists(approval);
    return std::any_of(ends.begin(), ends.end(), [&](const JobEnd& end) {
      if (end.model) return false;
      const Code code = end.model.error().code;
      return code == Code::kUnavailable || members_now != members ||
             (code == Code::kFailed && has_room_again());
    });
  }
  std::filesystem::path state_folder() const {
    return context.policy.folder / context.policy.state;
  }
  /// A full disk ended it, as far as one can see, and now there is room.
  bool has_room_again() const {
    constexpr uintmax_t kMegabyte = 1 << 20;
    return room < 16 * kMegabyte && room_at(state_folder()) >= room + kMegabyte;
  }
  bool ended_well() const {
    return !ends.empty() &&
           std::all_of(ends.begin(), ends.end(), [](const JobEnd& end) { return bool(end.model); });
  }
  /// For people who ask.
  std::string state() {
    const std::lock_guard lock(mutex);
    if (!over) return "running";
    if (!approval.empty()) return "waits for a person";
    return ended_well() ? "finished" : "ended early";
  }
  std::string reason() {
    const std::lock_guard lock(mutex);
    for (const JobEnd& end : ends)
      if (!end.model) return describe(end.model.error());
    return "";
  }
};

/// All jobs of one owner, each in its thread.
class Jobs {
 public:
  Jobs(const OwnerContext& context, const LiveCredentials& credentials,
       const ServiceOptions& options, Clock& clock, const std::atomic<bool>& stop, const Log& log,
       OwnerMeter& meter)
      : context_(&context),
        credentials_(credentials),
        options_(options),
        clock_(clock),
        stop_(stop),
        log_(log),
        meter_(meter),
        since_(clock.now()),
        finished_(context.policy.folder / context.policy.state / "finished"),
        watch_(log, [this](const Hash& charter) {
          const std::lock_guard lock(mutex_);
          said_no_.insert(charter);
        }) {}

  /// For jobs that begin from now on; it must outlive this.
  void use(const OwnerContext& context) { context_ = &context; }

  void start(const std::filesystem::path& file) {
    auto made = std::make_unique<Attempt>(*context_);
    Attempt& attempt = *made;
    attempt.stamp = stamp_of(file);
    attempt.members = stamp_of(context_->policy.identity->members);
    attempt.asked = asked();
    {
      const std::lock_guard lock(mutex_);
      attempts_[file] = std::move(made);
    }
    attempt.thread = std::thread([this, file, &attempt] {
      run_all(file, attempt);
      attempt.room = room_at(attempt.state_folder());
      attempt.over = true;
    });
  }

  /// One look at a watched folder's file: starts it when it has been the same for two looks, and
  /// again when it ended and might now end otherwise: it was copied whole meanwhile, or approved,
  /// or owners have new certificates, or its learner had not come, or a full disk has room again.
  void look_at(const std::filesystem::path& file) {
    const Stamp stamp = stamp_of(file);
    const auto [seen, first] = seen_.try_emplace(file, stamp);
    if (first || std::exchange(seen->second, stamp) != stamp) return;
    const auto found = attempts_.find(file);
    if (found == attempts_.end()) return start(file);
    Attempt& attempt = *found->second;
    const Stamp members = stamp_of(context_->policy.identity->members);
    if (!attempt.over) return;
    if (!heard_no(attempt.charter) && !attempt.is_worth_another(stamp, members, asked())) return;
    attempt.thread.join();
    start(file);
  }

  /// Since it was asked last: whoever waits at its learner hears of it.
  bool heard_no(const Hash& charter) {
    const std::lock_guard lock(mutex_);
    return said_no_.erase(charter) > 0;
  }

  /// How often somebody has asked to read files again.
  uint32_t asked() const { return options_.reload == nullptr ? 0 : options_.reload->load(); }

  bool are_over() const {
    return std::all_of(attempts_.begin(), attempts_.end(),
                       [](const auto& each) { return each.second->over.load(); });
  }

  std::string status() {
    using Json = nlohmann::ordered_json;
    const std::lock_guard lock(mutex_);
    Json charters = Json::array();
    for (const auto& [file, attempt] : attempts_) {
      const std::string state = attempt->state(), reason = attempt->reason();
      const std::lock_guard its(attempt->mutex);
      const OwnerMeter::Traffic traffic = meter_.traffic(attempt->jobs);
      const auto& pace = traffic.seconds_per_answer;
      charters.push_back({{"file", std::filesystem::absolute(file).string()},
                          {"name", attempt->name},
                          {"charter", attempt->name.empty() ? "" : to_hex(attempt->charter)},
                          {"state", state},
                          {"reason", reason},
                          {"received_bytes", traffic.received},
                          {"sent_bytes", traffic.sent},
                          {"seconds_per_answer", pace ? Json(*pace) : Json()}});
    }
    return Json{{"format", "parley.owner.status/1"},
                {"version", kVersion},
                {"pid", ::getpid()},
                {"since", since_},
                {"owner", credentials_.now()->identity.name},
                {"revocation_list", credentials_.now()->revoked.number},
                {"dial", options_.dial},
                {"charters", charters}}
               .dump(2) +
           "\n";
  }

  /// How many charters are in each state.
  std::map<std::string, size_t> states() {
    std::map<std::string, size_t> all{
        {"running", 0}, {"waits for a person", 0}, {"finished", 0}, {"ended early", 0}};
    const std::lock_guard lock(mutex_);
    for (const auto& [file, attempt] : attempts_) ++all[attempt->state()];
    return all;
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
    announce(*ready, attempt);
    std::vector<std::thread> others;
    for (size_t i = 1; i < ready->jobs.size(); ++i)
      others.emplace_back([&, i] { run(file, *ready, ready->jobs[i], attempt); });
    run(file, *ready, ready->jobs[0], attempt);
    for (std::thread& thread : others) thread.join();
    keep_if_finished(ready->charter.hash, attempt);
    if (!check_approved(attempt.context, ready->charter))  // A person has said no meanwhile.
      wait_for(attempt.context.policy.approval_of(ready->charter), attempt);
  }

  /// With one job at least; nothing if it is done, or if it cannot run, which is noted.
  std::optional<Ready> get_ready_for(const std::filesystem::path& file, Attempt& attempt) {
    JobEnd end{file, "", {}, "", std::optional<Hash>()};
    auto ready = [&]() -> Result<std::optional<Ready>> {
      const charter::Charter charter = TRY(charter::read_charter(file));
      end.charter_name = charter.name, end.charter = charter.hash;
      name(attempt, charter);
      const OwnerContext& context = attempt.context;
      watch_.add(context, charter);
      const auto approved = check_approved(context, charter);
      if (!approved && context.policy.first_match(charter)) {
        wait_for(context.policy.approval_of(charter), attempt);
        tell_if_refused(context, charter, approved.error());
      }
      TRY(approved);
      if (was_finished(charter.hash, attempt)) return std::optional<Ready>();
      Ready ready = TRY(get_ready(context.policy, charter, clock_, stop_));
      TRY(choose_jobs(context, ready));
      return std::optional(std::move(ready));
    }();
    if (ready) return *std::move(ready);
    end.model = ready.error();
    const std::string title = end.charter_name.empty() ? file.string() : end.charter_name;
    note(title, std::move(end), attempt);
    return std::nullopt;
  }

  /// A person has refused it: its learner need not wait for us. Secure sums and columns have no
  /// greeting of owners that do not take part.
  void tell_if_refused(const OwnerContext& context, const charter::Charter& charter,
                       const Error& why) {
    if (!charter.central() || charter.secure_aggregation || charter.columns_apart()) return;
    std::unique_lock lock(context.mutex);
    const ledger::Decision* word = context.ledger.decision(charter.hash);
    if (word == nullptr || word->what != ledger::Decision::What::kRefused) return;
    const uint32_t last_round = context.ledger.last_round(charter.hash);
    lock.unlock();
    const auto told = [&]() -> Result<void> {
      const Dial dial = TRY(dial_for(context.policy, charter, charter, options_.dial));
      return tell_learner(credentials_, dial, charter.hash, last_round, why, stop_);
    }();
    log_({log::kRefused,
          told ? "the learner was told: " + why.what
               : "the learner was not told: " + describe(told.error()),
          charter.name});
  }

  /// What its jobs will ask for, and how far they are.
  void announce(const Ready& ready, Attempt& attempt) {
    const OwnerContext& context = attempt.context;
    std::set<Hash> hashes;
    for (const charter::Charter& job : ready.jobs) hashes.insert(job.hash);
    {
      const std::lock_guard lock(attempt.mutex);
      attempt.jobs.assign(hashes.begin(), hashes.end());
    }
    if (context.policy.metrics_listen.empty()) return;
    const charter::Preflight all =
        preflight_of(context.policy, ready.charter, std::nullopt, {.read_data = false}, clock_);
    const std::lock_guard lock(context.mutex);
    for (const Hash& job : hashes) {
      meter_.begins(ready.charter.name, job, hashes.size(), all);
      meter_.look(context.policy, context.ledger, &job);
    }
  }

  /// What it counts while it goes on.
  OnAttend meter_of(const OwnerContext& context, const charter::Charter& job) {
    return {.stepped = [this, &context,
                        hash = job.hash] { meter_.look(context.policy, context.ledger, &hash); },
            .exchanged =
                [this, hash = job.hash](size_t received, size_t sent,
                                        std::chrono::duration<double> took) {
                  meter_.exchanged(hash, received, sent, took);
                }};
  }

  static void name(Attempt& attempt, const charter::Charter& charter) {
    const std::lock_guard lock(attempt.mutex);
    attempt.name = charter.name, attempt.charter = charter.hash;
  }

  /// One that is there and cannot be read is not waited for.
  static void wait_for(const std::filesystem::path& approval, Attempt& attempt) {
    const std::lock_guard lock(attempt.mutex);
    if (!std::filesystem::exists(approval)) attempt.approval = approval;
  }

  Result<void> choose_jobs(const OwnerContext& context, Ready& ready) const {
    if (ready.jobs.empty())
      return Error{Code::kPolicy,
                   context.policy.owner + " learns from the others, and is asked nothing",
                   "Type `parley learner run`, then `parley owner tune`."};
    if (!options_.learner.empty())
      std::erase_if(ready.jobs, [&](const charter::Charter& job) {
        return job.learner.name != options_.learner;
      });
    if (ready.jobs.empty())
      return Error{Code::kInvalid,
                   "no learner " + options_.learner + " asks " + context.policy.owner,
                   "Name a learner of the charter with --learner, or leave it out."};
    if (ready.jobs.size() == 1 || options_.dial.empty()) return {};
    return Error{Code::kInvalid, "--dial names one address, and several learners ask",
                 "Name one of them with --learner, or give addresses in charter or policy."};
  }

  /// A charter whose job is done begins nothing when its file is written again, or the daemon
  /// starts again. One that was named, and not found in the folder, is dialled for all the same.
  bool was_finished(const Hash& charter, Attempt& attempt) {
    const std::lock_guard lock(mutex_);
    if (!options_.charters.empty() || !(ended_.contains(charter) || finished_.has(charter)))
      return false;
    const std::lock_guard its(attempt.mutex);
    attempt.ends = {JobEnd{{}, attempt.name, charter, "", std::optional<Hash>()}};
    return true;
  }

  /// For the next start only if its learners said farewell: else one may be back, and ask again.
  void keep_if_finished(const Hash& charter, const Attempt& attempt) {
    if (!attempt.ended_well()) return;
    const std::lock_guard lock(mutex_);
    ended_.insert(charter);
    if (std::all_of(attempt.ends.begin(), attempt.ends.end(),
                    [](const JobEnd& end) { return end.model->has_value(); }))
      static_cast<void>(
          finished_.add(charter));  // Without the note the next start dials once more.
  }

  void run(const std::filesystem::path& file, const Ready& ready, const charter::Charter& job,
           Attempt& attempt) {
    const std::string title =
        ready.charter.name + (ready.jobs.size() > 1 ? " of " + job.learner.name : "");
    JobEnd end{file, ready.charter.name, job.hash, job.learner.name, std::optional<Hash>()};
    end.model = attend_one(attempt.context, ready, job, title);
    note(title, std::move(end), attempt);
  }

  Result<std::optional<Hash>> attend_one(const OwnerContext& context, const Ready& ready,
                                         const charter::Charter& job, const std::string& title) {
    const Log say = [&](const LogLine& line) { log_({line.event, line.text, title}); };
    Patience patience = options_.patience;
    patience.answer_after = std::chrono::milliseconds(context.policy.answer_ms);
    // While others answer, the learner has nothing to say.
    patience.silent = std::max(patience.absent, 2 * std::chrono::seconds(job.network.deadline_s));
    if (!ready.charter.protocol.learners.graph.empty())
      return learn_with_neighbours(context, ready, credentials_,
                                   neighbour_options(context, job, patience), clock_, stop_, say);
    Dial dial = TRY(dial_for(context.policy, ready.charter, job, options_.dial));
    dial.longest = longest_question(job);
    const auto owner = TRY(open_owner(context, ready, job));
    const auto ticks = ticks_for(*owner, context.policy, job);
    say({log::kDialling, "ready, dialling " + to_text(dial.address)});
    return attend(*owner, ticks.get(), context.mutex, credentials_, dial, patience, stop_, say,
                  meter_of(context, job));
  }

  /// In the policy's folder of state: a folder for each job, and one for all receipts.
  NeighbourOptions neighbour_options(const OwnerContext& context, const charter::Charter& job,
                                     const Patience& patience) {
    const auto state = context.policy.folder / context.policy.state;
    return {.listen = options_.listen,
            .out = state / "jobs" / to_hex(job.hash).substr(0, 12),
            .receipts = state / "receipts",
            .patience = patience,
            .on = meter_of(context, job)};
  }

  void note(const std::string& title, JobEnd end, Attempt& attempt) {
    const std::lock_guard lock(attempt.mutex);
    meter_.ended(end.charter, end.model);
    log_({end.model ? log::kFinished : log::kEndedEarly, outcome(end.model), title});
    attempt.ends.push_back(std::move(end));
  }

  const OwnerContext* context_;  // of jobs that begin now
  const LiveCredentials credentials_;
  const ServiceOptions& options_;
  Clock& clock_;
  const std::atomic<bool>& stop_;
  const Log& log_;
  OwnerMeter& meter_;
  const std::string since_;
  std::mutex mutex_;
  std::map<std::filesystem::path, std::unique_ptr<Attempt>> attempts_{};  // the newest of each file
  std::map<std::filesystem::path, Stamp> seen_{};
  std::set<Hash> ended_{};  // charters whose jobs have ended well since the daemon began
  FinishedJobs finished_;
  std::set<Hash> said_no_{};
  NoWatch watch_;  // Last: it uses all of the above.
};

/// A policy that was changed while the daemon runs. What all jobs share cannot change.
class Policies {
 public:
  Policies(const OwnerContext& first, const ServiceOptions& options)
      : first_(first), options_(options), asked_(asked()) {}

  bool is_asked() {
    const uint32_t now = asked();
    return std::exchange(asked_, now) != now && !options_.policy_file.empty();
  }

  void read_again(Jobs& jobs, const Log& say) {
    auto read = charter::read_policy(options_.policy_file);
    const auto fits = read ? check_shared(*read) : read.error();
    if (!fits) {
      say({log::kPolicyRefused, "the policy is not taken, the one in use stays: " +
                                    describe(fits.error()) + ". " + fits.error().hint});
      return;
    }
    policies_.push_back(*std::move(read));
    contexts_.push_back(
        {policies_.back(), first_.ledger, first_.entropy, first_.mutex, first_.stop});
    jobs.use(contexts_.back());
    say({log::kPolicy, "the policy was read again: jobs that begin now go by it"});
  }

 private:
  uint32_t asked() const { return options_.reload == nullptr ? 0 : options_.reload->load(); }

  Result<void> check_shared(const charter::Policy& next) const {
    const charter::Policy& now = first_.policy;
    const bool same = next.owner == now.owner && next.state == now.state &&
                      next.charters == now.charters && next.witness == now.witness &&
                      next.identity && next.identity->certificate == now.identity->certificate &&
                      next.identity->key == now.identity->key &&
                      next.identity->authority == now.identity->authority &&
                      next.identity->revoked == now.identity->revoked &&
                      next.metrics_listen == now.metrics_listen && next.web == now.web;
    if (same) return {};
    return Error{
        Code::kInvalid,
        "changes owner, state, charters, witness, metrics, web, or the files of [identity]",
        "Restart the daemon for that.",
        {.file = options_.policy_file.string()}};
  }

  const OwnerContext& first_;
  const ServiceOptions& options_;
  uint32_t asked_;
  std::list<charter::Policy> policies_{};  // Jobs keep the one by which they began.
  std::list<OwnerContext> contexts_{};
};

/// `read` says whether the folder could be read.
std::set<std::filesystem::path> charters_in(const std::filesystem::path& folder,
                                            std::atomic<bool>& read) {
  std::set<std::filesystem::path> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().string().ends_with(".charter.toml")) files.insert(entry.path());
  read = !failed;
  return files;
}

/// With what was written since the last checkpoint of SQLite.
uint64_t ledger_bytes(const charter::Policy& policy) {
  uint64_t sum = 0;
  for (const char* more : {"", "-wal"}) {
    std::error_code failed;
    const auto size = std::filesystem::file_size(ledger_of(policy).string() + more, failed);
    if (!failed) sum += size;
  }
  return sum;
}

void write_service(OpenMetrics& metrics, const charter::Policy& policy, Jobs& jobs) {
  using enum OpenMetrics::Kind;
  metrics.family(kGauge, "parley_ledger_bytes", "Size of the ledger's files.");
  metrics.sample({}, static_cast<double>(ledger_bytes(policy)));
  metrics.family(kGauge, "parley_charters", "Charters, by how they stand.");
  for (const auto& [state, count] : jobs.states())
    metrics.sample({{"state", state}}, static_cast<double>(count));
}

/// Off unless the policy says where.
Result<std::optional<HttpServer>> metrics_of(const charter::Policy& policy,
                                             const DaemonFacts& facts, const OwnerMeter& meter,
                                             Jobs& jobs, const std::atomic<bool>& charters_read) {
  if (policy.metrics_listen.empty()) return std::optional<HttpServer>();
  const auto write = [&](OpenMetrics& metrics) {
    facts.write(metrics);
    meter.write(metrics);
    write_service(metrics, policy, jobs);
  };
  const auto obstacles = [&] {
    std::vector<std::string> all{facts.about_certificate()};
    if (meter.is_older_copy()) all.emplace_back("The ledger is an older copy: reconcile it.");
    if (!charters_read) all.emplace_back("The folder of charters has not been read.");
    std::erase(all, "");
    return all;
  };
  return std::optional(
      TRY(serve_metrics(policy.listen_at(policy.metrics_listen), {write, obstacles})));
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
                                  const Log& log_lines) {
  const LiveCredentials credentials = TRY(credentials_of(policy, clock));
  remove_leftovers_of(policy);
  ledger::Ledger ledger = TRY(open_ledger(policy, clock));
  std::mutex mutex;
  const OwnerContext context{policy, ledger, entropy, mutex, stop};
  Policies policies(context, options);
  std::mutex log_mutex;
  DaemonFacts facts("owner", credentials, policy.folder / policy.state, clock);
  const Log say = [&](const LogLine& line) {
    const std::lock_guard lock(log_mutex);
    facts.logged(line.event);
    log_lines(line);
  };
  const CredentialsWatch watch(
      credentials, *policy.identity, [&] { return credentials_of(policy, clock); }, clock, say);
  OwnerMeter meter;
  meter.look(policy, ledger);
  Jobs jobs(context, credentials, options, clock, stop, say, meter);
  std::atomic<bool> looked = false;
  const auto metrics = TRY(metrics_of(policy, facts, meter, jobs, looked));
  const auto asked = StatusSocket::open(policy.folder / policy.state / kStatusSocket,
                                        [&] { return jobs.status(); });
  if (!asked) say({log::kNoStatus, "nobody can ask for the status: " + describe(asked.error())});
  TRY(options.opened());
  for (const auto& file : options.charters) jobs.start(file);
  options.ready();
  if (!options.charters.empty()) {
    looked = true;
    for (; !jobs.are_over(); std::this_thread::sleep_for(kLook)) options.alive();
    return jobs.wait();
  }
  say({log::kWatching, "watching " + (policy.folder / policy.charters).string() + " for charters"});
  for (; !stop; std::this_thread::sleep_for(kLook)) {
    options.alive();
    if (policies.is_asked()) policies.read_again(jobs, say);
    const auto files = charters_in(policy.folder / policy.charters, looked);
    for (const auto& file : files) jobs.look_at(file);
  }
  return jobs.wait();
}

}  // namespace parley::net
