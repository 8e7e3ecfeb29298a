// Columns cut into at most 255 bins, once for all trees: a split then chooses among bins, and a
// number takes one byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/rows.h"

namespace parley::learn {

inline constexpr size_t kBinsMax = 255;

struct Bins {
  size_t rows = 0;
  /// Per column, ascending: a number lies in the first bin whose edge is not below it, or in the
  /// last bin, which has no edge. A column without edges is constant.
  std::vector<std::vector<double>> edges{};
  std::vector<uint8_t> index{};  // of all rows, one column after the other

  size_t columns() const { return edges.size(); }
  size_t bins(size_t column) const { return edges[column].size() + 1; }
  std::span<const uint8_t> column(size_t j) const { return {index.data() + j * rows, rows}; }
};

/// Edges halfway between neighbouring values: between all of them if there are at most 255, else
/// such that bins hold about equally many rows, judged by 20,000 of them. A number that is not
/// finite is an error.
Result<std::vector<double>> bin_edges(std::span<const double> values);

/// Of every column. At least one row and fewer than 2^31.
Result<Bins> bins_of(const data::Rows& rows, int threads);

}  // namespace parley::learn
