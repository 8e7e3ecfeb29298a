// parley account epsilon|delta|calibrate
#include "parley/account.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/base/files.h"

namespace parley::cli {
namespace {

struct AccountOptions {
  enum class Action { kEpsilon, kDelta, kCalibrate } action = Action::kEpsilon;
  std::filesystem::path events{};  // empty: one kind of event, by the next four
  double gaussian = 0, laplace = 0;
  double sampling_probability = 0;  // 0: all records
  uint64_t count = 1;
  std::string dataset{};  // of a ledger
  std::string adjacency = "replace_one";
  std::string accountant{};  // empty: all, or the one a ledger enforces
  std::vector<double> at_delta{}, at_epsilon{};
};

/// From a file, or from the flags for one kind of event.
Result<Events> events_of(const AccountOptions& options) {
  if (!options.events.empty())
    return events_from_json(TRY(read_file(options.events)), options.events.string(),
                            options.dataset);
  if (options.gaussian > 0 && options.sampling_probability > 0)
    return Events{
        {SampledGaussianEvent{options.sampling_probability, options.gaussian}, options.count}};
  if (options.gaussian > 0) return Events{{GaussianEvent{options.gaussian}, options.count}};
  if (options.laplace > 0) return Events{{LaplaceEvent{options.laplace}, options.count}};
  return Error{Code::kInvalid, "there are no events",
               "Give a file of events, or --gaussian or --laplace with a noise multiplier."};
}

Result<Output> run(const AccountOptions& options, ProgressStyle) {
  const Events events = TRY(events_of(options));
  const auto adjacency =
      options.adjacency == "add_remove" ? Adjacency::kAddRemove : Adjacency::kReplaceOne;
  if (options.action == AccountOptions::Action::kCalibrate) {
    const Calibration calibration =
        TRY(calibrate(events, options.at_epsilon.front(), options.at_delta.front(),
                      options.accountant, adjacency));
    return Output{calibration.to_text(), calibration.to_json()};
  }
  const bool epsilon = options.action == AccountOptions::Action::kEpsilon;
  const Account found =
      TRY(account(events,
                  {.kind = epsilon ? Account::Kind::kEpsilon : Account::Kind::kDelta,
                   .at = epsilon ? options.at_delta : options.at_epsilon,
                   .accountant = options.accountant},
                  adjacency));
  return Output{found.to_text(), found.to_json()};
}

void events_options(CLI::App& app, AccountOptions& options) {
  auto* file = app.add_option("events", options.events,
                              "Events as JSON, or what `parley ledger show --json` prints");
  file->type_name("FILE");
  auto* dataset = app.add_option("--dataset", options.dataset, "The data set of a ledger");
  dataset->needs(file);
  auto* gaussian =
      app.add_option("--gaussian", options.gaussian,
                     "Instead of a file: multiplier of Gaussian noise, deviation over sensitivity");
  gaussian->check(CLI::Range(1e-6, 1e18))->excludes(file);
  auto* laplace =
      app.add_option("--laplace", options.laplace,
                     "Instead of a file: multiplier of Laplace noise, scale over sensitivity");
  laplace->check(CLI::Range(1e-6, 1e18))->excludes(file)->excludes(gaussian);
  app.add_option("--sampling-probability", options.sampling_probability,
                 "Probability that a record takes part (Poisson sampling)")
      ->check(CLI::Range(1e-12, 1.0))
      ->needs(gaussian);
  app.add_option("--count", options.count, "Number of such releases")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000'000}))
      ->capture_default_str()
      ->excludes(file);
  app.add_option("--adjacency", options.adjacency,
                 "Neighbours differ by a record replaced, or added or removed")
      ->check(CLI::IsMember({"replace_one", "add_remove"}))
      ->capture_default_str();
}

void accountant_option(CLI::App& app, AccountOptions& options, const char* help) {
  app.add_option("--accountant", options.accountant, help);
}

void at_option(CLI::App& app, const char* name, std::vector<double>& at, const char* help) {
  app.add_option(name, at, help)->required()->delimiter(',')->check(CLI::PositiveNumber);
}

}  // namespace

void add_account(Commands root) {
  using Action = AccountOptions::Action;
  const Commands group = root.group("account", "Privacy cost of releases, by every accountant");
  const auto add = [&](Action action, const char* name, const char* help) {
    const auto added = group.add<AccountOptions>(name, help, run, {.action = action});
    events_options(added.app, added.options);
    return added;
  };
  const auto [epsilon, of_epsilon] = add(Action::kEpsilon, "epsilon", "ε at one δ, or at several");
  at_option(epsilon, "--delta", of_epsilon.at_delta, "One or more, 1e-5,1e-6");
  accountant_option(epsilon, of_epsilon, "Only this accountant");
  const auto [delta, of_delta] = add(Action::kDelta, "delta", "δ at one ε, or at several");
  at_option(delta, "--epsilon", of_delta.at_epsilon, "One or more, 0.5,1,2");
  accountant_option(delta, of_delta, "Only this accountant");
  const auto [calibrate, of_calibrate] =
      add(Action::kCalibrate, "calibrate", "The least noise for given ε and δ");
  at_option(calibrate, "--epsilon", of_calibrate.at_epsilon, "ε to keep");
  at_option(calibrate, "--delta", of_calibrate.at_delta, "δ to keep");
  accountant_option(calibrate, of_calibrate, "Accountant (default: the one a ledger enforces)");
}

}  // namespace parley::cli
