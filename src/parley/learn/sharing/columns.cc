#include "parley/learn/sharing/columns.h"

#include <algorithm>
#include <vector>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

AnyRows cut(const Rows& rows, size_t first, size_t last) {
  auto part = std::make_shared<Rows>(last - first);
  for (size_t i = 0; i < rows.size(); ++i)
    part->add(rows.row(i).subspan(first, last - first), rows.label(i));
  return std::shared_ptr<const Rows>(part);
}

AnyRows cut(const SparseRows& rows, size_t first, size_t last) {
  auto part = std::make_shared<SparseRows>(last - first);
  std::vector<uint32_t> at;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto all = rows.row_indices(i);
    const auto begin = std::lower_bound(all.begin(), all.end(), first);
    const auto end = std::lower_bound(begin, all.end(), last);
    at.clear();
    for (auto each = begin; each != end; ++each) at.push_back(*each - static_cast<uint32_t>(first));
    part->add(at, rows.row_values(i).subspan(static_cast<size_t>(begin - all.begin()), at.size()),
              rows.label(i));
  }
  return std::shared_ptr<const SparseRows>(part);
}

}  // namespace

AnyRows columns_between(const AnyRows& rows, size_t first, size_t last) {
  check(first < last && last <= columns_of(rows));
  return std::visit([&](const auto& kind) { return cut(*kind, first, last); }, rows);
}

}  // namespace parley::learn
