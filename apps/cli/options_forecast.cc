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
  app->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, 1024));
  add_signs(*app, options->signs);
  add_set(*app, options->set);
}

}  // namespace parley::cli
