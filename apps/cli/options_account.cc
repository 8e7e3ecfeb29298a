// parley account: what can be typed.
#include "options_parser.h"

namespace parley::cli {
namespace {

using Action = AccountOptions::Action;

void add_events(CLI::App& app, AccountOptions& options) {
  auto* file = app.add_option("events", options.events,
                              "Events as JSON, or what `parley ledger show --json` prints");
  file->type_name("FILE");
  auto* dataset = app.add_option("--dataset", options.dataset, "The data set of a ledger");
  dataset->needs(file);
  auto* gaussian = app.add_option("--gaussian", options.gaussian,
                                  "Instead of a file: Gaussian noise over its sensitivity");
  gaussian->check(CLI::Range(1e-6, 1e18))->excludes(file);
  auto* laplace = app.add_option("--laplace", options.laplace,
                                 "Instead of a file: Laplace scale over its sensitivity");
  laplace->check(CLI::Range(1e-6, 1e18))->excludes(file)->excludes(gaussian);
  app.add_option("--sampling-probability", options.sampling_probability,
                 "Every record takes part with this probability")
      ->check(CLI::Range(1e-12, 1.0))
      ->needs(gaussian);
  app.add_option("--count", options.count, "How often")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000'000}))
      ->capture_default_str()
      ->excludes(file);
  app.add_option("--adjacency", options.adjacency,
                 "Neighbours differ by a record replaced, or added or removed")
      ->check(CLI::IsMember({"replace_one", "add_remove"}))
      ->capture_default_str();
}

void add_accountant(CLI::App& app, AccountOptions& options, const char* help) {
  app.add_option("--accountant", options.accountant, help);
}

void add_at(CLI::App& app, const char* name, std::vector<double>& at, const char* help) {
  app.add_option(name, at, help)->required()->delimiter(',')->check(CLI::PositiveNumber);
}

}  // namespace

void add_account(CLI::App& root, Invocation& invocation) {
  CLI::App* group =
      root.add_subcommand("account", "What releases cost, by every accountant side by side")
          ->require_subcommand(1);
  const auto add = [&](Action action, const char* name, const char* help) {
    auto options = std::make_shared<AccountOptions>();
    options->action = action;
    CLI::App* app = command(*group, invocation, name, help, options);
    add_events(*app, *options);
    return std::pair(app, options);
  };
  const auto [epsilon, of_epsilon] = add(Action::kEpsilon, "epsilon", "ε at one δ, or at several");
  add_at(*epsilon, "--delta", of_epsilon->at_delta, "One or more, 1e-5,1e-6");
  add_accountant(*epsilon, *of_epsilon, "Only this one");
  const auto [delta, of_delta] = add(Action::kDelta, "delta", "δ at one ε, or at several");
  add_at(*delta, "--epsilon", of_delta->at_epsilon, "One or more, 0.5,1,2");
  add_accountant(*delta, *of_delta, "Only this one");
  const auto [calibrate, of_calibrate] =
      add(Action::kCalibrate, "calibrate", "The least noise that keeps a promise");
  add_at(*calibrate, "--epsilon", of_calibrate->at_epsilon, "To be kept");
  add_at(*calibrate, "--delta", of_calibrate->at_delta, "To be kept");
  add_accountant(*calibrate, *of_calibrate, "By this one (default: the one a ledger enforces)");
}

}  // namespace parley::cli
