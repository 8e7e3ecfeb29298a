// Features by public bounds alone: what a charter says about its columns is all that they need.
#pragma once

#include "parley/data/transforms/bundle.h"

namespace parley::data {

/// Numbers are moved to [-1, 1] by the schema's bounds, levels of a category stay 0 or 1, and every
/// column is kept. Of `pilot`, as fit_bundle takes it, only the usual length of rows is noted.
Bundle bounds_bundle(const Rows& pilot, const Schema& schema, const Hash& pilot_hash);

}  // namespace parley::data
