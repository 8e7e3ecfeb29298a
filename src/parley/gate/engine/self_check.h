// Before an engine's first answer: rows that are no one's, drawn within the charter's public
// bounds, are given to it as a query of constants, and to the kernel.
#pragma once

#include "parley/data/sql/engine.h"
#include "parley/plan/terms.h"

namespace parley::gate {

/// An error names the first number in which they differ by more than one step for each row; a
/// single step may come of the missing fused multiply-add.
Result<void> self_check(data::sql::Engine& engine, const data::Schema& schema,
                        const plan::Terms& terms);

}  // namespace parley::gate
