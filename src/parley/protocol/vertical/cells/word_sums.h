// The arithmetic on words of the shared product and of a round, once leaves and strings have become
// words. It consists of sums and products only, so it is also valid modulo 4, where tests can
// enumerate everything that a party can see (views_test.cc).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/base/memory/wiped.h"
#include "parley/learn/vertical/cells/cells.h"

namespace parley::protocol::ot {

/// A matrix of words modulo 2^64, row by row.
struct Words {
  size_t rows = 0, columns = 0;
  WipedVector<uint64_t> values;

  Words() = default;
  Words(size_t rows, size_t columns) : rows(rows), columns(columns), values(rows * columns) {}
  uint64_t& at(size_t row, size_t column) { return values[row * columns + column]; }
  uint64_t at(size_t row, size_t column) const { return values[row * columns + column]; }
  bool operator==(const Words&) const = default;
};

Words operator-(const Words& a, const Words& b);

/// One matrix for each cell, leaf by column.
std::vector<Words> leaf_sums(const learn::Cells& cells, size_t columns);

/// Leaves times what each adds to the owner's columns.
Words gathered(const learn::Cells& cells, const std::vector<Words>& sums, size_t own_columns);

/// Words of all leaves of records, added up leaf by leaf.
void add_all(std::span<const uint64_t> words, Words& sums);

/// What the sender gives for one record and cell, which begins as its numbers: the words of all
/// leaves, added up.
void add_leaves(std::span<const uint64_t> words, std::span<uint64_t> sent);

/// Takes the words of the leaves that the receiver has off the word that was sent, and puts what is
/// left in the place of the leaf that it chose: by masks, whichever that is.
void fill_missing(std::span<uint64_t> words, std::span<const uint64_t> sent, uint32_t chosen,
                  size_t leaves);

}  // namespace parley::protocol::ot
