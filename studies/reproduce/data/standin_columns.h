// Records like those of the vertical paper, made from a seed.
#pragma once

#include "studies/reproduce/data/columns_apart.h"

namespace parley::reproduce {

/// As many records, attributes and columns as a9a has; attributes of a person hang together, and
/// those of the second party add a little to what the first one's say.
ColumnsApart standin_census(uint64_t seed, bool few);

/// As many records and columns as gisette has: pixels of which most are blank, driven by forty
/// hidden numbers, half of the columns in an order of their own so that they say nothing.
ColumnsApart standin_digits(uint64_t seed, bool few);

}  // namespace parley::reproduce
