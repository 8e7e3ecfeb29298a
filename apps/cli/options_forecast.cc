#include "options_parser.h"

namespace parley::cli {

void add_forecast(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<ForecastOptions>();
  CLI::App* app =
      command(root, invocation, "forecast",
              "Say what a job would be worth, from its charter and its public rows", options);
  app->add_option("charter", options->charter, "Charter file")->required()->type_name("FILE");
  app->add_option("--data", options->data, "Where pilot and bundle lie, if not beside the charter")
      ->type_name("DIR");
  app->add_option("--target", options->target,
                  "Relative fitness that is wanted: which epsilon, or how many rows, reach it")
      ->check(CLI::PositiveNumber);
  app->add_flag("--tune", options->tune,
                "Choose on the public rows whatever the charter does not say, weights included");
  app->add_option("--out", options->out, "Write the completed charter here")->type_name("FILE");
  app->add_option("--html", options->html, "Write a report for people here")->type_name("FILE");
  app->add_option("--price", options->prices,
                  "What an owner asks for one unit of epsilon, for every owner, and cap=PRICE, the "
                  "most that anyone may ask; with --value: what to buy of whom")
      ->type_name("OWNER=PRICE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--value", options->value,
                  "What one unit of relative fitness is worth, in the same money")
      ->check(CLI::PositiveNumber);
  app->add_option("--differ", options->differ,
                  "How far owners differ: what the best model of one owner's rows misses on all "
                  "rows however many it has, as relative fitness")
      ->check(CLI::NonNegativeNumber);
  app->add_option(
         "--aggregation-price", options->aggregation_price,
         "Federated: what one aggregation costs, as relative fitness; local steps are then "
         "chosen for the least of both")
      ->check(CLI::NonNegativeNumber);
  app->add_option("--delta", options->delta,
                  "With --tune: a delta that owners would accept, for Gaussian noise if it is "
                  "better")
      ->check(CLI::Range(1e-30, 1e-3));
  app->add_option("--moments", options->moments,
                  "The paid moments from which the pilot was drawn: their noise then counts in the "
                  "interval")
      ->type_name("FILE");
  app->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, 1024));
  add_signs(*app, options->signs);
  add_set(*app, options->set);
}

void add_demo(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* app = command(
      root, invocation, "demo",
      "Three banks on generated loans: a forecast, the training, and both side by side", options);
  app->add_option("--out", options->out, "Folder for charter, report, model and ledgers")
      ->capture_default_str();
  app->add_option("--rows", options->rows, "Loans of each bank")
      ->check(CLI::Range(uint64_t{100}, uint64_t{10'000'000}))
      ->capture_default_str();
  app->add_option("--runs", options->runs, "Runs beside which the forecast is held")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10'000}))
      ->capture_default_str();
  app->add_option("--seed", options->seed, "Same seed: same models, bit for bit")
      ->capture_default_str();
  app->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, 1024));
}

}  // namespace parley::cli
