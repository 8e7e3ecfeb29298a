// The model file of a job, with its privacy card.
#pragma once

#include "parley/charter/charter.h"
#include "parley/learn/model.h"
#include "parley/protocol/job.h"

namespace parley::protocol {

/// `trained.spent` is what each owner's ledger says. With a seed, the job was a simulation and the
/// card says NOT PRIVATE, because seeded noise can be replayed; its numbers are those of a real run
/// of the same charter.
learn::Model trained_model(const charter::Charter& charter, const Trained& trained,
                           learn::Training training);

}  // namespace parley::protocol
