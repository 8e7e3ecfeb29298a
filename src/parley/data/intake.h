// From the cells of any source to rows: selects columns and records, and caps the records of one
// unit (a person, an account). Sources differ only in how they read cells.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "parley/base/memory/pages_memory.h"
#include "parley/base/result.h"
#include "parley/data/encode.h"

namespace parley::data {

/// Rows to take: those whose value is in the list, or, with `exclude`, is not. Compared without the
/// blanks around them; the empty text stands for no value.
struct RowFilter {
  std::string column;  // as the source names it
  std::vector<std::string> values;
  bool exclude = false;
  bool by_name = false;  // compares the names that values make, see name_from
};

/// A name in the manner of owners: small letters and digits of `text`, hyphens for anything else,
/// none doubled or at an end. "St. Mary's" makes st-mary-s.
std::string name_from(std::string_view text);

/// Records [begin, end) of those that the filter lets pass.
struct Block {
  uint64_t begin, end;
};

/// At most `records` records of each unit (a person, an account) are used, the first in the order
/// of the source; the others, and records that name no unit, become the zero record.
///
/// Privacy. Let D' be D with all records of unit u replaced, in their places, by records of a unit
/// that D does not hold. Whether a record counts depends only on how many records of the *same*
/// unit stand before it. Those of every unit but u are the same, in the same order, in both data
/// sets, so exactly the same of them count, and the zero records count for nothing. What is left to
/// differ are the at most `records` that count of u and the at most `records` that count of the
/// other unit: the sum moves by at most 2 * records times one record's bound, which is
/// plan::sensitivity. (A record without a unit must not count: nobody knows whose cap it
/// would fall under. Two caps on different columns would break the proof, since replacing u would
/// move places under the other one; hence there is one.)
struct UnitCap {
  std::string column;  // as the source names it
  uint64_t records = 1;
};

/// What an owner says about its own data, besides the schema.
struct Selection {
  std::map<std::string, std::string> columns{};  // schema's name = source's name, where they differ
  std::optional<RowFilter> where{};              // before anything is counted
  std::optional<Block> block{};
  std::optional<UnitCap> unit{};
  std::optional<uint64_t> rows{};  // public; another number is an error
  std::string id{};                // a column whose texts are kept beside the rows; empty: none
  MemoryLimit memory{};            // rows beyond it lie in a file
};

struct CountedRows {
  Rows rows;
  Counts counts;
  std::vector<std::string> ids{};  // of every row, where they were asked for
};

class Intake {
 public:
  Intake(const Schema& schema, const Selection& selection, char decimal, bool labels);

  /// The source's names of its columns, in order. `where` says where a name stands; others than the
  /// wanted are ignored.
  Result<void> take_header(const std::vector<std::string>& names,
                           const std::function<Where(size_t)>& where);
  /// Places of the columns that are looked at; others need not be decoded.
  const std::vector<size_t>& positions() const { return positions_; }

  /// One record; `cell(i)` is its value in column i of the header, valid during the call.
  template <class CellAt>
  void add(const CellAt& cell) {
    if (where_ && !passes(cell(*where_))) return void(++counts_.left_out);
    if (block_ && !in_block()) return void(++counts_.left_out);
    if (++counts_.rows > rows_max_) return;  // Only counted: an error already.
    if (id_) ids_.emplace_back(text_of(cell(*id_), scratch_));
    if (unit_ && !within_cap(cell(*unit_))) return rows_.add_zero();
    for (size_t i = 0; i < record_.size(); ++i) record_[i] = cell(positions_[i]);
    encoder_.add(record_, rows_, counts_);
  }

  /// Why there is no room for more records, if so; finish says it, too.
  const std::optional<Error>& failure() const { return rows_.failure(); }

  /// After the last record: as many as the charter says, or an error with both numbers.
  Result<CountedRows> finish() &&;

 private:
  bool passes(const Cell& cell);
  bool in_block() {
    const uint64_t place = passed_++;
    return place >= block_->begin && place < block_->end;
  }
  bool within_cap(const Cell& cell);

  Selection selection_;
  Encoder encoder_;
  Rows rows_;
  Counts counts_{};
  uint64_t rows_max_;
  std::optional<Block> block_;
  uint64_t passed_ = 0;              // records that the filter let pass
  std::vector<size_t> positions_{};  // the encoder's columns, then where's and unit's
  std::optional<size_t> where_{}, unit_{}, id_{};
  std::vector<std::string> ids_{};
  std::vector<Cell> record_{};
  std::string scratch_{};
  std::unordered_map<std::string, uint64_t> of_unit_{};
};

/// The rows that were found are not as many as the charter says; both numbers are public.
Error wrong_number_of_rows(uint64_t expected, uint64_t found);

}  // namespace parley::data
