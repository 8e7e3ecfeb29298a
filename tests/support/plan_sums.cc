// Terms of sums that are opened only as a whole, and of columns in several places, as golden text.
#include "parley/plan/secagg_terms.h"
#include "parley/plan/terms.h"
#include "parley/plan/vertical_terms.h"
#include "parley/protocol/vertical/setting.h"
#include "support/plan_parts.h"
#include "support/plan_print.h"

namespace parley::test {
namespace plan_sums {

using test::text_of, charter::Charter;

PlanText text_of(const learn::LocalUpdate& update) {
  PlanText out;
  const learn::LocalPlan& plan = update.plan();
  out.add_details("loss", text_of(plan.loss));
  out.add("l2", plan.l2);
  out.add("step", plan.step);
  out.add("delay", plan.delay);
  out.add("steps", plan.steps);
  out.add("max_row_norm", plan.max_row_norm);
  out.add("max_grad_norm", plan.max_grad_norm);
  out.add("box", plan.box);
  out.add("weight", plan.weight);
  out.add("rows", plan.rows);
  out.add("unit_records", plan.unit_records);
  out.add("max_update", plan.max_update);
  out.add("dimension", plan.dimension);
  out.add("lattice", text_of(update.lattice()));
  out.add("smoothness", update.smoothness());
  out.add("step_max", update.step_max());
  out.add("sensitivity", update.sensitivity());
  out.add("largest", update.largest());
  return out;
}

PlanText text_of(const plan::GradientSum& sum) {
  PlanText out;
  out.add_details("loss", text_of(sum.loss));
  out.add("lattice", text_of(sum.lattice));
  out.add("rows", sum.rows);
  out.add("unit_records", sum.unit_records);
  out.add("sensitivity", sum.sensitivity());
  out.add("largest", sum.largest());
  return out;
}

PlanText text_of(const plan::DistanceSum& sum) {
  PlanText out;
  out.add_details("loss", text_of(sum.loss));
  out.add("lattice", text_of(sum.norm.lattice));
  out.add("rows", sum.norm.rows);
  out.add("weight", sum.norm.weight);
  out.add("unit_records", sum.unit_records);
  out.add("sensitivity", sum.sensitivity());
  out.add("largest", sum.norm.largest());
  return out;
}

template <class M>
PlanText text_of_share(const M& mechanism, double sensitivity) {
  PlanText out = text_of_mechanism(mechanism, sensitivity);
  out.add_detail("present", mechanism.parties().present);
  out.add_detail("honest", mechanism.parties().honest());
  out.add_detail("dimension", mechanism.dimension());
  return out;
}

PlanText text_of(const plan::SecaggTerms& terms) {
  PlanText out;
  out.add_detail("job", terms.charter);
  out.add("answers", terms.answers);
  out.add("box", terms.box);
  out.add("gamma", terms.gamma);
  out.add("rows", terms.rows());
  out.add("numbers", terms.numbers());
  out.add("part", std::visit([](const auto& part) { return text_of(part); }, terms.part));
  const auto noise = [](double sensitivity) {
    return [=](const auto& mechanism) { return text_of_share(mechanism, sensitivity); };
  };
  out.add("mechanism", std::visit(noise(terms.sensitivity()), terms.mechanism));
  out.add_details("cost", text_of(terms.cost()));
  out.add_detail("event", terms.event());
  if (terms.gram) {
    const auto sums = terms.of(privacy::ReleaseKind::kGram);
    out.add("gram.lattice", text_of(terms.gram->map.lattice()));
    out.add("gram.answers", sums->answers);
    out.add("gram.numbers", sums->numbers);
    out.add("gram.mechanism", std::visit(noise(sums->sensitivity), terms.gram->mechanism));
    out.add_details("gram.cost", text_of(sums->cost()));
    out.add_detail("gram.event", sums->event());
  }
  if (terms.after_alarm) {
    const auto sums = terms.of(privacy::ReleaseKind::kAfterAlarm);
    out.add("after_alarm.sum", text_of(terms.after_alarm->sum));
    out.add("after_alarm.answers", sums->answers);
    out.add("after_alarm.before", terms.after_alarm->before);
    out.add("after_alarm.mechanism",
            std::visit(noise(sums->sensitivity), terms.after_alarm->mechanism));
    out.add_details("after_alarm.cost", text_of(sums->cost()));
    out.add_detail("after_alarm.event", sums->event());
  }
  if (!terms.evaluation) return out;
  const plan::SecaggEvaluation& last = *terms.evaluation;
  out.add_details("evaluation", text_of(last.map));
  out.add("evaluation.unit_records", last.unit_records);
  out.add("evaluation.answers", last.answers);
  out.add("evaluation.mechanism", std::visit(noise(last.sensitivity()), last.mechanism));
  out.add_details("evaluation.cost", text_of(terms.of(privacy::ReleaseKind::kEvaluation)->cost()));
  out.add_detail("evaluation.event", terms.of(privacy::ReleaseKind::kEvaluation)->event());
  return out;
}

PlanText text_of(const learn::JointPlan& plan) {
  PlanText out;
  out.add("row_norms", plan.row_norms);
  out.add("balls", plan.balls);
  out.add("fraction", plan.fraction);
  out.add("bits", plan.bits);
  out.add("scale", plan.scale);
  out.add("rows", plan.rows);
  out.add("row_norm", plan.row_norm());
  out.add("model_norm", plan.model_norm());
  out.add("unit", plan.unit());
  out.add("sensitivity", plan.sensitivity());
  return out;
}

PlanText text_of(const learn::JointSteps& steps) {
  PlanText out;
  out.add("step", steps.step);
  out.add("momentum", steps.momentum);
  out.add("l2", steps.l2);
  out.add("rounds", steps.rounds);
  out.add("averaged", steps.averaged);
  return out;
}

PlanText text_of(const learn::NoisySharingPlan& plan) {
  PlanText out;
  out.add("rows", plan.rows);
  out.add("lam", plan.lam);
  out.add("rho", plan.rho);
  out.add("row_norms", plan.row_norms);
  out.add("balls", plan.balls);
  out.add("target_clip", plan.target_clip);
  out.add("fraction", plan.fraction);
  out.add("sensitivity", plan.sensitivity());
  for (size_t i = 0; i < plan.balls.size(); ++i) {
    out.add("message_clip." + std::to_string(i), plan.message_clip(i));
    out.add("tolerance." + std::to_string(i), plan.tolerance(i));
  }
  return out;
}

PlanText text_of(const learn::BoxGradient& grid) {
  PlanText out;
  out.add("box", grid.box);
  out.add("bits", grid.bits);
  out.add("row_bits", grid.row_bits);
  out.add("squares", grid.reach.squares);
  out.add("sum", grid.reach.sum);
  out.add("largest", grid.reach.largest);
  out.add("met", grid.reach.met);
  out.add("label", grid.label.largest());
  out.add("kappa", grid.kappa);
  out.add("largest_score", grid.largest_score());
  out.add("sensitivity", grid.sensitivity());
  out.add("unit", grid.unit());
  return out;
}

PlanText text_of(const plan::VerticalTerms& terms) {
  PlanText out;
  out.add_detail("job", terms.charter);
  out.add("rule", name_of(terms.rule));
  out.add("rounds", terms.rounds);
  out.add("plan", text_of(terms.plan));
  out.add("steps", text_of(terms.steps));
  out.add_details("loss", text_of(terms.loss));
  out.add("l2", terms.l2);
  out.add("box", terms.box);
  out.add("label_holder", terms.label_holder);
  out.add("intersect", terms.intersect);
  out.add("noise", text_of_mechanism(terms.noise, terms.sensitivity));
  if (terms.grid) out.add("grid", text_of(*terms.grid));
  if (terms.shares) out.add("shares", text_of_share(*terms.shares, terms.sensitivity));
  if (terms.beside) out.add("beside", text_of_mechanism(*terms.beside, terms.sensitivity));
  if (terms.noisy) out.add("noisy", text_of(*terms.noisy));
  return out;
}

PlanText text_of_party(const Charter& charter, const plan::VerticalTerms& terms, size_t owner) {
  PlanText out;
  out.add("columns", terms.columns[owner]);
  out.add("numbers", terms.numbers(owner));
  out.add("bias", plan::part_schema(charter, owner).bias);
  out.add("holds_label", plan::holds_label(charter, owner));
  add_result(out, "epsilon", plan::sharing_epsilon(charter, terms, owner),
             [](PlanText& part, double epsilon) { part.add("spent", epsilon); });
  const auto setting = protocol::vertical_setting(charter, terms, owner, {});
  add_result(out, "part", setting, [](PlanText& part, const protocol::VerticalSetting& known) {
    part.add("row_norm", known.part.row_norm);
    part.add("ball", known.part.ball);
    part.add("bits", known.part.bits);
    part.add("fraction", known.part.fraction);
  });
  return out;
}

}  // namespace plan_sums

void print_share_plan(PlanText& out, const charter::Charter& charter) {
  add_result(out, "alone", plan::terms_for(charter, 0),
             [](PlanText& part, const plan::Terms& terms) { part = plan_sums::text_of(terms); });
  const auto print = [&](PlanText& part, const plan::SecaggPlan& plan) {
    part.add("gamma", plan.gamma);
    part.add("unit", plan.unit);
    part.add("present", plan.parties.present);
    part.add("survivors", plan.parties.survivors);
    part.add("colluders", plan.parties.colluders);
    part.add("weights", plan.weights);
    part.add("largest", plan.largest);
    part.add("largest_evaluation", plan.largest_evaluation);
    if (plan.gram.unit > 0) part.add("gram.unit", plan.gram.unit);
    if (plan.gram.unit > 0) part.add("gram.largest", plan.gram.largest);
    if (plan.after_alarm.unit > 0) part.add("after_alarm.unit", plan.after_alarm.unit);
    if (plan.after_alarm.unit > 0) part.add("after_alarm.largest", plan.after_alarm.largest);
    std::vector<PlanText> owners(plan.owners.size());
    for (size_t i = 0; i < owners.size(); ++i) {
      add_rho(owners[i], charter, charter.owners[i]);
      owners[i].add("terms", plan_sums::text_of(plan.owners[i]));
    }
    part.add_owners(owner_names(charter), owners);
  };
  add_result(out, "shares", plan::secagg_plan(charter), print);
}

void print_sharing_terms(PlanText& out, const charter::Charter& charter) {
  add_result(out, "columns", plan::columns_plan(charter),
             [](PlanText& part, const learn::JointPlan& plan) { part = plan_sums::text_of(plan); });
  const auto print = [&](PlanText& part, const plan::VerticalTerms& terms) {
    part = plan_sums::text_of(terms);
    std::vector<PlanText> owners;
    for (size_t i = 0; i < charter.owners.size(); ++i)
      owners.push_back(plan_sums::text_of_party(charter, terms, i));
    part.add_owners(owner_names(charter), owners);
  };
  add_result(out, "sharing", plan::vertical_terms(charter), print);
  const Secret32 key = protocol::alignment_key(charter.hash);
  out.add_detail("alignment_key", sha256(ByteView(key)));
}

}  // namespace parley::test
