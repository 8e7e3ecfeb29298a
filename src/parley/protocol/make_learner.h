// Makes the learner of any charter: one line per protocol.
#pragma once

#include <memory>
#include <optional>

#include "parley/base/crypto/shamir.h"
#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/protocol/learner.h"

namespace parley::protocol {

/// Of a network receipts are signed, of a simulation not.
enum class Receipts { kSigned, kUnsigned };

/// Has done nothing yet. `pilot` holds the charter's public rows; null where it has none.
/// `dealer` is the key from which masks and noise follow, where the protocol has a dealer.
Result<std::unique_ptr<Learner>> make_learner(const charter::Charter& charter,
                                              const data::Rows* pilot, Receipts receipts,
                                              const std::optional<Secret32>& dealer = std::nullopt);

/// Does the learner of this charter deal masks and noise?
bool has_dealer(const charter::Charter& charter);

}  // namespace parley::protocol
