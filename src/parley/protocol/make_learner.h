// The learner of any charter: one line per protocol.
#pragma once

#include <memory>

#include "parley/charter/charter.h"
#include "parley/learn/data/rows.h"
#include "parley/protocol/learner.h"

namespace parley::protocol {

/// Of a network receipts are signed, of a simulation not.
enum class Receipts { kSigned, kUnsigned };

/// Has done nothing yet. `pilot` holds the charter's public rows; null where it has none.
Result<std::unique_ptr<Learner>> make_learner(const charter::Charter& charter,
                                              const learn::Rows* pilot, Receipts receipts);

}  // namespace parley::protocol
