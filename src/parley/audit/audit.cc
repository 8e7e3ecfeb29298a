#include "parley/audit/audit.h"

#include <algorithm>

#include "parley/audit/one_run.h"

namespace parley::audit {
namespace {

/// A control is far off; fewer plays show it.
uint64_t control_runs(uint64_t runs) {
  return std::min(runs, std::clamp<uint64_t>(runs / 4, 1'000, 20'000));
}

Result<void> check_effort(const Target& target, Method method, const Effort& effort) {
  if (!(effort.alpha > 0 && effort.alpha < 1))
    return Error{Code::kInvalid, "a confidence lies between 0 and 1"};
  if (method == Method::kOneRun && !target.canaries)
    return Error{Code::kInvalid, target.name + " cannot be audited in one run",
                 "Use --method two_world."};
  return {};
}

}  // namespace

uint64_t plays_of(const Target& target, Method method, uint64_t runs) {
  if (method == Method::kOneRun) return 0;
  return 2 * (runs + (target.control ? control_runs(runs) : 0));
}

Result<Audit> run(const Target& target, Method method, const Effort& effort) {
  TRY(check_effort(target, method, effort));
  Audit audit{.kind = target.kind,
              .name = target.name,
              .what = target.what,
              .claimed = target.claimed,
              .method = method,
              .runs = effort.runs,
              .confidence = 1 - effort.alpha,
              .found = {}};
  Effort less = effort;
  if (method == Method::kOneRun) {
    audit.found = TRY(one_run(target.canaries, target.claimed, effort));
    if (target.control_canaries)
      audit.control = TRY(one_run(target.control_canaries, target.claimed, less));
  } else {
    audit.found = TRY(two_world(target.play, target.claimed, effort));
    less.runs = control_runs(effort.runs);
    if (target.control) audit.control = TRY(two_world(target.control, target.claimed, less));
  }
  if (audit.control) audit.control_name = target.control_name;
  return audit;
}

}  // namespace parley::audit
