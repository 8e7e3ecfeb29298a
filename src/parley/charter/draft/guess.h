// Guesses a column's public description from public rows.
#pragma once

#include <string>

#include "parley/data/profile.h"
#include "parley/data/schema.h"

namespace parley::charter {

/// Why a column is better left out, or nothing.
std::string reason_to_leave_out(const data::ColumnProfile& column);

/// Kind, bounds, missing constant and levels. Bounds enclose 99.8 % of the values, rounded outwards
/// to two digits; the missing constant is the median.
data::Column guess_column(const data::ColumnProfile& column);

/// Two classes, or a number with |y| <= 1 inside its bounds.
Result<data::Target> guess_target(const data::ColumnProfile& column);

/// The largest number with so many significant decimal digits that is not above `value`; and the
/// smallest that is not below it.
double rounded_down(double value, int digits);
double rounded_up(double value, int digits);

}  // namespace parley::charter
