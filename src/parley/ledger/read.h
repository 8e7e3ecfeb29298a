// Looking at a ledger without writing: for `parley ledger show|verify`, also while a daemon writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/result.h"
#include "parley/ledger.h"
#include "parley/ledger/storage/chain.h"

namespace parley::ledger {

struct Contents {
  std::string owner;
  std::string created;
  std::vector<Dataset> datasets;
  std::vector<Row> rows;
  uint64_t matched = 0;  // rows that the filter wants, also those that are not among `rows`
  Hash head{};           // of the last row
  Chain chain{Hash{}};
  Hash fingerprints{};  // their key

  /// Whether a receipt with this hash is one of these rows, or of one that a row stands for.
  bool knows(const Hash& hash) const;
};

/// Which rows are kept, so that memory need not grow with the ledger.
struct RowFilter {
  std::function<bool(const Row&)> wants = [](const Row&) { return true; };
  size_t most = std::numeric_limits<size_t>::max();  // the latest of them
};

/// Everything, after checking it as verify() does: numbers of a changed ledger are not shown.
Result<Contents> read(const std::filesystem::path& file, const RowFilter& filter = {});

using Verified = parley::VerifiedLedger;

/// What an accountant needs of one data set: no charter, no query, no answer.
struct Exported {
  std::string owner;
  Hash head{};
  Dataset dataset;
  uint64_t charges = 0;
  std::vector<std::pair<std::string, uint64_t>> events{};  // DpEvent JSON and how often
};

/// The charges of a data set, which may be left empty where there is one, after checking
/// everything. Row by row, so that memory does not grow with the ledger.
Result<Exported> export_events(const std::filesystem::path& file, const std::string& dataset);

/// Recomputes every hash and the order of rows and rounds, compares every data set with its last
/// 'budget' row and the sum of its charges with its limits. kIntegrity names the first bad row.
Result<Verified> verify(const std::filesystem::path& file);

}  // namespace parley::ledger
