#include "parley/plan/learner/pilot.h"

#include "parley/learn/fitness.h"

namespace parley::plan {

std::vector<double> pilot_optimum(const charter::Charter& charter, const data::Rows& pilot) {
  learn::Fitness fitness(charter::loss_of(charter.model), pilot.columns(), charter.model.l2);
  fitness.add(pilot);
  return fitness.minimum(charter.model.box).theta;
}

learn::RecordClip clip_of(const charter::Charter& charter, const learn::Lattice& lattice) {
  if (charter.privacy.mechanism == charter::MechanismName::kLaplace)
    return {learn::ClipIn::kL1, lattice.shortened<L1>()};
  return {learn::ClipIn::kL2, lattice.shortened<L2>()};
}

}  // namespace parley::plan
