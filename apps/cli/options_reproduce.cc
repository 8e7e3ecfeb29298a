// parley reproduce: what can be typed.
#include "options_parser.h"

namespace parley::cli {

void add_reproduce(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* app = command(root, invocation, "reproduce",
                          "Compute the papers' figures and claims, with verdicts", options);
  auto* ids = app->add_option("ids", options->ids, "Which (default: all), as --list names them");
  ids->type_name("ID");
  app->add_flag("--list", options->list, "Name the figures and claims")->excludes(ids);
  app->add_flag("--quick", options->quick, "Small sizes and few runs: verdicts mean little");
  app->add_option("--data", options->data,
                  "A folder with the papers' files, or excerpts (default: stand-ins)")
      ->type_name("DIR");
  app->add_option("--out", options->out, "Where CSV, SVG and the page go")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_option("--seed", options->seed, "Same seed: same figures")->capture_default_str();
  app->add_option("--runs", options->runs, "Runs of every point (default: by figure)")
      ->check(CLI::Range(uint64_t{4}, uint64_t{100'000}));
  app->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, 1024));
}

}  // namespace parley::cli
