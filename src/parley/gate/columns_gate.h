// The gate of an owner that holds columns of shared records. What it gives out is for arithmetic
// under masks, which alone can look into it (privacy/to_mask.h), or, under noisy sharing, has its
// noise already; and nothing may leave before its round is paid for here.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "parley/base/crypto/shamir.h"
#include "parley/gate/checks.h"
#include "parley/gate/clip_and_sum.h"
#include "parley/gate/noisy_columns.h"
#include "parley/learn/vertical/aligned_rows.h"
#include "parley/learn/vertical/integer_rows.h"
#include "parley/ledger/ledger.h"
#include "parley/plan/vertical_terms.h"
#include "parley/privacy/to_mask.h"

namespace parley::gate {

class ColumnsGate {
 public:
  /// Refuses a job that the records do not fit or the budget cannot pay to its end; nothing is
  /// spent.
  static Result<ColumnsGate> open(const Records& records, plan::VerticalTerms terms, size_t owner,
                                  ledger::Ledger& ledger, ledger::DatasetId dataset);
  /// The same where owners still have to find out which records all of them hold: more than the
  /// charter's may be here.
  static Result<ColumnsGate> open(Records records, learn::Alignment alignment,
                                  plan::VerticalTerms terms, size_t owner, ledger::Ledger& ledger,
                                  ledger::DatasetId dataset);

  bool is_aligned() const { return columns_.has_value(); }
  /// Were records given before it was known which all owners have?
  bool has_to_align() const { return all_.has_value(); }
  /// Digests of all record ids here, in rising order, for the other owners.
  const std::vector<learn::IdDigest>& ids() const { return alignment_.digests; }
  /// Only the records that all other lists hold; returns the hash of what is left. Before it, and
  /// again whenever a list may have changed.
  Result<Hash> align(std::span<const std::vector<learn::IdDigest>> lists);
  /// The same, where it is known which of ids() all have, and in what order.
  Result<void> align(std::span<const uint64_t> common);

  const plan::VerticalTerms& terms() const { return terms_; }
  size_t owner() const { return owner_; }
  size_t width() const { return terms_.columns[owner_]; }

  const privacy::ToMask<learn::IntegerColumns>& columns() const { return *columns_; }
  /// Without a dealer: the leaves that records choose, of which the columns are made.
  const privacy::ToMask<WipedVector<uint32_t>>& leaves() const { return *leaves_; }
  /// The scores u of this owner's columns at x, less the labels where it holds them.
  privacy::ToMask<std::vector<int64_t>> scores(std::span<const double> x) const;
  /// Under rule noisy_sharing.
  NoisyColumns& noisy() { return *noisy_; }

  /// A keyed digest of all columns and labels: without the key nobody can test a guess against it.
  Hash digest(const Secret32& key) const;

  /// Charges one round, on disk when it returns. The same again costs nothing; the same round for
  /// another question, or with something else to leave, is refused.
  Result<privacy::Released> pay(uint32_t round, const Hash& question, const Hash& what_leaves);

  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) {
    return account_.recognise(charter, receipt);
  }
  uint32_t last_round() const { return account_.paid(); }

 private:
  ColumnsGate(plan::VerticalTerms terms, size_t owner, ledger::Ledger& ledger,
              ledger::DatasetId dataset)
      : terms_(std::move(terms)), owner_(owner), account_{&ledger, dataset, terms_.charter} {}
  static Result<ColumnsGate> checked(size_t columns, plan::VerticalTerms terms, size_t owner,
                                     ledger::Ledger& ledger, ledger::DatasetId dataset);
  void take(const data::AnyRows& rows);

  plan::VerticalTerms terms_;
  size_t owner_;
  std::optional<Records> all_{};  // where they are still to be aligned
  learn::Alignment alignment_{};
  std::optional<privacy::ToMask<learn::IntegerColumns>> columns_{};
  std::optional<privacy::ToMask<WipedVector<uint32_t>>> leaves_{};
  std::optional<NoisyColumns> noisy_{};
  JobAccount account_;
};

/// What a round asks: the dealer's seed for this owner names all masks of all parties. Without a
/// dealer there is no seed: a charter asks once.
Hash sharing_question(const Hash& charter, uint32_t round, ByteView seed);

}  // namespace parley::gate
