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
/// the same charter. `answers` says how many each owner gave; none: as many as the charter asks
/// for.
learn::Model trained_model(const charter::Charter& charter, std::vector<double> theta,
                           std::span<const JobSpent> spent, learn::Training training,
                           std::optional<learn::Evaluation> evaluation,
                           std::span<const uint32_t> answers = {});

}  // namespace parley::protocol
