// Records, dense or sparse.
#pragma once

#include <memory>
#include <variant>

#include "parley/data/rows.h"
#include "parley/data/sparse_rows.h"

namespace parley::data {

using AnyRows = std::variant<std::shared_ptr<const Rows>, std::shared_ptr<const SparseRows>>;

inline size_t size_of(const AnyRows& rows) {
  return std::visit([](const auto& kind) { return kind->size(); }, rows);
}
inline size_t columns_of(const AnyRows& rows) {
  return std::visit([](const auto& kind) { return kind->columns(); }, rows);
}

}  // namespace parley::data
