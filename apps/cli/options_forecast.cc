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
  app->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, 1024));
  add_signs(*app, options->signs);
  add_set(*app, options->set);
}

}  // namespace parley::cli
