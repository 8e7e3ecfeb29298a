// The matrices behind a party's step: D'D or DD', dense, with a number added to the diagonal. Only
// the lower triangle is filled.
#pragma once

#include "parley/base/math/eigen_names.h"
#include "parley/data/any_rows.h"

namespace parley::learn {

ColumnMatrix gram_of_columns(const data::AnyRows& rows, double diagonal, int threads);
ColumnMatrix gram_of_rows(const data::AnyRows& rows, double diagonal, int threads);

}  // namespace parley::learn
