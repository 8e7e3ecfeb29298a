#include "parley/plan/learner/async_plan.h"

#include <cmath>
#include <string>

#include "parley/base/math/number.h"
#include "parley/plan/can_run.h"
#include "parley/plan/learner/weights.h"
#include "parley/plan/terms.h"

namespace parley::plan {
namespace {

using charter::Charter, charter::not_available;

/// From here on some copy diverges. 1.2 leaves room for owners that are not like the pilot.
constexpr double kUnstable = 2, kRecommended = 1.2;

std::string about(double value) { return shortest(std::round(value * 1e4) / 1e4); }

/// Losses with a kink have no curvature: their gradients are bounded, and nothing diverges.
Result<void> check_stable(const Charter& charter, const learn::AsyncRule& rule,
                          const data::Rows* pilot) {
  const learn::Losses loss = charter::loss_of(charter.model);
  const double curvature = pilot != nullptr ? learn::largest_curvature(loss, *pilot)
                                            : learn::largest_curvature(loss, charter.schema);
  if (std::isinf(curvature)) return {};
  const double found = learn::stability(rule, curvature);
  if (found < kUnstable) return {};
  const std::string bound = pilot != nullptr ? "the pilot's rows" : "the bounds of the columns";
  return Error{Code::kInvalid,
               "the step is too long: max_i N (n_i/n) step times the largest curvature, " +
                   about(curvature) + " by " + bound + ", is " + about(found) +
                   ", and from 2 on the copy of the largest owner diverges",
               "Take step = " + shortest(charter.protocol.step * kRecommended / found) +
                   " or less" +
                   (pilot != nullptr ? "." : ", or add a [pilot], whose curvature is smaller."),
               {.key = "protocol.step"}};
}

}  // namespace

learn::AsyncRule async_rule(const Charter& charter) {
  const charter::Protocol& p = charter.protocol;
  check(p.as<charter::Async>() != nullptr);
  learn::AsyncRule rule{.step = p.step,
                        .l2 = charter.model.l2,
                        .box = charter.model.box,
                        .dimension = charter.schema.features().size(),
                        .rounds = static_cast<uint64_t>(p.rounds),
                        .output = p.as<charter::Async>()->output};
  const std::vector<double> weights = row_weights(charter);
  for (size_t i = 0; i < weights.size(); ++i) rule.add(weights[i], charter.owners[i].rate);
  rule.set_steps();
  return rule;
}

Result<AsyncPlan> async_plan(const Charter& charter, const data::Rows* pilot) {
  const auto* async = charter.protocol.as<charter::Async>();
  if (async == nullptr)
    return not_available("protocol.name", name_of(charter.protocol.name()), "Use \"async\".");
  TRY(check_learner(charter));
  const Terms terms = TRY(terms_for(charter, 0));
  AsyncPlan plan{.charter = charter.hash,
                 .gamma = terms.lattice.gamma(),
                 .answers = terms.answers,
                 .contact = async->contact,
                 .rule = async_rule(charter),
                 .quorum = static_cast<size_t>(charter.network.quorum)};
  TRY(check_stable(charter, plan.rule, pilot));
  for (size_t i = 0; i < charter.owners.size(); ++i)
    plan.owners.push_back({charter.owners[i].name, static_cast<uint64_t>(charter.owners[i].rows),
                           plan.rule.owners[i].weight});
  plan.evaluation = TRY(plan_evaluation(charter, terms, plan.owners));
  return plan;
}

}  // namespace parley::plan
