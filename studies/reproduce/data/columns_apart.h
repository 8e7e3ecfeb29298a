// Records whose columns lie in several places, for the figures of the vertical paper and, cut by
// rows, of the federated one: stand-ins, or with --data the LIBSVM files that the paper took.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "parley/data/any_rows.h"
#include "studies/reproduce/figure.h"

namespace parley::reproduce {

struct ColumnsApart {
  data::AnyRows train{}, test{};
  std::vector<size_t> parties{};  // how many columns each has, one after the other
  std::string source{};
};
using SharedColumns = std::shared_ptr<const ColumnsApart>;

/// a9a: fourteen attributes of a person as 123 columns of zeros and ones, 66 + 57; the label is an
/// income above 50,000 dollars.
Result<SharedColumns> census_columns(const Study& study);
/// gisette: 5,000 dense columns within [-1, 1], 2,000 + 2,000 + 1,000; two digits told apart. With
/// a folder that lacks it, the stand-in.
Result<SharedColumns> digit_columns(const Study& study);

/// The parties' blocks of the training records.
std::vector<data::AnyRows> blocks_of(const ColumnsApart& columns);
std::vector<double> labels_of(const data::AnyRows& rows);

}  // namespace parley::reproduce
