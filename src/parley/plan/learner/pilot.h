// What the learner takes from the pilot, the charter's public rows.
#pragma once

#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/pilot/wrong_pilot.h"

namespace parley::plan {

/// The optimum of the public rows: a start that costs nothing.
std::vector<double> pilot_optimum(const charter::Charter& charter, const data::Rows& pilot);

/// How owners clip their records: in the mechanism's norm.
learn::RecordClip clip_of(const charter::Charter& charter, const learn::Lattice& lattice);

}  // namespace parley::plan
