// Parts of golden plans that terms of several kinds have in common.
#pragma once

#include "parley/charter/charter.h"
#include "parley/gate/gate.h"
#include "support/plan_text.h"

namespace parley::test {

std::vector<std::string> owner_names(const charter::Charter& charter);

PlanText text_of(const learn::Lattice& lattice);
PlanText text_of(const learn::Losses& loss);
PlanText text_of(const learn::EvaluationMap& map);
PlanText text_of(const privacy::Cost& cost);
PlanText text_of(const plan::Terms& terms);

/// Of any mechanism: its noise, and what one answer of this sensitivity costs.
template <class M>
PlanText text_of_mechanism(const M& mechanism, double sensitivity) {
  PlanText out;
  out.add_detail("name", M::kName);
  out.add("sensitivity", sensitivity);
  if constexpr (requires { mechanism.variance(); }) {
    out.add("variance", mechanism.variance());
    out.add_detail("scale", mechanism.scale());
  } else {
    out.add("scale", mechanism.scale());
  }
  out.add_detail("event", mechanism.event(sensitivity));
  out.add("cost", text_of(mechanism.cost(sensitivity)));
  return out;
}

/// What an owner's training and evaluation may cost, where noise is Gaussian.
void add_rho(PlanText& out, const charter::Charter& charter, const charter::Owner& owner);

}  // namespace parley::test
