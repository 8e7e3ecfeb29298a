// parley owner, learner and verify: what can be typed.
#include "options_parser.h"

namespace parley::cli {
namespace {

constexpr int64_t kWaitMax = 366 * 86400;

void add_wait(CLI::App& app, int64_t& seconds, const std::string& help) {
  app.add_option("--wait", seconds, help)
      ->type_name("SECONDS")
      ->check(CLI::Range(int64_t{1}, kWaitMax))
      ->capture_default_str();
}

void add_dial(CLI::App& app, std::string& dial) {
  app.add_option("--dial", dial, "Instead of the address in policy or charter")
      ->type_name("HOST:PORT");
}

void add_as(CLI::App& app, std::string& name) {
  app.add_option("--as", name, "The owner that learns, where every owner does (copies)")
      ->type_name("OWNER");
}

void add_owner_check(CLI::App& group, Invocation& invocation) {
  auto options = std::make_shared<OwnerCheckOptions>();
  CLI::App* app =
      command(group, invocation, "check",
              "Say in sentences what your policy will answer, to whom, for how much", options);
  app->add_option("policy", options->policy, "Your policy")->required()->type_name("FILE");
  app->add_option("charter", options->charters, "Would it run, and what would be left")
      ->type_name("FILE");
  add_dial(*app, options->dial);
  app->add_flag("--no-data", options->no_data, "Do not read the data, which may take long");
}

void add_owner_tune(CLI::App& group, Invocation& invocation) {
  auto options = std::make_shared<OwnerTuneOptions>();
  CLI::App* app = command(group, invocation, "tune",
                          "Add your own rows to what you have learned from the others", options);
  app->add_option("policy", options->policy, "Your policy")->required()->type_name("FILE");
  app->add_option("charter", options->charter, "Charter file")->required()->type_name("FILE");
  app->add_option("transcript", options->transcript, "What your learner kept")
      ->required()
      ->type_name("FILE");
  app->add_option("--out", options->out, "The model's file, which must not be there yet")
      ->capture_default_str();
}

void add_owner(CLI::App& root, Invocation& invocation) {
  CLI::App* group = root.add_subcommand("owner", "Take part with your data")->require_subcommand(1);
  using Action = OwnerOptions::Action;
  const auto add = [&](Action action, const char* name, const char* help) {
    auto options = std::make_shared<OwnerOptions>(OwnerOptions{.action = action});
    CLI::App* app = command(*group, invocation, name, help, options);
    app->add_option("policy", options->policy, "Your policy")->required()->type_name("FILE");
    auto* charters = app->add_option("charter", options->charters, "Charters");
    charters->type_name("FILE");
    return std::tuple(app, options, charters);
  };
  auto [run, options, charters] =
      add(Action::kRun, "run", "Answer the learners of charters that your policy accepts");
  charters->description("Charters (default: those in the policy's folder, watched)");
  add_dial(*run, options->dial);
  run->add_option("--listen", options->listen,
                  "Where neighbours dial (graph), instead of the address in policy or charter")
      ->type_name("HOST:PORT");
  run->add_option("--learner", options->learner,
                  "Where every owner learns (copies): answer this one only")
      ->type_name("NAME");
  add_wait(*run, options->wait, "Give up when the learner is away for so long");
  std::get<2>(add(Action::kApprove, "approve", "Allow a charter that waits for a person"))
      ->required();
  add_owner_check(*group, invocation);
  add_owner_tune(*group, invocation);
}

void add_learner(CLI::App& root, Invocation& invocation) {
  CLI::App* group = root.add_subcommand("learner", "Coordinate a job")->require_subcommand(1);
  for (const bool resume : {false, true}) {
    auto options = std::make_shared<LearnerOptions>(LearnerOptions{.resume = resume});
    CLI::App* app =
        command(*group, invocation, resume ? "resume" : "run",
                resume ? "Go on with a job that was interrupted" : "Train the model", options);
    app->add_option("charter", options->charter, "Charter file")->required()->type_name("FILE");
    add_as(*app, options->as);
    app->add_option("--identity", options->identity,
                    "Folder with NAME.crt, NAME.key, authority.crt")
        ->capture_default_str();
    app->add_option("--listen", options->listen, "Default: every interface, the charter's port")
        ->type_name("HOST:PORT");
    app->add_option("--out", options->out, "Folder for journal, transcript and model");
    app->add_option("--receipts", options->receipts,
                    "Where the newest receipt of every owner is kept over all jobs (default: "
                    "receipts in --identity)")
        ->type_name("DIR");
    add_wait(*app, options->wait, "Give up when no answer comes for so long");
  }
}

void add_verify(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* app =
      command(root, invocation, "verify", "Recompute a model from what its owners signed", options);
  app->add_option("model", options->model, "Model file")->required()->type_name("FILE");
  app->add_option("transcript", options->transcript, "What the learner kept, packed or plain")
      ->required()
      ->type_name("FILE");
  app->add_option("charter", options->charter, "Charter file; its pilot lies beside it")
      ->required()
      ->type_name("FILE");
  add_as(*app, options->as);
  app->add_option("--ledger", options->ledgers, "An owner's ledger, to compare receipts with")
      ->type_name("OWNER=FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void add_network(CLI::App& root, Invocation& invocation) {
  add_owner(root, invocation);
  add_learner(root, invocation);
  add_verify(root, invocation);
}

}  // namespace parley::cli
