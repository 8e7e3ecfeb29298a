#include "parley/audit.h"

#include "parley/api/internal.h"
#include "parley/audit/audit.h"
#include "parley/audit/targets/charter_target.h"
#include "parley/audit/targets/mechanisms.h"
#include "parley/report/audit.h"

namespace parley {
namespace {

Result<Audit> attack(const audit::Target& target, uint64_t usual_runs,
                     const AuditOptions& options) {
  const bool one_run = options.method == AuditMethod::kOneRun;
  const uint64_t usual = one_run ? 1'000 : usual_runs;
  const uint64_t runs = options.runs > 0 ? options.runs : usual;
  const double confidence = options.confidence > 0 ? options.confidence : one_run ? 0.95 : 0.999999;
  const uint64_t total = audit::plays_of(target, options.method, runs);
  uint64_t done = 0;
  return audit::run(target, options.method,
                    {.runs = runs,
                     .alpha = 1 - confidence,
                     .seed = options.seed,
                     .threads = api::threads_or_all(options.threads),
                     .go_on = [&](uint64_t plays) {
                       done += plays;
                       if (options.progress) options.progress(done, total);
                       return !options.stop.stop_requested();
                     }});
}

}  // namespace

std::vector<std::string> mechanism_names() {
  const auto names = audit::mechanism_names();
  return {names.begin(), names.end()};
}

Result<Audit> audit_mechanism(const std::string& name, const AuditOptions& options,
                              const MechanismTerms& terms) {
  const audit::Target target = TRY(audit::mechanism_target(
      name, {.epsilon = terms.epsilon, .delta = terms.delta, .answers = terms.answers}));
  return attack(target, 200'000, options);
}

Result<Audit> audit_charter(const Charter& handle, const std::string& owner,
                            const AuditOptions& options) {
  const charter::Charter& charter = handle.internal().charter;
  for (size_t i = 0; i < charter.owners.size(); ++i) {
    if (!owner.empty() && owner != charter.owners[i].name) continue;
    Audit result = TRY(attack(TRY(audit::charter_target(charter, i)), 5'000, options));
    result.charter = charter.name, result.charter_hash = to_hex(charter.hash);
    return result;
  }
  return Error{Code::kInvalid, "the charter has no owner '" + owner + "'"};
}

std::string Audit::to_text() const { return report::to_text(*this); }
std::string Audit::to_json() const { return report::to_json(*this); }

}  // namespace parley
