// The gate of an owner whose answers leave only in a sum over owners:
//
//   query --validate--> theta --ClipAndSum--> Bounded --Ledger::pay_share(noise, Mask)--> Masked
//
// Like Gate it holds against any learner. Unlike it, nothing is replayed: a masked vector is of use
// in one aggregation only, and another one is another payment with other noise
// (docs/decisions/0018-a-share-is-paid-for-each-sum.md).
#pragma once

#include <array>
#include <optional>
#include <span>

#include "parley/base/entropy.h"
#include "parley/gate/checks.h"
#include "parley/gate/clip_and_sum.h"
#include "parley/gate/noise_queue.h"
#include "parley/ledger/ledger.h"
#include "parley/plan/secagg_terms.h"

namespace parley::gate {

class SecaggGate {
 public:
  /// Refuses a job that the records do not fit or the budget cannot pay to its end; nothing is
  /// spent. For local steps shrinks the records, once; for distances brings them into the metric,
  /// which the terms must have. Draws the first noise.
  static Result<SecaggGate> open(Records records, plan::SecaggTerms terms, ledger::Ledger& ledger,
                                 ledger::DatasetId dataset, Entropy& entropy, Pass pass);

  using Kind = privacy::ReleaseKind;
  /// Might this be asked? Nothing is spent.
  Result<void> validate(std::span<const double> theta, Kind kind = Kind::kAnswer) const;

  /// This owner's part of aggregation `attempt` of the job, which starts from theta or evaluates
  /// it.
  Result<privacy::Masked> share(uint32_t attempt, std::span<const double> theta, privacy::Mask mask,
                                Kind kind = Kind::kAnswer);

  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) {
    return account_.recognise(charter, receipt);
  }
  /// Aggregations it has paid for.
  uint32_t paid(Kind kind = Kind::kAnswer) const { return account_.paid(kind); }
  /// Has it given all that the charter asks for?
  bool is_done() const;
  /// How many numbers an aggregation has.
  size_t numbers(Kind kind) const { return terms_.of(kind)->numbers; }
  const plan::SecaggTerms& terms() const { return terms_; }

  /// Draws the noise of coming aggregations. Called when no one waits.
  void draw_ahead();

 private:
  SecaggGate(Records records, plan::SecaggTerms terms, ledger::Ledger& ledger,
             ledger::DatasetId dataset, Entropy& entropy, Pass pass);
  privacy::Bounded<L2> part_at(uint32_t attempt, std::span<const double> theta, Kind kind) const;
  Result<void> is_payable(Kind kind) const;
  /// Might sums of this kind come next, or soon?
  Result<void> is_due(Kind kind) const;

  using Noise = NoiseQueue<privacy::SharedMechanisms>;
  Noise& noise(Kind kind) { return noise_[static_cast<size_t>(kind)]; }
  Records records_;
  plan::SecaggTerms terms_;
  JobAccount account_;
  Entropy* entropy_;
  Pass pass_;
  /// By kind; of answers two are drawn ahead.
  std::array<Noise, privacy::kReleaseKinds> noise_{Noise{2}, Noise{1}, Noise{1}, Noise{1},
                                                   Noise{1}};
};

/// SHA-256 that names what is asked: charter, aggregation, the exact bits of theta and, of an
/// evaluation, that.
Hash share_query_hash(const Hash& charter, uint32_t attempt, std::span<const double> theta,
                      privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer);

}  // namespace parley::gate
