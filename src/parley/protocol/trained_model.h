// The model file of a job, with its privacy card.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/model.h"
#include "parley/protocol/sync.h"

namespace parley::protocol {

/// `spent` is what each owner's ledger says. With a seed, the job was a simulation and the card
/// says NOT PRIVATE, because seeded noise can be replayed; its numbers are those of a real run of
/// the same charter.
learn::Model trained_model(const charter::Charter& charter, std::vector<double> theta,
                           std::span<const JobSpent> spent, learn::Training training,
                           std::optional<learn::Evaluation> evaluation);

}  // namespace parley::protocol
