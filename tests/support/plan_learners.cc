// Plans of learners, as golden text: schedules, weights, and how answers are read.
#include "parley/plan/learner/async_plan.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/learner/warnings.h"
#include "parley/plan/learner/weights.h"
#include "parley/protocol/federated/group.h"
#include "parley/protocol/vertical/learner.h"
#include "support/plan_print.h"

namespace parley::test {
namespace plan_learners {

using charter::Charter, charter::ProtocolName;

PlanText text_of(const learn::Schedule& schedule) {
  PlanText out;
  std::vector<double> steps, averages;
  for (const learn::Schedule::Round& round : schedule.rounds) {
    steps.push_back(round.step);
    averages.push_back(round.average);
  }
  out.add("steps", steps);
  out.add_detail("averages", averages);
  out.add("start", schedule.start);
  out.add("preconditioner", schedule.preconditioner);
  out.add("momentum", schedule.momentum);
  if (schedule.longest > 0) out.add("longest", schedule.longest);
  return out;
}

void add_owners(PlanText& out, const std::vector<plan::PlannedOwner>& owners) {
  std::vector<double> weights, variances;
  std::vector<double> rows;
  for (const plan::PlannedOwner& owner : owners) {
    weights.push_back(owner.weight);
    variances.push_back(owner.evaluation_variance);
    rows.push_back(static_cast<double>(owner.rows));
  }
  out.add("weights", weights);
  out.add_detail("rows", rows);
  out.add_detail("evaluation variances", variances);
}

void add_evaluation(PlanText& out, const std::optional<learn::EvaluationMap>& map) {
  out.add("evaluates", map.has_value());
  if (!map) return;
  out.add_detail("evaluation.gamma", map->gamma());
  out.add_detail("evaluation.bound", map->bound());
}

void print_sync(PlanText& out, const plan::SyncPlan& plan) {
  out.add_detail("job", plan.charter);
  out.add("gamma", plan.gamma);
  out.add("box", plan.box);
  out.add("l2", plan.l2);
  out.add("quorum", plan.quorum);
  out.add("numbers", plan.numbers());
  add_owners(out, plan.owners);
  out.add("schedule", text_of(plan.schedule));
  add_evaluation(out, plan.evaluation);
  if (!plan.moments) return;
  out.add("moments.off", plan.moments->off);
  out.add("moments.with_label", plan.moments->with_label);
  out.add("moments.floor", plan.moments->floor);
}

PlanText text_of(const learn::AsyncRule& rule) {
  PlanText out;
  std::vector<double> steps, weights;
  for (const learn::AsyncRule::Owner& owner : rule.owners) {
    steps.push_back(owner.step);
    weights.push_back(owner.weight);
  }
  out.add("step", rule.step);
  out.add("l2", rule.l2);
  out.add("box", rule.box);
  out.add("dimension", rule.dimension);
  out.add("rounds", rule.rounds);
  out.add("output", charter::name_of(rule.output));
  out.add("steps", steps);
  out.add("weights", weights);
  return out;
}

void print_async(PlanText& out, const plan::AsyncPlan& plan) {
  out.add_detail("job", plan.charter);
  out.add("gamma", plan.gamma);
  out.add("answers", plan.answers);
  out.add("contact", name_of(plan.contact));
  out.add("quorum", plan.quorum);
  add_owners(out, plan.owners);
  out.add("rule", text_of(plan.rule));
  add_evaluation(out, plan.evaluation);
}

void print_federated(PlanText& out, const protocol::FederatedPlan& plan) {
  const protocol::AggregationPlan first = plan.group.plan(1, 1);
  out.add_detail("job", plan.charter);
  out.add("answers", plan.answers);
  out.add("unit", plan.unit);
  out.add_detail("largest", plan.largest);
  out.add("box", plan.box);
  out.add("l2", plan.l2);
  add_owners(out, plan.owners);
  out.add("schedule", text_of(plan.schedule));
  out.add("threshold", first.threshold);
  out.add("survivors", first.survivors);
  out.add("neighbours", first.neighbours());
  out.add_detail("context", first.context());
  if (plan.gram) {
    out.add("gram.unit", plan.gram->unit);
    out.add("gram.variance", plan.gram->variance);
    out.add("gram.curvature", plan.gram->curvature);
    if (const auto& after = plan.gram->after_alarm)
      out.add("after_alarm.schedule", text_of(after->schedule));
  }
  out.add("evaluates", plan.evaluation.has_value());
  if (!plan.evaluation) return;
  out.add("evaluation.gamma", plan.evaluation->map.gamma());
  out.add("evaluation.answers", plan.evaluation->answers);
  out.add("evaluation.variance", plan.evaluation->variance);
  out.add("evaluation.largest", plan.evaluation->largest);
}

/// Of one job with one learner.
void add_plan(PlanText& out, const Charter& job, const data::Rows* pilot) {
  if (job.protocol.name() == ProtocolName::kSharing) {
    add_result(out, "plan", protocol::vertical_plan(job),
               [](PlanText& part, const auto& plan) { add_owners(part, plan.owners); });
  } else if (job.protocol.name() == ProtocolName::kAsync) {
    out.add("rule", text_of(plan::async_rule(job)));
    add_result(out, "plan", plan::async_plan(job, pilot), print_async);
  } else if (job.secure_aggregation) {
    add_result(out, "plan", protocol::federated_plan(job, pilot), print_federated);
  } else {
    add_result(out, "plan", plan::sync_plan(job, pilot), print_sync);
  }
}

/// How loud owners are, and their mean, by which Newton steps are floored.
void add_variances(PlanText& out, const Charter& job) {
  const bool sums = job.secure_aggregation.has_value();
  std::vector<double> variances;
  for (size_t i = 0; i < job.owners.size() && !sums && job.complete(); ++i) {
    const auto variance = plan::noise_variance(job, i);
    if (!variance) return out.add("noise variances.refused", variance.error());
    variances.push_back(*variance);
  }
  if (!variances.empty()) out.add_detail("noise variances", variances);
  if (job.protocol.rule() == charter::Rule::kPilotNewton)
    add_result(out, "mean_deviation", plan::mean_deviation(job),
               [](PlanText& part, double deviation) { part.add("value", deviation); });
}

void add_job(PlanText& out, const Charter& job, const data::Rows* pilot) {
  out.add_detail("hash", job.hash);
  out.add("overlap", job.privacy.overlap);
  out.add("quorum", job.network.quorum);
  print_owner_terms(out, job);
  add_variances(out, job);
  add_plan(out, job, pilot);
}

/// The jobs of owners that learn: with copies those of the first and the last, else the only one.
void add_jobs(PlanText& out, const Charter& charter, const data::Rows* pilot) {
  const auto add = [&](const std::string& key, const std::string& learner) {
    PlanText text;
    add_result(text, key, plan::learners_job(charter, learner),
               [&](PlanText& part, const Charter& job) { add_job(part, job, pilot); });
    return text;
  };
  if (!charter.protocol.learners.copies) return out.add("job", add("one", ""));
  out.add("job", add("first", charter.owners.front().name));
  out.add_details("job", add("last", charter.owners.back().name));
}

}  // namespace plan_learners

void print_learner(PlanText& out, const charter::Charter& charter, const data::Rows* pilot) {
  using namespace plan_learners;
  const bool rows_apart = charter.protocol.name() == ProtocolName::kSync ||
                          charter.protocol.name() == ProtocolName::kAsync;
  if (rows_apart) add_variances(out, charter);
  add_plan(out, charter, pilot);
  const bool apart = charter.protocol.learners.owner || !charter.central();
  if (apart && charter.complete()) add_jobs(out, charter, pilot);
  if (charter.complete())
    add_result(out, "warnings", plan::plan_warnings(charter, pilot),
               [](PlanText& part, const std::vector<std::string>& warnings) {
                 part.add("count", warnings.size());
                 for (size_t i = 0; i < warnings.size(); ++i)
                   part.add_detail(std::to_string(i), warnings[i]);
               });
}

}  // namespace parley::test
