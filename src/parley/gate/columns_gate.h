// The gate of an owner that holds columns of shared records. What it gives out are numbers for
// arithmetic under masks (protocol/sharing/gradients.h), never to be sent as they are; and nothing
// masked may leave before its round is paid for here.
#pragma once

#include <span>
#include <vector>

#include "parley/gate/clip_and_sum.h"
#include "parley/gate/sharing_terms.h"
#include "parley/learn/sharing/integer_rows.h"
#include "parley/ledger/ledger.h"

namespace parley::gate {

class ColumnsGate {
 public:
  /// Refuses a job that the records do not fit or the budget cannot pay to its end; nothing is
  /// spent.
  static Result<ColumnsGate> open(const Records& records, SharingTerms terms, size_t owner,
                                  ledger::Ledger& ledger, ledger::DatasetId dataset);

  const SharingTerms& terms() const { return terms_; }
  size_t owner() const { return owner_; }
  const learn::IntegerRows& columns() const { return columns_; }
  /// u of this owner at x; where it holds the labels, minus them.
  std::vector<int64_t> scores(std::span<const double> x) const;

  /// Charges one round, on disk when it returns. The same again costs nothing; the same round for
  /// another question, or with something else to leave, is refused.
  Result<privacy::Released> pay(uint32_t round, const Hash& question, const Hash& what_leaves);

  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) {
    return ledger_->recognise(dataset_, charter, receipt);
  }
  uint32_t last_round() const { return ledger_->last_round(terms_.charter); }

 private:
  ColumnsGate(const learn::AnyRows& rows, SharingTerms terms, size_t owner, ledger::Ledger& ledger,
              ledger::DatasetId dataset);

  SharingTerms terms_;
  size_t owner_;
  learn::IntegerRows columns_;
  std::vector<int64_t> labels_{};  // empty where another owner holds them
  ledger::Ledger* ledger_;
  ledger::DatasetId dataset_;
};

/// What a round asks: the dealer's seed for this owner names all masks of all parties.
Hash sharing_question(const Hash& charter, uint32_t round, ByteView seed);

}  // namespace parley::gate
