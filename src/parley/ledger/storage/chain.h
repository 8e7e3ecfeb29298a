// The chain: which row may come next, and what all rows so far add up to. Opening, verifying and
// writing go through the same rules, so that nothing is written that verification would refuse.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parley/ledger/events.h"

namespace parley::ledger {

/// A row that a peer has our signature for, and where it belongs.
struct LostRow {
  Hash charter{};
  int64_t round = 0;
  Missing row{};
};

class Chain {
 public:
  /// `origin` is the hash of the ledger's own row, which the first row follows.
  explicit Chain(const Hash& origin) : head_(origin) {}

  /// Adds a data set, or gives a known one another budget. A 'budget' row that says the same must
  /// follow.
  void declare(Dataset dataset);

  /// Whether `row` may come next. kIntegrity, with the row in `where`, if not.
  Result<void> accepts(const Row& row) const;

  /// Adds a row that was accepted.
  void extend(const Row& row);

  /// Whether every data set is what its last 'budget' row says, and nothing is announced that did
  /// not follow. True after every transaction.
  Result<void> is_complete() const;

  /// kIntegrity while peers have receipts of rows that are missing here.
  Result<void> is_current() const;

  /// Would `cost`, `times` times, and `then` once after them stay within the budget?
  /// kBudgetExhausted with the numbers if not; kIntegrity while rows are missing.
  Result<void> can_afford(int64_t dataset, const privacy::Cost& cost, uint32_t times,
                          const std::optional<privacy::Cost>& then = std::nullopt) const;

  /// What the owner says about an answer: the same when it is replayed, whatever was charged later.
  privacy::Receipt receipt(const Row& answer) const;

  int64_t size() const { return size_; }
  const Hash& head() const { return head_; }
  uint32_t last_round(const Hash& charter,
                      privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer) const;
  /// The row of a round that was answered.
  int64_t row_of(const Hash& charter, privacy::ReleaseKind kind, uint32_t round) const;
  /// The one data set that a charter has been charged to; 0 before its first charge.
  int64_t dataset_of(const Hash& charter) const;
  const Dataset& dataset(int64_t id) const;
  const Dataset* find(const std::string& name) const;
  bool is_charged(int64_t dataset) const { return accounts_.at(dataset).charged; }
  std::vector<Dataset> datasets() const;

  bool is_approved(const Hash& charter) const { return approved_.contains(charter); }
  /// The row that stands for one of this hash, which an older copy had forgotten; 0 if none does.
  int64_t restored(const Hash& chain) const;
  /// The same the other way: the hash that peers know this row by.
  const Hash& known_as(const Row& row) const;
  /// What peers have receipts of and this ledger has not, by hash. Until it is empty nothing is
  /// paid.
  const std::map<Hash, LostRow>& missing() const { return missing_; }

 private:
  struct Account {
    Dataset dataset;
    bool charged = false;
    std::optional<Dataset> declared{};  // by the last 'budget' row
  };
  /// When a round was answered.
  struct Moment {
    privacy::Spent spent;  // on the charter
    double delta_convert;  // of the budget in force
    Hash job;              // of all questions and answers so far of its kind
    int64_t row;
  };
  struct Job {
    int64_t dataset = 0;
    privacy::Spent spent;
    std::array<std::vector<Moment>, privacy::kReleaseKinds> after;  // by kind; [k - 1]: of round k
  };
  /// A 'restored' row, whose charge must be the next.
  struct Announced {
    int64_t dataset = 0;
    Hash query{};
    LostRow lost{};
    std::optional<Hash> job{};
  };

  Result<void> accepts_budget(const Row& row, const Account& account) const;
  Result<void> accepts_charge(const Row& row, const Account& account) const;
  bool is_announced(const Row& row) const;
  void extend_note(const Row& row);
  void extend_charge(const Row& row);

  int64_t size_ = 0;
  Hash head_;
  std::map<int64_t, Account> accounts_;
  std::map<Hash, Job> jobs_;            // by charter
  std::map<Hash, Approved> approved_;   // by charter
  std::map<Hash, LostRow> missing_;     // by the row's hash
  std::map<Hash, int64_t> restored_;    // the same, to the row that stands for it
  std::map<int64_t, Hash> stands_for_;  // and back
  std::optional<Announced> announced_{};
};

}  // namespace parley::ledger
