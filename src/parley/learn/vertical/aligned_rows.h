// Reads a party's records and sorts them by the digests of their ids, which is the order that all
// parties share.
#pragma once

#include <string>

#include "parley/data/sources/source.h"
#include "parley/learn/vertical/alignment.h"

namespace parley::learn {

struct AlignedRows {
  data::AnyRows rows;
  Alignment alignment;  // its rows are those of the source
};

/// `schema` is the party's part of it. Another number of records than `count` is an error that says
/// how many rows had no id, and how many one that came before; with `more` only fewer are.
Result<AlignedRows> load_aligned(data::Source source, const data::Schema& schema, bool labels,
                                 const std::string& id, const Secret32& key, uint64_t count,
                                 bool more);

/// The records that all of `lists` hold too. Another number of them than `count` is an error.
Result<AlignedRows> common_rows(const AlignedRows& own,
                                std::span<const std::vector<IdDigest>> lists, uint64_t count);

/// An error where the parties have another number of records in common than the charter says.
Result<void> check_common(size_t found, uint64_t count);

/// The rows of `order`, in this order.
data::AnyRows rows_in_order(const data::AnyRows& rows, std::span<const uint64_t> order);

}  // namespace parley::learn
