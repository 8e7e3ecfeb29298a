// parley ledger show|verify|backup|export LEDGER, which only look; parley ledger reconcile POLICY
// RECEIPTS..., restore POLICY COPY, budget POLICY and accept-source POLICY DATASET, which write:
// the daemon must be stopped, for a ledger has one writer.
#include "parley/ledger.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/ledger/backup.h"
#include "parley/net/owner.h"
#include "parley/net/reconcile.h"
#include "parley/report/ledger.h"

namespace parley::cli {
namespace {

struct LedgerOptions {
  std::filesystem::path ledger{};
  std::string dataset{};        // to export; empty: the only one
  std::filesystem::path out{};  // of a backup
};

struct ReconcileOptions {
  std::filesystem::path policy;
  std::vector<std::filesystem::path> receipts;
  std::string dataset;  // empty: as ledger and policy tell
};

struct RestoreOptions {
  std::filesystem::path policy, copy;
};

struct BudgetOptions {
  std::filesystem::path policy;
};

struct SourceOptions {
  std::filesystem::path policy;
  std::string dataset, reason;
};

Result<Output> show_ledger(const LedgerOptions& options, ProgressStyle) {
  const Ledger ledger = TRY(Ledger::read(options.ledger));
  return Output{ledger.to_text(), ledger.to_json()};
}

Result<Output> verify_chain(const LedgerOptions& options, ProgressStyle) {
  const VerifiedLedger verified = TRY(verify_ledger(options.ledger));
  return Output{.text = verified.to_text(),
                .json = verified.to_json(),
                .exit = verified.missing == 0 ? 0 : exit_status(Code::kIntegrity)};
}

Result<Output> back_up(const LedgerOptions& options, ProgressStyle) {
  const VerifiedLedger verified = TRY(back_up_ledger(options.ledger, options.out));
  return Output{verified.to_text(), verified.to_json()};
}

Result<Output> export_events(const LedgerOptions& options, ProgressStyle) {
  const std::string exported = TRY(export_ledger(options.ledger, options.dataset));
  return Output{exported, exported};
}

Result<Output> run(const ReconcileOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  auto ledger = TRY(net::open_ledger(policy, clock, true));
  const auto done = TRY(net::reconcile(policy, ledger, options.receipts, options.dataset));
  report::Reconciled result{.owner = policy.owner, .missing = done.missing, .head = done.head};
  for (const auto& [file, charter, dataset, receipts] : done.jobs)
    result.jobs.push_back({file, charter, dataset, receipts});
  return Output{.text = report::to_text(result),
                .json = report::to_json(result),
                .exit = done.missing == 0 ? 0 : exit_status(Code::kIntegrity)};
}

Result<Output> run(const RestoreOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  const VerifiedLedger restored =
      TRY(ledger::restore(options.copy, net::ledger_of(policy), policy.owner));
  return Output{report::restored_text(restored), restored.to_json()};
}

Result<Output> run(const BudgetOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  auto ledger = TRY(net::open_ledger(policy, clock));
  report::RaisedBudgets result{.owner = policy.owner};
  const auto raised = TRY(net::raise_budgets(policy, ledger));
  for (const auto& [dataset, before, after] : raised)
    result.raised.push_back({dataset, before, after});
  result.head = ledger.head();
  return Output{report::to_text(result), report::to_json(result)};
}

Result<Output> run(const SourceOptions& options, ProgressStyle) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  auto ledger = TRY(net::open_ledger(policy, clock));
  const report::AcceptedSource result{
      .owner = policy.owner,
      .dataset = options.dataset,
      .source =
          TRY(net::accept_source(policy, ledger, options.dataset, user_name(), options.reason)),
      .by = user_name(),
      .reason = options.reason,
      .head = ledger.head()};
  return Output{report::to_text(result), report::to_json(result)};
}

void add_accept_source(const Commands& group) {
  const auto [app, options] = group.add<SourceOptions>(
      "accept-source", "Let a data set read the policy's new source; your name is recorded", run);
  policy_argument(app, options.policy);
  app.add_option("dataset", options.dataset, "Data set")->required()->type_name("NAME");
  app.add_option("--reason", options.reason, "Why its records are not those of another data set")
      ->required()
      ->type_name("TEXT");
}

void add_reconcile(const Commands& group) {
  const auto [app, options] = group.add<ReconcileOptions>(
      "reconcile", "Record charges that an older copy of your ledger lacks", run);
  policy_argument(app, options.policy);
  app.add_option("receipts", options.receipts, "Transcripts or journals of learners")
      ->type_name("FILE");
  app.add_option("--dataset", options.dataset,
                 "Data set that was charged, where the ledger does not tell")
      ->type_name("NAME");
}

void add_restore(const Commands& group) {
  const auto [app, options] = group.add<RestoreOptions>(
      "restore", "Restore a ledger that is lost, or older than the copy", run);
  policy_argument(app, options.policy);
  app.add_option("copy", options.copy, "Copy made by `parley ledger backup`")
      ->required()
      ->type_name("FILE");
}

void add_budget(const Commands& group) {
  const auto [app, options] =
      group.add<BudgetOptions>("budget", "Raise lifetime budgets to the policy's", run);
  policy_argument(app, options.policy);
}

}  // namespace

void add_ledger(Commands root) {
  const Commands group = root.group("ledger", "Inspect and maintain a ledger");
  const auto add = [&](const char* name, const char* help, Commands::Run<LedgerOptions>* run) {
    const auto added = group.add<LedgerOptions>(name, help, run);
    added.app.add_option("ledger", added.options.ledger, "Ledger file")
        ->required()
        ->type_name("FILE");
    return added;
  };
  add("show", "Print budgets and charges", show_ledger);
  add("verify", "Recompute the whole hash chain", verify_chain);
  const auto backup =
      add("backup", "Copy a ledger, even while a daemon writes it, and verify the copy", back_up);
  backup.app.add_option("--out", backup.options.out, "File of the copy; must not exist yet")
      ->required()
      ->type_name("FILE");
  const auto [app, options] =
      add("export", "Print a data set's charges as JSON events for any accountant", export_events);
  app.add_option("--dataset", options.dataset, "Which data set, if the ledger has several")
      ->type_name("NAME");
  add_restore(group);
  add_reconcile(group);
  add_budget(group);
  add_accept_source(group);
}

}  // namespace parley::cli
