// What a ledger holds: data sets with their budgets, and rows, each with the hash of the one
// before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/privacy/budget/budget.h"
#include "parley/privacy/flow.h"

namespace parley::ledger {

/// One row of the chain, column by column.
struct Row {
  int64_t id = 0;       // 1, 2, 3, ... no gaps
  std::string at{};     // RFC 3339, UTC
  std::string kind{};   // answer | evaluation | count | budget | approval | checkpoint
  int64_t dataset = 0;  // its id
  Hash charter{};
  int64_t round = 0;
  Hash query{};         // SHA-256 of the query as received
  std::string event{};  // DpEvent JSON; of rows that release nothing what they say (events.h)
  std::string track{};  // pure | zcdp | none
  double cost = 0;      // epsilon or rho on that track, never below the exact value
  double delta = 0;     // the mechanism's own
  Bytes answer{};       // what left: little-endian int64; of a checkpoint, Chain::state
  Hash previous{};      // hash of the row before; of the first, the ledger's origin
  Hash hash{};

  bool operator==(const Row&) const = default;
};

/// SHA-256 over `previous` and all columns above it, each length-prefixed, the answer by its own
/// SHA-256, so that a chain can be checked by someone who may not see the answers.
Hash hash_of(const Row& row);

/// A kind as rows and receipts name it.
std::string_view name_of(privacy::ReleaseKind kind);
std::optional<privacy::ReleaseKind> release_kind(std::string_view name);

/// Where the records of a data set lie: "csv /data/loans.csv". Fingerprints are keyed by the
/// ledger, so that they tell nothing to whoever has not got it.
struct SourceOf {
  std::string is{};
  std::vector<Hash> fingerprints{};  // in order
  bool operator==(const SourceOf&) const = default;
};
/// From now on a data set reads this source, too. By a person where the ledger would not have
/// allowed it.
struct Reads {
  SourceOf source{};
  std::string by{}, reason{};
};

struct Dataset {
  int64_t id = 0;
  std::string name{};
  privacy::Budget budget{};
  privacy::Spent spent{};
  std::string unit{};  // whom the budget protects: "record" or a column; empty: never recorded
  Reads reads{};       // as one 'budget' row says; empty where it is about something else
};

std::string hex_of(const std::vector<Hash>& fingerprints);
/// Nothing where the text is none of these.
std::optional<std::vector<Hash>> fingerprints_from(const std::string& text);

}  // namespace parley::ledger
