// parley audit: what can be typed.
#include "options_parser.h"

namespace parley::cli {

void add_audit(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* app =
      command(root, invocation, "audit",
              "Attack a charter's owner, a mechanism or a planted bug, and certify ε", options);
  auto* charter = app->add_option("charter", options->charter, "Charter whose owner is attacked");
  charter->type_name("FILE");
  app->add_option("--owner", options->owner, "Which owner (default: the first)")->needs(charter);
  auto* mechanism = app->add_option("--mechanism", options->mechanism, "Instead: a mechanism");
  mechanism->excludes(charter);
  auto* planted =
      app->add_option("--planted", options->planted, "Instead: a planted bug, which must be found");
  planted->excludes(charter)->excludes(mechanism);
  app->add_flag("--list", options->list, "Name the mechanisms and the planted bugs")
      ->excludes(charter)
      ->excludes(mechanism)
      ->excludes(planted);
  app->add_option("--epsilon", options->epsilon, "What the mechanism is calibrated to")
      ->needs(mechanism)
      ->check(CLI::Range(1e-6, 1e3))
      ->capture_default_str();
  app->add_option("--delta", options->delta, "The same, for mechanisms that need one")
      ->needs(mechanism)
      ->check(CLI::Range(1e-15, 0.5))
      ->capture_default_str();
  app->add_option("--answers", options->answers, "How many answers together")
      ->needs(mechanism)
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  app->add_option("--method", options->method, "Many runs in two worlds, or one with canaries")
      ->check(CLI::IsMember({"two_world", "one_run"}))
      ->capture_default_str();
  app->add_option("--runs", options->runs,
                  "Runs in each world, or canaries (default: by what is attacked)")
      ->check(CLI::Range(uint64_t{2}, uint64_t{100'000'000}));
  app->add_option("--confidence", options->confidence,
                  "That a certificate is right (default: 0.999999; one_run: 0.95)")
      ->check(CLI::Range(0.5, 1 - 1e-12));
  app->add_option("--seed", options->seed, "Same seed: same certificate")->capture_default_str();
  app->add_option("--threads", options->threads, "Threads (default: all)")
      ->check(CLI::Range(1, 1024));
  add_set(*app, options->set);
}

}  // namespace parley::cli
