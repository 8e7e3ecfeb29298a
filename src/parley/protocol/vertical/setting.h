// The inputs of an owner of a sharing charter besides its columns.
#pragma once

#include "parley/charter/charter.h"
#include "parley/protocol/vertical/owner.h"

namespace parley::protocol {

/// Under which ids are digested: known to all who know the charter. So a digest hides no id that
/// can be guessed; ids are public among the parties.
Secret32 alignment_key(const Hash& charter);

/// `training` has a seed where it is a simulation.
Result<VerticalSetting> vertical_setting(const charter::Charter& charter,
                                         const plan::VerticalTerms& terms, size_t owner,
                                         const learn::Training& training);

}  // namespace parley::protocol
