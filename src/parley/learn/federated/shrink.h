// Shortens records to a norm bound. Federated training does this to an owner's data once, before
// the first step, and to every record that is predicted. Shortening data instead of clipping
// gradients keeps the loss convex and smooth.
#pragma once

#include <span>

#include "parley/data/any_rows.h"

namespace parley::learn {

/// What a record of these features is multiplied with, min(1, max_norm / |z|_2) but for roundings.
double shrink_factor(std::span<const double> values, double max_norm);

/// Every record z times min(1, max_norm / |z|_2), so that as computed |z|_2 <= max_norm. Labels
/// stay.
data::AnyRows shrunk(const data::AnyRows& rows, double max_norm);

}  // namespace parley::learn
