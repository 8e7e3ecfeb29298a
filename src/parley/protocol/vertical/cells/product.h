// Shares of C = D' T, where D are the receiver's rows, which its choices of leaves fix, and T the
// sender's numbers, a row for every record. The receiver ends with P and the sender with Q, so that
// P - Q = C modulo 2^64; each share alone is uniform. Neither sees a row of the other.
//
// For every record and cell the sender sends one word per column: the number plus the words of
// *all* leaves. The receiver subtracts the words of the leaves that it knows. What remains is added
// at the leaf that it chose: the number plus the one word that it does not know. So for each leaf
// the numbers of the records that chose it are added up, masked by the sum of the unknown words.
//
// Nothing here checks that the sender's numbers are legal rows: legal_rows.h does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/learn/vertical/cells/cells.h"
#include "parley/protocol/vertical/cells/word_sums.h"
#include "parley/protocol/vertical/ot/trees.h"

namespace parley::protocol::ot {

using learn::add_to_all, learn::category_cell, learn::label_cell, learn::number_cells;
using learn::Adds, learn::Cell, learn::Cells;
using learn::choices_of, learn::number_leaves, learn::rows_of, learn::transfers_of;

/// What the sender gives for a chunk of records: corrections of every cell's trees, cell by cell,
/// and the words, record by record within a cell, cell by cell.
struct ProductLetter {
  Blocks corrections;
  WipedVector<uint64_t> words;
};

/// The sender's side: chunk after chunk of records, then its share.
class ProductSender {
 public:
  /// `cells` and `own_columns` are the receiver's; `columns` how many numbers a record has.
  ProductSender(const Direction& direction, Cells cells, size_t own_columns, size_t columns);

  /// `strings` of all transfers of these records, `numbers` record by record.
  ProductLetter add(std::span<const std::array<Block, 2>> strings,
                    std::span<const uint64_t> numbers);
  Words share() const;  // Q

 private:
  Cells cells_;
  size_t own_columns_;
  LeafWords words_;
  Trees trees_;
  std::vector<Words> sums_;  // of each cell: leaf by column
};

/// The receiver's side.
class ProductReceiver {
 public:
  ProductReceiver(const Direction& direction, Cells cells, size_t own_columns, size_t columns);

  /// `leaves` that it chose, record by record. An error for a letter of another length.
  Result<void> add(std::span<const Block> strings, std::span<const uint32_t> leaves,
                   const ProductLetter& letter);
  Words share() const;  // P

 private:
  Cells cells_;
  size_t own_columns_;
  LeafWords words_;
  Trees trees_;
  std::vector<Words> sums_;
};

}  // namespace parley::protocol::ot
