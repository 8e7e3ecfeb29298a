// What every gate checks before it looks at a record, whatever leaves it: public numbers only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/result.h"
#include "parley/ledger/ledger.h"
#include "parley/privacy/flow.h"

namespace parley::gate {

/// One job in an owner's ledger.
struct JobAccount {
  ledger::Ledger* ledger;
  ledger::DatasetId dataset;
  Hash charter;

  /// The last round of a kind that is in the ledger.
  uint32_t paid(privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer) const {
    return ledger->last_round(charter, kind);
  }
  /// Recognises a receipt that this owner has signed, of any charter; an error stops the owner
  /// (ledger.h).
  Result<void> recognise(const Hash& of, const privacy::Receipt& receipt) const {
    return ledger->recognise(dataset, of, receipt);
  }
};

/// An error: the data is not what the charter was written for.
Error other_data(const std::string& what, uint64_t expected, uint64_t found);

/// An error: the charter does not allow it, or not at this point.
Error not_now(const std::string& what);

/// Is it one of 1 .. last, the rounds that the charter allows?
Result<void> check_round(uint32_t round, uint32_t last);

/// A model that the charter allows to be asked about: of so many coordinates, finite, in the box.
Result<void> check_theta(std::span<const double> theta, size_t coordinates, double box);

/// Theta with zero for numbers so small that their products may be denormal (checks.cc).
std::vector<double> without_tiny(std::span<const double> theta);

/// SHA-256 that names a query: charter, round, the exact bits of theta and, unless it is for an
/// answer, what is asked.
Hash query_hash(const Hash& charter, uint32_t round, std::span<const double> theta,
                privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer);

}  // namespace parley::gate
