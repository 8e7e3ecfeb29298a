// A whole job over columns in several places, for an attacker: everything that was opened.
#pragma once

#include <vector>

#include "parley/base/entropy.h"
#include "parley/charter/charter.h"
#include "parley/data/any_rows.h"
#include "parley/protocol/vertical/exchange.h"

namespace parley::audit {

struct VerticalJob {
  std::vector<std::vector<protocol::Opened>> opened{};  // by owner, by round
  std::vector<double> epsilon{};                        // by owner, as its ledger has it
};

/// Every message is carried to its receiver until all is done. `rows` are the owners' columns.
Result<VerticalJob> play_vertical(const charter::Charter& charter,
                                  const std::vector<data::AnyRows>& rows, Entropy& entropy);

}  // namespace parley::audit
