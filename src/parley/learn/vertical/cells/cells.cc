#include "parley/learn/vertical/cells/cells.h"

#include <algorithm>
#include <bit>

#include "parley/base/math/masks.h"
#include "parley/base/result.h"

namespace parley::learn {

Cell category_cell(uint32_t levels, bool none, uint32_t first, int64_t weight) {
  check(levels >= 2 && levels <= kMostLevels);
  const uint32_t needed = levels + (none ? 1 : 0);
  Cell cell{.height = std::max(1u, static_cast<uint32_t>(std::bit_width(needed - 1))), .adds = {}};
  for (uint32_t level = 0; level < levels; ++level)
    cell.adds.push_back({level, first + level, weight});
  return cell;
}

Cells number_cells(uint32_t bits, uint32_t column) {
  check(bits >= 1 && bits <= 16);
  Cells cells;
  for (uint32_t low = 0; low < bits; low += kDigit) {
    Cell cell{.height = std::min(kDigit, bits - low), .adds = {}};
    const int64_t middle = low == 0 ? int64_t{1} << (bits - 1) : 0;
    for (uint32_t leaf = 0; leaf < cell.leaves(); ++leaf)
      cell.adds.push_back({leaf, column, (int64_t{leaf} << low) - middle});
    cells.push_back(std::move(cell));
  }
  return cells;
}

Cell label_cell(uint32_t column, int64_t weight) {
  return {.height = 1, .adds = {{0, column, -weight}, {1, column, weight}}};
}

void add_to_all(Cell& cell, uint32_t column, int64_t amount) {
  for (uint32_t leaf = 0; leaf < cell.leaves(); ++leaf) cell.adds.push_back({leaf, column, amount});
}

WipedVector<uint32_t> number_leaves(uint32_t u, uint32_t bits) {
  check(bits >= 1 && bits <= 16 && u >> bits == 0);
  WipedVector<uint32_t> leaves;
  for (uint32_t low = 0; low < bits; low += kDigit)
    leaves.push_back(u >> low & ((uint32_t{1} << std::min(kDigit, bits - low)) - 1));
  return leaves;
}

size_t transfers_of(const Cells& cells) {
  size_t transfers = 0;
  for (const Cell& cell : cells) transfers += cell.height;
  return transfers;
}

WipedVector<int64_t> rows_of(const Cells& cells, std::span<const uint32_t> leaves, size_t columns) {
  const size_t records = leaves.size() / cells.size();
  WipedVector<int64_t> rows(records * columns);
  for (size_t i = 0; i < records; ++i)
    for (size_t e = 0; e < cells.size(); ++e)
      for (const Adds& adds : cells[e].adds)
        rows[i * columns + adds.column] +=
            adds.amount & static_cast<int64_t>(equal_mask(adds.leaf, leaves[i * cells.size() + e]));
  return rows;
}

WipedVector<uint8_t> choices_of(const Cells& cells, std::span<const uint32_t> leaves) {
  WipedVector<uint8_t> choices;
  for (size_t at = 0; at < leaves.size(); ++at) {
    const uint32_t height = cells[at % cells.size()].height;
    for (uint32_t level = 1; level <= height; ++level)
      choices.push_back(static_cast<uint8_t>(~(leaves[at] >> (height - level)) & 1));
  }
  return choices;
}

}  // namespace parley::learn
