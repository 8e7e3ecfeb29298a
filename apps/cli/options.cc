#include "options.h"

#include "options_parser.h"
#include "parley/base/version.h"

namespace parley::cli {
namespace {

void add_charter(CLI::App& root, Invocation& invocation) {
  CLI::App* group = root.add_subcommand("charter", "Look at a charter")->require_subcommand(1);
  using Action = CharterOptions::Action;
  const auto add = [&](Action action, const char* name, const char* help) {
    auto options = std::make_shared<CharterOptions>(CharterOptions{action, {}, {}});
    CLI::App* app = command(*group, invocation, name, help, options);
    app->add_option("charter", options->charter, "Charter file")->required()->type_name("FILE");
    add_set(*app, options->set);
  };
  add(Action::kHash, "hash", "Print the SHA-256 that names the job");
  add(Action::kCheck, "check", "Say whether it is valid and complete");
  add(Action::kExplain, "explain", "Say in sentences what it means");
}

void add_simulate(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* app = command(root, invocation, "simulate",
                          "Train as the charter says, all parties in this process", options);
  app->add_option("charter", options->charter, "Charter file")->required()->type_name("FILE");
  auto* data =
      app->add_option("--data", options->data,
                      "A folder with <owner>.csv (or .libsvm, or with .zst) and the pilot, or "
                      "one file per owner");
  data->type_name("DIR|OWNER=FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* split = app->add_option("--split", options->split,
                                "One file of all owners: blocks as long "
                                "as the charter says, or --by");
  split->type_name("FILE")->excludes(data);
  app->add_option("--by", options->split_by, "The column of --split that names the owner")
      ->needs(split);
  app->add_option("--standin", options->standin, "Generated data instead of files")
      ->check(CLI::IsMember({"lending", "credit", "hospital"}))
      ->excludes(data)
      ->excludes(split);
  app->add_option("--standin-seed", options->standin_seed, "Seed of the generated data")
      ->capture_default_str();
  app->add_option(
         "--policy", options->policies,
         "An owner's policy: its budget is enforced, and its data used where --data gives none")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--seed", options->seed, "Same charter, data and seed: same model, bit for bit")
      ->capture_default_str();
  app->add_option("--runs", options->runs, "Independent runs, for averages")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}))
      ->capture_default_str();
  app->add_flag("--baseline", options->baseline,
                "Also what noise on each owner's own model would reach at the same epsilon");
  app->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, 1024));
  app->add_option("--memory-mb", options->memory_mb,
                  "Rows of an owner that need more lie in a file in --out (default: its policy's "
                  "limit, else none)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  app->add_option("--out", options->out, "Folder for model and ledgers (default: runs/<seed>)");
  add_signs(*app, options->signs);
  add_set(*app, options->set);
}

void add_predict(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* app = command(root, invocation, "predict", "Apply a model to a file", options);
  app->add_option("model", options->model, "Model file, part of a model, or manifest")
      ->required()
      ->type_name("FILE");
  app->add_option(
         "data", options->data,
         "CSV or LIBSVM file with the model's columns; of a manifest, every party's scores")
      ->required()
      ->type_name("FILE");
  app->add_option("--query", options->query,
                  "Of a part: the name that all parties give this prediction, new for every one")
      ->type_name("NAME");
  add_signs(*app, options->signs);
}

void add_reconcile(CLI::App& group, Invocation& invocation) {
  auto options = std::make_shared<ReconcileOptions>();
  CLI::App* app = command(group, invocation, "reconcile",
                          "Book what an older copy of your ledger has forgotten", options);
  app->add_option("policy", options->policy, "Your policy")->required()->type_name("FILE");
  app->add_option("receipts", options->receipts, "Transcripts or journals of learners")
      ->required()
      ->type_name("FILE");
  app->add_option("--dataset", options->dataset, "Which one was charged, where that is not known")
      ->type_name("NAME");
}

void add_ledger(CLI::App& root, Invocation& invocation) {
  CLI::App* group = root.add_subcommand("ledger", "Look at a ledger, or bring it up to date")
                        ->require_subcommand(1);
  using Action = LedgerOptions::Action;
  const auto add = [&](Action action, const char* name, const char* help) {
    auto options = std::make_shared<LedgerOptions>(LedgerOptions{action, {}, {}});
    CLI::App* app = command(*group, invocation, name, help, options);
    app->add_option("ledger", options->ledger, "Ledger file")->required()->type_name("FILE");
    return std::pair(app, options);
  };
  add(Action::kShow, "show", "Print budgets and charges");
  add(Action::kVerify, "verify", "Recompute the whole chain");
  const auto [app, options] =
      add(Action::kExport, "export", "Print a data set's events, for any accountant, as JSON");
  app->add_option("--dataset", options->dataset, "Where there are several")->type_name("NAME");
  add_reconcile(*group, invocation);
  auto budget = std::make_shared<BudgetOptions>();
  command(*group, invocation, "budget", "Raise lifetime budgets to what your policy now says",
          budget)
      ->add_option("policy", budget->policy, "Your policy")
      ->required()
      ->type_name("FILE");
}

}  // namespace

Parsed parse(int argc, const char* const* argv) {
  Parsed parsed;
  Invocation& invocation = parsed.invocation;
  CLI::App root(
      "Parley: decide whether to train a model together, train it without records leaving "
      "their owners, and prove what was spent.",
      "parley");
  root.set_version_flag("--version", std::string(kVersion));
  root.add_flag("--json", invocation.json, "Print one JSON object");
  root.add_flag("--quiet", invocation.quiet, "No progress");
  root.require_subcommand(1)->fallthrough();
  root.failure_message(CLI::FailureMessage::help);
  add_demo(root, invocation);
  add_init(root, invocation);
  add_charter(root, invocation);
  add_data(root, invocation);
  add_forecast(root, invocation);
  add_simulate(root, invocation);
  add_predict(root, invocation);
  add_network(root, invocation);
  add_ledger(root, invocation);
  add_identity(root, invocation);
  add_account(root, invocation);
  add_audit(root, invocation);
  add_reproduce(root, invocation);
  for (CLI::App* app : root.get_subcommands({})) {
    app->fallthrough();
    for (CLI::App* inner : app->get_subcommands({})) {
      inner->fallthrough();
      for (CLI::App* innermost : inner->get_subcommands({})) innermost->fallthrough();
    }
  }
  root.failure_message(CLI::FailureMessage::simple);
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = root.exit(error);  // Prints help, the version or what was wrong.
    parsed.exit = status == 0 ? 0 : exit_status(Code::kInvalid);
  }
  return parsed;
}

}  // namespace parley::cli
