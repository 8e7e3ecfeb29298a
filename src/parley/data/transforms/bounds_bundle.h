// A bundle made from the charter's public bounds of the columns alone, without fitting anything to
// rows.
#pragma once

#include "parley/data/transforms/bundle.h"

namespace parley::data {

/// Numbers are moved to [-1, 1] by the schema's bounds, levels of a category stay 0 or 1, and every
/// column is kept. Of `pilot`, as fit_bundle takes it, only the usual length of rows is noted.
Bundle bounds_bundle(const Rows& pilot, const Schema& schema, const Hash& pilot_hash);
/// The same without any rows: its lengths are those that no row exceeds.
Bundle bounds_bundle(const Schema& schema);

/// No row is longer, bias included: sqrt(columns + 1) as bounds_bundle makes them, since a category
/// has one level at a time; and as they are encoded.
double longest_by_bounds(const Schema& schema);
double longest_encoded(const Schema& schema);

}  // namespace parley::data
