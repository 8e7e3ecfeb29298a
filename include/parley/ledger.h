// Looking into an owner's ledger: the durable, hash-chained record of every charge and the answer
// it paid for.
//
//   const auto ledger = parley::Ledger::read("/var/lib/parley/bank-a/ledger.db");
//   if (!ledger) return 5;
//   for (const parley::LedgerDataset& data : ledger->datasets())
//     std::cout << data.name << ": spent " << data.pure_spent << " of " << data.pure_max << "\n";
//
// Reading changes nothing, and works while a daemon writes; only run_owner writes. The answers in a
// ledger are noisy and have left already, but the file tells when and how often its owner took
// part: treat it as confidential. A Ledger is a cheap handle to what was read; threads may share
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "parley/bytes.h"
#include "parley/result.h"

namespace parley {

/// A charge goes on exactly one track of a lifetime budget: epsilons add up on the pure one, rho on
/// the zCDP one. The budget's split between them is fixed before the first charge.
enum class Track { kPure, kZcdp };

/// A data set, its lifetime budget and what was spent of it. The promise is (epsilon, delta); it is
/// kept track by track.
struct LedgerDataset {
  std::string name;
  std::string unit;  // whom it protects: "record", or a column that names people; empty: unknown
  double epsilon = 0, delta = 0;
  double pure_spent = 0, pure_max = 0;    // epsilon
  double rho_spent = 0, rho_max = 0;      // rho
  double delta_spent = 0, delta_max = 0;  // of mechanisms with a delta of their own
};

/// One row of the chain.
struct LedgerRow {
  int64_t id = 0;    // 1, 2, 3, ...
  std::string at;    // RFC 3339, UTC
  std::string kind;  // answer | evaluation | count | budget | approval | checkpoint
  std::string dataset;
  Hash charter{};
  int64_t round = 0;
  std::string track;  // pure | zcdp | none
  double cost = 0;    // epsilon or rho on that track
  Hash hash{};        // with which the next row begins
};

class Ledger {
 public:
  /// Reads and checks everything, as verify_ledger does: numbers of a changed ledger are not shown.
  /// kIntegrity names the first bad row; kFailed if the file cannot be read.
  static Result<Ledger> read(const std::filesystem::path& file);

  const std::string& owner() const;
  const std::string& created() const;  // RFC 3339, UTC
  /// Hash of the last row, which vouches for all rows before it.
  Hash head() const;
  /// Rows that peers hold receipts of and this ledger has not: it is an older copy, and pays
  /// nothing until `parley ledger reconcile`.
  size_t missing() const;
  std::vector<LedgerDataset> datasets() const;
  std::vector<LedgerRow> rows() const;
  std::string to_text() const;
  std::string to_json() const;  // parley.ledger/1

  // For the library itself; what Internal is, is no part of the interface.
  struct Internal;
  explicit Ledger(std::shared_ptr<const Internal> internal);
  const Internal& internal() const { return *internal_; }

 private:
  std::shared_ptr<const Internal> internal_;
};

/// A ledger that was found whole.
struct VerifiedLedger {
  std::string owner;
  int64_t rows = 0;
  Hash head{};
  size_t missing = 0;  // rows that peers have receipts of: an older copy, which pays nothing
  int64_t format = 0;
  int64_t checkpoints = 0;  // each signed by the key it names, and true

  std::string to_text() const;
  std::string to_json() const;  // parley.ledger.verify/1
};

/// Recomputes every hash and the order of rows and rounds, and compares every data set with its
/// last budget row and the sum of its charges with its limits. kIntegrity names the first bad row.
Result<VerifiedLedger> verify_ledger(const std::filesystem::path& file);

/// Copies a ledger as it is at one moment, also while a daemon writes it, and verifies the copy.
/// `copy` must not be there yet.
Result<VerifiedLedger> back_up_ledger(const std::filesystem::path& file,
                                      const std::filesystem::path& copy);

/// What an accountant needs of one data set, as JSON (parley.ledger.export/1): its charges, and no
/// charter, question or answer. `dataset` may be empty where there is one. events_from_json of
/// account.h reads it.
Result<std::string> export_ledger(const std::filesystem::path& file,
                                  const std::string& dataset = "");

}  // namespace parley
