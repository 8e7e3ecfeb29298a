// parley audit CHARTER | --mechanism NAME | --planted NAME | --list
#include "parley/audit/audit.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/audit/targets/charter_target.h"
#include "parley/audit/targets/mechanisms.h"
#include "parley/base/progress.h"
#include "parley/report/audit.h"
#include "studies.h"

namespace parley::cli {
namespace {

/// A charter's owner, a mechanism or a planted bug; one of the first three, or a list of them.
struct AuditOptions {
  std::filesystem::path charter{};
  std::string mechanism{}, planted{};
  bool list = false;
  std::vector<std::string> set{};
  std::string owner{};  // of the charter; empty: the first
  bool sql = false;
  double epsilon = 1, delta = 1e-5;
  uint32_t answers = 1;
  std::string method = "two_world";
  std::optional<uint64_t> runs{};
  std::optional<double> confidence{};
  uint64_t seed = 1;
  int threads = 0;  // 0: as many as the machine has
};

constexpr uint64_t kMechanismRuns = 200'000, kCharterRuns = 5'000, kCanaries = 1'000;

/// What is attacked, and how often unless a person says otherwise.
struct Chosen {
  audit::Target target;
  uint64_t runs = 0;
  std::string charter{}, charter_hash{};
};

Result<Chosen> charter_chosen(const AuditOptions& options) {
  const charter::Charter charter =
      TRY(charter::read_charter(options.charter, TRY(overrides(options.set))));
  for (size_t i = 0; i < charter.owners.size(); ++i)
    if (options.owner.empty() || options.owner == charter.owners[i].name)
      return Chosen{TRY(audit::charter_target(charter, i, options.sql)), kCharterRuns, charter.name,
                    to_hex(charter.hash)};
  return Error{Code::kInvalid, "the charter has no owner '" + options.owner + "'"};
}

Result<Chosen> planted_chosen(const std::string& name) {
  PlantedTarget planted = TRY(planted_target(name));
  return Chosen{std::move(planted.target), planted.runs};
}

Result<Chosen> choose(const AuditOptions& options) {
  if (!options.charter.empty()) return charter_chosen(options);
  if (!options.planted.empty()) return planted_chosen(options.planted);
  if (options.mechanism.empty())
    return Error{Code::kInvalid, "nothing to audit",
                 "Give a charter, --mechanism NAME or --planted NAME; --list names them."};
  return Chosen{TRY(audit::mechanism_target(options.mechanism, {.epsilon = options.epsilon,
                                                                .delta = options.delta,
                                                                .answers = options.answers})),
                kMechanismRuns};
}

Result<Output> run(const AuditOptions& options, ProgressStyle style) {
  if (options.list)
    return Output{report::list_text(planted_bugs()), report::list_json(planted_bugs())};
  const Chosen chosen = TRY(choose(options));
  const bool one_run = options.method == "one_run";
  const auto method = one_run ? audit::Method::kOneRun : audit::Method::kTwoWorld;
  const uint64_t runs = options.runs.value_or(one_run ? kCanaries : chosen.runs);
  heed_interrupts();
  Progress progress(style, "attacking", audit::plays_of(chosen.target, method, runs));
  audit::Audit result =
      TRY(audit::run(chosen.target, method,
                     {.runs = runs,
                      .alpha = 1 - options.confidence.value_or(one_run ? 0.95 : 0.999999),
                      .seed = options.seed,
                      .threads = threads_or_all(options.threads),
                      .go_on = [&](uint64_t plays) {
                        progress.advance(plays);
                        return !interrupted;
                      }}));
  progress.finish();
  result.charter = chosen.charter, result.charter_hash = chosen.charter_hash;
  return Output{.text = report::to_text(result),
                .json = report::to_json(result),
                .exit = result.passes() ? 0 : exit_status(Code::kIntegrity)};
}

}  // namespace

void add_audit(Commands root) {
  const auto [app, options] = root.add<AuditOptions>(
      "audit", "Attack a charter's owner, a mechanism or a planted bug, and certify ε", run);
  auto* charter = app.add_option("charter", options.charter, "Charter whose owner is attacked");
  charter->type_name("FILE");
  app.add_option("--owner", options.owner, "Which owner (default: the first)")->needs(charter);
  app.add_flag("--sql", options.sql, "Keep the owner's records in SQLite, which computes the sums")
      ->needs(charter);
  auto* mechanism = app.add_option("--mechanism", options.mechanism, "Mechanism to attack instead");
  mechanism->excludes(charter);
  auto* planted = app.add_option("--planted", options.planted, "Planted bug to attack instead");
  planted->excludes(charter)->excludes(mechanism);
  app.add_flag("--list", options.list, "List the mechanisms and planted bugs")
      ->excludes(charter)
      ->excludes(mechanism)
      ->excludes(planted);
  app.add_option("--epsilon", options.epsilon, "Epsilon that the mechanism is calibrated to")
      ->needs(mechanism)
      ->check(CLI::Range(1e-6, 1e3))
      ->capture_default_str();
  app.add_option("--delta", options.delta,
                 "Delta that the mechanism is calibrated to, where it needs one")
      ->needs(mechanism)
      ->check(CLI::Range(1e-15, 0.5))
      ->capture_default_str();
  app.add_option("--answers", options.answers, "Number of answers")
      ->needs(mechanism)
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  app.add_option("--method", options.method, "Many runs in two worlds, or one run with canaries")
      ->check(CLI::IsMember({"two_world", "one_run"}))
      ->capture_default_str();
  app.add_option("--runs", options.runs,
                 "Runs in each world, or canaries (default: depends on the target)")
      ->check(CLI::Range(uint64_t{2}, uint64_t{100'000'000}));
  app.add_option("--confidence", options.confidence,
                 "Confidence of the certificate (default: 0.999999; one_run: 0.95)")
      ->check(CLI::Range(0.5, 1 - 1e-12));
  app.add_option("--seed", options.seed, "Same seed: same certificate")->capture_default_str();
  threads_option(app, options.threads);
  set_option(app, options.set);
}

}  // namespace parley::cli
