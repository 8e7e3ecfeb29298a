// The chain: which row may come next, and what all rows so far add up to. Opening, verifying and
// writing go through the same rules, so that nothing is written that verification would refuse.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parley/ledger/row.h"
#include "parley/privacy/flow.h"

namespace parley::ledger {

class Chain {
 public:
  /// `origin` is the hash of the ledger's own row, which the first row follows.
  explicit Chain(const Hash& origin) : head_(origin) {}

  /// Adds a data set, or gives one that has no charges yet another budget. A 'budget' row that says
  /// the same must follow.
  void declare(Dataset dataset);

  /// Whether `row` may come next. kIntegrity, with the row in `where`, if not.
  Result<void> accepts(const Row& row) const;

  /// Adds a row that was accepted.
  void extend(const Row& row);

  /// Whether every data set is what its last 'budget' row says. True after every transaction.
  Result<void> is_complete() const;

  /// Would `cost`, `times` times, stay within the budget? kBudgetExhausted with the numbers if not.
  Result<void> can_afford(int64_t dataset, const privacy::Cost& cost, uint32_t times) const;

  /// What the owner says about an answer: the same when it is replayed, whatever was charged later.
  privacy::Receipt receipt(const Row& answer) const;

  int64_t size() const { return size_; }
  const Hash& head() const { return head_; }
  uint32_t last_round(const Hash& charter) const;
  /// The one data set that a charter has been charged to; 0 before its first charge.
  int64_t dataset_of(const Hash& charter) const;
  const Dataset& dataset(int64_t id) const;
  const Dataset* find(const std::string& name) const;
  bool is_charged(int64_t dataset) const { return accounts_.at(dataset).charged; }
  std::vector<Dataset> datasets() const;

 private:
  struct Account {
    Dataset dataset;
    bool charged = false;
    std::string declared{};  // the event of the last 'budget' row
  };
  struct Job {
    int64_t dataset = 0;
    privacy::Spent spent;
    struct Round {
      privacy::Spent spent;
      Hash job;
    };
    std::vector<Round> after{};  // after[k - 1]: when round k was answered
  };

  Result<void> accepts_charge(const Row& row, const Account& account) const;

  int64_t size_ = 0;
  Hash head_;
  std::map<int64_t, Account> accounts_;
  std::map<Hash, Job> jobs_;  // by charter
};

/// What a 'budget' row says, so that the budget is under the chain's hash.
std::string budget_event(const Dataset& dataset);

/// Whether the limits of the tracks amount to no more than epsilon and delta.
bool keeps_promise(const privacy::Budget& budget);

}  // namespace parley::ledger
