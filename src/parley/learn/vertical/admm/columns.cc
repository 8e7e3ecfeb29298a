#include "parley/learn/vertical/admm/columns.h"

#include <algorithm>
#include <vector>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

data::AnyRows cut(const data::Rows& rows, size_t first, size_t last) {
  auto part = std::make_shared<data::Rows>(last - first);
  for (size_t i = 0; i < rows.size(); ++i)
    part->add(rows.row(i).subspan(first, last - first), rows.label(i));
  return std::shared_ptr<const data::Rows>(part);
}

data::AnyRows cut(const data::SparseRows& rows, size_t first, size_t last) {
  auto part = std::make_shared<data::SparseRows>(last - first);
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
  return std::shared_ptr<const data::SparseRows>(part);
}

}  // namespace

data::AnyRows columns_between(const data::AnyRows& rows, size_t first, size_t last) {
  check(first < last && last <= data::columns_of(rows));
  return std::visit([&](const auto& kind) { return cut(*kind, first, last); }, rows);
}

}  // namespace parley::learn
