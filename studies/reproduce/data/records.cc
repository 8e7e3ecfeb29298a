#include "studies/reproduce/data/records.h"

namespace parley::reproduce {

data::Rows part_of(const data::Rows& rows, size_t begin, size_t end) {
  check(begin <= end && end <= rows.size());
  data::Rows part(rows.columns());
  part.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) part.add(rows.row(i), rows.label(i));
  return part;
}

std::vector<uint64_t> sizes_within(const std::vector<uint64_t>& grid, uint64_t owners,
                                   uint64_t rows) {
  const uint64_t largest = rows / owners;
  std::vector<uint64_t> sizes;
  for (uint64_t size : grid)
    if (size <= largest) sizes.push_back(size);
  const bool all = sizes.size() == grid.size();
  if (!all && (sizes.empty() || 3 * largest >= 4 * sizes.back())) sizes.push_back(largest);
  return sizes;
}

}  // namespace parley::reproduce
