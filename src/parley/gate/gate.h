// The gate of an owner: the only way from its records to an answer.
//
//   query --validate--> theta --ClipAndSum--> Bounded --Ledger::pay(noise drawn ahead)--> Released
//
// It holds against any learner: theta is checked, rounds go up by one, noise is added here, and the
// ledger has the charge and the answer on disk before the answer exists for anyone else.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>

#include "parley/base/entropy.h"
#include "parley/base/result.h"
#include "parley/gate/clip_and_sum.h"
#include "parley/ledger/ledger.h"
#include "parley/plan/terms.h"
#include "parley/privacy/mechanisms.h"

namespace parley::gate {

class Gate {
 public:
  /// Refuses a job that the records do not fit or the budget cannot pay to its end; nothing is
  /// spent. Draws the first noise.
  static Result<Gate> open(Records records, plan::Terms terms, ledger::Ledger& ledger,
                           ledger::DatasetId dataset, Entropy& entropy, int threads);

  /// The answer to round `round` at theta. A repeated query gets the stored answer, for nothing;
  /// the same round with another theta, or a round out of order, is refused.
  Result<privacy::Released> answer(uint32_t round, std::span<const double> theta);

  /// The noisy loss of the model theta, after the last answer and once; no answer follows it. The
  /// same again gets what is stored, for nothing.
  Result<privacy::Released> evaluate(uint32_t round, std::span<const double> theta);

  /// Recognises a receipt that this owner has signed, of any charter; an error stops the owner
  /// (ledger.h).
  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) {
    return ledger_->recognise(dataset_, charter, receipt);
  }

  /// The last round whose answer is in the ledger.
  uint32_t last_round() const { return ledger_->last_round(terms_.charter); }
  bool gave_every_answer() const { return last_round() >= terms_.answers; }
  /// Has it given all that the charter asks for?
  bool is_done() const { return terms_.evaluation ? !evaluation_is_due() : gave_every_answer(); }

  /// Draws the noise of coming answers. Called when no one waits: how long it takes depends on the
  /// noise.
  void draw_ahead();

 private:
  Gate(Records records, plan::Terms terms, ledger::Ledger& ledger, ledger::DatasetId dataset,
       Entropy& entropy, int threads);
  Result<void> validate(std::span<const double> theta) const;
  Result<void> check_round(uint32_t round, uint32_t last) const;
  bool evaluation_is_due() const;
  template <class Norm>
  privacy::Bounded<Norm> sum_at(std::span<const double> theta) const;

  Records records_;
  plan::Terms terms_;
  ledger::Ledger* ledger_;
  ledger::DatasetId dataset_;
  Entropy* entropy_;
  int threads_;
  std::deque<privacy::DrawnNoise> noise_;  // one for each coming answer, none used twice
  std::optional<privacy::DrawnNoise> evaluation_noise_{};
};

/// Theta without numbers so small that their products take a processor longer.
std::vector<double> without_tiny(std::span<const double> theta);

/// SHA-256 that names a query: charter, round, the exact bits of theta and, unless it is for an
/// answer, what is asked.
Hash query_hash(const Hash& charter, uint32_t round, std::span<const double> theta,
                privacy::ReleaseKind kind = privacy::ReleaseKind::kAnswer);

}  // namespace parley::gate
