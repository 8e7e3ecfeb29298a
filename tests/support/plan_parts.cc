#include "support/plan_parts.h"

#include "parley/plan/terms.h"

namespace parley::test {

std::vector<std::string> owner_names(const charter::Charter& charter) {
  std::vector<std::string> names;
  for (const charter::Owner& owner : charter.owners) names.push_back(owner.name);
  return names;
}

PlanText text_of(const learn::Lattice& lattice) {
  PlanText out;
  out.add("max_grad_norm", lattice.max_grad_norm());
  out.add("gamma", lattice.gamma());
  out.add("dimension", lattice.dimension());
  out.add_detail("bound in L1", lattice.bound<L1>());
  out.add_detail("bound in L2", lattice.bound<L2>());
  out.add_detail("shortened in L1", lattice.shortened<L1>());
  out.add_detail("shortened in L2", lattice.shortened<L2>());
  return out;
}

PlanText text_of(const learn::Losses& loss) {
  PlanText out;
  std::visit(
      [&](const auto& known) {
        out.add("name", known.kName);
        out.add("smoothness", known.smoothness());
        out.add("lipschitz", known.lipschitz());
        out.add("of 3 for 1", known.value(3, 1));
        out.add("of 3 for -1", known.value(3, -1));
      },
      loss);
  return out;
}

PlanText text_of(const privacy::Cost& cost) {
  PlanText out;
  out.add_detail("track", cost.track == privacy::Track::kPure ? "pure" : "zcdp");
  out.add("amount", cost.amount);
  out.add_detail("delta", cost.delta);
  return out;
}

PlanText text_of(const learn::EvaluationMap& map) {
  PlanText out;
  out.add_details("loss", text_of(map.loss()));
  out.add("size", map.size());
  out.add("gamma", map.gamma());
  out.add("bound", map.bound());
  out.add("sensitivity in L1", map.sensitivity<L1>());
  out.add("sensitivity in L2", map.sensitivity<L2>());
  return out;
}

void add_rho(PlanText& out, const charter::Charter& charter, const charter::Owner& owner) {
  if (owner.delta == 0) return;  // There is a rho only where there is a delta.
  const auto add = [&](const char* key, plan::Part part) {
    const auto rho = plan::rho_for(charter, owner, part);
    rho ? out.add(key, rho->value()) : out.add(std::string(key) + ".refused", rho.error());
  };
  add("rho.training", plan::Part::kTraining);
  if (charter.privacy.evaluate > 0) add("rho.evaluation", plan::Part::kEvaluation);
}

}  // namespace parley::test
