// parley owner run|status|approve|refuse|withdraw|check POLICY [CHARTER...], parley owner tune
// POLICY CHARTER TRANSCRIPT, parley owner value POLICY CHARTER [MODEL] and parley owner web POLICY
#include "parley/report/network/owner.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/api/daemons.h"
#include "parley/api/internal.h"
#include "parley/api/owner_value.h"
#include "parley/api/owner_web/console.h"
#include "parley/net/control/service_manager.h"
#include "parley/net/control/status_socket.h"
#include "parley/net/decisions.h"
#include "parley/net/doctor/preflight.h"
#include "parley/net/tune.h"
#include "parley/plan/sums/gram.h"
#include "parley/report/network/status.h"

namespace parley::cli {
namespace {

struct OwnerRunOptions {
  std::filesystem::path policy;
  std::vector<std::filesystem::path> charters;
  std::string dial, listen, learner;
  int64_t wait = 600;
};

struct OwnerStatusOptions {
  std::filesystem::path policy;
};

struct OwnerApproveOptions {
  std::filesystem::path policy;
  std::vector<std::filesystem::path> charters;
  std::string reason;
};
struct OwnerRefuseOptions : OwnerApproveOptions {};
struct OwnerWithdrawOptions : OwnerApproveOptions {};

struct OwnerCheckOptions {
  std::filesystem::path policy;
  std::vector<std::filesystem::path> charters;
  std::string dial;
  bool no_data = false;
};

struct OwnerTuneOptions {
  std::filesystem::path policy, charter, transcript;
  std::filesystem::path out = "tuned.json";
};

struct OwnerValueOptions : api::OwnerLookOptions {
  std::filesystem::path policy, charter;
};

struct OwnerWebOptions {
  std::filesystem::path policy;
  api::PageOptions page;
};

/// Of charters that were named the first that failed decides how the process exits. A daemon that
/// watches its folder ends because it was told to, whatever became of its jobs.
Result<Output> run(const OwnerRunOptions& options, ProgressStyle) {
  const Policy policy = TRY(Policy::read(options.policy));
  heed_signals();
  net::Watchdog watchdog;
  auto jobs = api::run_owner(policy,
                             {.charters = options.charters,
                              .dial = options.dial,
                              .listen = options.listen,
                              .learner = options.learner,
                              .wait = std::chrono::seconds(options.wait)},
                             {.stop = interrupted,
                              .reload = &reloads,
                              .log = log_line,
                              .ready = [] { net::tell_manager("READY=1"); },
                              .alive = [&] { watchdog.alive(); },
                              .person = user_name()},
                             options.policy);
  net::tell_manager("STOPPING=1");
  if (!jobs) return jobs.error();
  const auto failed = [](const OwnerJob& job) { return !job.model; };
  if (options.charters.empty()) std::erase_if(*jobs, failed);
  for (const OwnerJob& job : *jobs)
    if (failed(job)) return job.model.error();
  return Output{report::to_text(*jobs), report::to_json(*jobs)};
}

Result<Output> run(const OwnerStatusOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  const std::string said = TRY(net::ask_status(policy.folder / policy.state / net::kStatusSocket));
  const report::DaemonStatus status{said, TRY(net::look_into_ledger(policy))};
  return Output{TRY(report::to_text(status)), TRY(report::to_json(status))};
}

Result<Output> run(const OwnerApproveOptions& options, ProgressStyle) {
  const Policy policy = TRY(Policy::read(options.policy));
  std::vector<report::Approved> approved;
  for (const auto& file : options.charters) {
    const Charter charter = TRY(Charter::read(file));
    auto noise =
        TRY(plan::noise_notice(charter.internal().charter));  // Refused if it is only that.
    TRY(approve(policy, charter, user_name(), options.reason));
    approved.push_back(
        {.name = charter.name(), .charter = charter.hash(), .noise = std::move(noise)});
  }
  return Output{report::to_text(approved), report::to_json(approved)};
}

Result<Output> say_no(const OwnerApproveOptions& options, ledger::Decision::What what) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  std::vector<report::Approved> decided;
  for (const auto& file : options.charters) {
    const charter::Charter charter = TRY(charter::read_charter(file));
    const auto waits = TRY(net::say_no(
        policy, charter,
        {.what = what, .by = user_name(), .at = clock.now(), .reason = options.reason}, clock));
    decided.push_back({.name = charter.name,
                       .charter = charter.hash,
                       .what = std::string(ledger::name_of(what)),
                       .waits = waits ? describe(*waits) : ""});
  }
  return Output{report::to_text(decided), report::to_json(decided)};
}

Result<Output> run(const OwnerRefuseOptions& options, ProgressStyle) {
  return say_no(options, ledger::Decision::What::kRefused);
}

Result<Output> run(const OwnerWithdrawOptions& options, ProgressStyle) {
  return say_no(options, ledger::Decision::What::kWithdrawn);
}

/// The policy in sentences, with what its ledger has left.
std::string explained(const charter::Policy& policy,
                      const std::optional<ledger::Contents>& ledger) {
  charter::SpentByDataset spent;
  if (ledger)
    for (const ledger::Dataset& dataset : ledger->datasets) spent[dataset.name] = dataset.spent;
  return charter::explain(policy, spent);
}

Result<std::string> identity_of(const charter::Policy& policy) {
  SystemClock clock;
  return TRY(net::credentials_of(policy, clock)).identity.uri();
}

Result<Output> run(const OwnerCheckOptions& options, ProgressStyle style) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  const auto ledger = TRY(net::look_into_ledger(policy));
  report::OwnerCheck result{.owner = policy.owner,
                            .explanation = explained(policy, ledger),
                            .identity = identity_of(policy)};
  SystemClock clock;
  Progress progress(options.no_data ? ProgressStyle::kQuiet : style, "charters",
                    options.charters.size());
  for (const auto& file : options.charters) {
    const charter::Charter charter = TRY(charter::read_charter(file));
    result.charters.push_back(net::preflight_of(
        policy, charter, ledger, {.dial = options.dial, .read_data = !options.no_data}, clock));
    progress.advance();
  }
  return Output{.text = report::to_text(result),
                .json = report::to_json(result),
                .exit = result.runs() ? 0 : exit_status(Code::kPolicy)};
}

Result<Output> run(const OwnerTuneOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  const charter::Charter charter = TRY(charter::read_charter(options.charter));
  SystemClock clock;
  SystemEntropy entropy;
  const net::Tuned tuned = TRY(net::tune(
      policy, charter, {.transcript = options.transcript, .out = options.out}, entropy, clock));
  const report::TunedModel result{.charter = charter.hash,
                                  .name = tuned.charter_name,
                                  .model = tuned.file,
                                  .published = tuned.published,
                                  .transcript = tuned.transcript,
                                  .epsilon_spent = tuned.epsilon_spent};
  return Output{report::to_text(result), report::to_json(result)};
}

Result<Output> run(const OwnerValueOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  const charter::Charter charter = TRY(charter::read_charter(options.charter));
  const report::OwnerLook look = TRY(api::look_at_value(policy, charter, options));
  return Output{report::to_text(look), report::to_json(look)};
}

Result<Output> run(const OwnerWebOptions& options, ProgressStyle) {
  heed_interrupts();
  TRY(api::owner_console(options.policy, with_terminal(options.page), interrupted));
  return Output{};
}

void add_owner_run(const Commands& group) {
  const auto [app, options] = group.add<OwnerRunOptions>(
      "run", "Answer the learners of charters that your policy accepts", run);
  policy_argument(app, options.policy);
  app.add_option("charter", options.charters,
                 "Charter files (default: watches the policy's folder)")
      ->type_name("FILE");
  dial_option(app, options.dial);
  app.add_option("--listen", options.listen,
                 "With protocol.graph: address to listen on, in place of the policy's or charter's")
      ->type_name("HOST:PORT");
  app.add_option("--learner", options.learner, "With protocol.copies: answer this learner only")
      ->type_name("NAME");
  wait_option(app, options.wait, "Give up after this time without the learner");
}

template <class Options>
void add_decision(const Commands& group, const char* name, const char* help) {
  const auto [app, options] = group.add<Options>(name, help, run);
  policy_argument(app, options.policy);
  app.add_option("charter", options.charters, "Charter files")->type_name("FILE")->required();
  app.add_option("--reason", options.reason, "Reason; recorded with your name")->type_name("TEXT");
}

void add_owner_decisions(const Commands& group) {
  add_decision<OwnerApproveOptions>(group, "approve", "Allow a charter that waits for a person");
  add_decision<OwnerRefuseOptions>(group, "refuse", "Never answer a charter");
  add_decision<OwnerWithdrawOptions>(group, "withdraw",
                                     "Stop answering a charter, even during its job");
}

void add_owner_check(const Commands& group) {
  const auto [app, options] = group.add<OwnerCheckOptions>(
      "check", "Say in sentences what your policy will answer, to whom, for how much", run);
  policy_argument(app, options.policy);
  app.add_option("charter", options.charters,
                 "Charters to check: would they run, and what budget would be left")
      ->type_name("FILE");
  dial_option(app, options.dial);
  app.add_flag("--no-data", options.no_data, "Do not read the data, which can take long");
}

void add_owner_status(const Commands& group) {
  const auto [app, options] =
      group.add<OwnerStatusOptions>("status", "Show the state of your daemon", run);
  policy_argument(app, options.policy);
}

void add_owner_tune(const Commands& group) {
  const auto [app, options] = group.add<OwnerTuneOptions>(
      "tune", "Fit the model learned from the others to your own rows", run);
  policy_argument(app, options.policy);
  charter_argument(app, options.charter);
  app.add_option("transcript", options.transcript, "Transcript of your learner")
      ->required()
      ->type_name("FILE");
  app.add_option("--out", options.out, "Model file; must not exist yet")->capture_default_str();
}

void add_owner_value(const Commands& group) {
  const auto [app, options] = group.add<OwnerValueOptions>(
      "value", "Evaluate on your own rows what a job would bring or brought; for you only", run);
  policy_argument(app, options.policy);
  charter_argument(app, options.charter);
  auto* model = app.add_option("model", options.model, "Model of the job, after it has ended");
  model->type_name("FILE");
  app.add_option("--out", options.out,
                 "File for your personal model, for you only; must not exist yet")
      ->type_name("FILE")
      ->needs(model);
  app.add_option("--held-out", options.held_out, "Share of your rows to evaluate on")
      ->check(CLI::Range(0.01, 0.5))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed that chooses these rows")->capture_default_str();
  app.add_option("--worth", options.worth,
                 "Smallest gain that counts (default: the policy's [worth])")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
         "--own-columns", options.own_columns,
         "Numeric columns of yours that the charter lacks and that are known before the target")
      ->type_name("COLUMN,...")
      ->delimiter(',');
}

void add_owner_web(const Commands& group) {
  const auto [app, options] = group.add<OwnerWebOptions>(
      "web", "Show budgets, charters and releases in a browser; approve, refuse, stop", run);
  policy_argument(app, options.policy);
  page_options(app, options.page);
}

}  // namespace

void add_owner(Commands root) {
  const Commands group = root.group("owner", "Take part as an owner of data");
  add_owner_run(group);
  add_owner_status(group);
  add_owner_decisions(group);
  add_owner_check(group);
  add_owner_tune(group);
  add_owner_value(group);
  add_owner_web(group);
}

}  // namespace parley::cli
