// The keys of one [[dataset]] of a policy.
#pragma once

#include "parley/charter/policy.h"
#include "parley/charter/toml/table.h"

namespace parley::charter {

void read_dataset(Table& t, Dataset& data);

}  // namespace parley::charter
