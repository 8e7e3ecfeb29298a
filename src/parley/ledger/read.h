// Looking at a ledger without writing: for `parley ledger show|verify`, also while a daemon writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "parley/base/result.h"
#include "parley/ledger/row.h"

namespace parley::ledger {

struct Contents {
  std::string owner;
  std::string created;
  std::vector<Dataset> datasets;
  std::vector<Row> rows;
  Hash head{};  // of the last row
};

/// Everything, after checking it as verify() does: numbers of a changed ledger are not shown.
Result<Contents> read(const std::filesystem::path& file);

struct Verified {
  std::string owner;
  int64_t rows = 0;
  Hash head{};
};

/// Recomputes every hash and the order of rows and rounds, compares every data set with its last
/// 'budget' row and the sum of its charges with its limits. kIntegrity names the first bad row.
Result<Verified> verify(const std::filesystem::path& file);

}  // namespace parley::ledger
