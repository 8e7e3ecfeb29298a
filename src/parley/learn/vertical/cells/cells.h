// A record's columns at one owner as a sum over cells. A cell has 2^height leaves; each leaf adds
// fixed, public integers to the owner's columns, and the owner chooses one leaf of every cell for
// every record. Any choice is a legal row, so what a peer can put into its columns is bounded by
// construction and needs no trust.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/base/memory/wiped.h"

namespace parley::learn {

inline constexpr uint32_t kMostLevels = 1023;
inline constexpr uint32_t kDigit = 4;  // bits of a number in one cell

struct Adds {
  uint32_t leaf = 0, column = 0;
  int64_t amount = 0;
};

struct Cell {
  uint32_t height = 1;
  std::vector<Adds> adds;
  uint32_t leaves() const { return uint32_t{1} << height; }
};
using Cells = std::vector<Cell>;

/// Level l adds `weight` to column first + l. With `none` there is a leaf for a missing value,
/// which adds nothing. 2 to kMostLevels levels.
Cell category_cell(uint32_t levels, bool none, uint32_t first, int64_t weight);

/// -2^(bits-1) to 2^(bits-1) - 1 in one column, by digits of 4 bits, lowest first. 1 to 16 bits.
Cells number_cells(uint32_t bits, uint32_t column);

/// -weight and +weight.
Cell label_cell(uint32_t column, int64_t weight);

/// Every leaf adds this too: a column that is the same for all records.
void add_to_all(Cell& cell, uint32_t column, int64_t amount);

/// Which leaves stand for the number u = 0 to 2^bits - 1, digit by digit.
WipedVector<uint32_t> number_leaves(uint32_t u, uint32_t bits);

/// Levels of all cells together: transfers that a record needs.
size_t transfers_of(const Cells& cells);

/// The rows that leaves stand for: `leaves` has one for every record and cell, record by record. No
/// time and no address depends on them.
WipedVector<int64_t> rows_of(const Cells& cells, std::span<const uint32_t> leaves, size_t columns);

/// What the receiver chooses in the transfers: the complement of each bit of its leaves, highest
/// first, so that it gets every string but those of its own path.
WipedVector<uint8_t> choices_of(const Cells& cells, std::span<const uint32_t> leaves);

}  // namespace parley::learn
