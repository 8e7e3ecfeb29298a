// parley audit CHARTER | --mechanism NAME | --planted NAME | --list
#include "parley/audit/audit.h"

#include <algorithm>
#include <thread>

#include "commands.h"
#include "interrupt.h"
#include "overrides.h"
#include "parley/audit/targets/charter_target.h"
#include "parley/audit/targets/mechanisms.h"
#include "parley/base/progress.h"
#include "parley/report/audit.h"
#include "studies.h"

namespace parley::cli {
namespace {

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
      return Chosen{TRY(audit::charter_target(charter, i)), kCharterRuns, charter.name,
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

}  // namespace

Result<Output> run(const AuditOptions& options, ProgressStyle style) {
  if (options.list)
    return Output{report::list_text(planted_bugs()), report::list_json(planted_bugs())};
  const Chosen chosen = TRY(choose(options));
  const bool one_run = options.method == "one_run";
  const auto method = one_run ? audit::Method::kOneRun : audit::Method::kTwoWorld;
  const uint64_t runs = options.runs.value_or(one_run ? kCanaries : chosen.runs);
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  heed_interrupts();
  Progress progress(style, "attacking", audit::plays_of(chosen.target, method, runs));
  audit::Audit result =
      TRY(audit::run(chosen.target, method,
                     {.runs = runs,
                      .alpha = 1 - options.confidence.value_or(one_run ? 0.95 : 0.999999),
                      .seed = options.seed,
                      .threads = options.threads > 0 ? options.threads : std::max(threads, 1),
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

}  // namespace parley::cli
