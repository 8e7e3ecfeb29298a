// The gate of an owner: the only way from its records to an answer.
//
//   query --validate--> theta --ClipAndSum--> Bounded --Ledger::pay(noise drawn ahead)--> Released
//
// (EngineSum where the records stay in a database.) It holds against any learner: theta is checked,
// rounds go up by one, noise is added here, and the ledger has the charge and the answer on disk
// before the answer exists for anyone else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "parley/base/entropy.h"
#include "parley/base/result.h"
#include "parley/gate/checks.h"
#include "parley/gate/clip_and_sum.h"
#include "parley/gate/engine/engine_sum.h"
#include "parley/gate/noise_queue.h"
#include "parley/plan/terms.h"
#include "parley/privacy/mechanisms.h"

namespace parley::gate {

/// Here, or in a database.
using AnyRecords = std::variant<Records, EngineRecords>;

class Gate {
 public:
  /// Refuses a job that the records do not fit or the budget cannot pay to its end; nothing is
  /// spent. Draws the first noise.
  static Result<Gate> open(AnyRecords records, plan::Terms terms, ledger::Ledger& ledger,
                           ledger::DatasetId dataset, Entropy& entropy, Pass pass);

  /// The answer to round `round` at theta. A repeated query gets the stored answer, for nothing;
  /// the same round with another theta, or a round out of order, is refused. Whoever is asked to
  /// stop before the payment spends nothing (kUnavailable); this holds for the next two also.
  Result<privacy::Released> answer(uint32_t round, std::span<const double> theta);

  /// The Gram matrix, before the first answer and once. The same again gets what is stored, for
  /// nothing.
  Result<privacy::Released> gram(uint32_t round, std::span<const double> theta);

  /// The noisy loss of the model theta, after the last answer and once; no answer follows it. The
  /// same again gets what is stored, for nothing.
  Result<privacy::Released> evaluate(uint32_t round, std::span<const double> theta);

  Result<void> recognise(const Hash& charter, const privacy::Receipt& receipt) {
    return account_.recognise(charter, receipt);
  }

  /// How many releases are in the ledger, of all kinds.
  uint32_t paid() const;
  /// The last round whose answer is in the ledger.
  uint32_t last_round() const { return account_.paid(); }
  bool gave_every_answer() const { return last_round() >= terms_.answers; }
  /// Has it given all that the charter asks for?
  bool is_done() const { return terms_.evaluation ? !evaluation_is_due() : gave_every_answer(); }

  /// Draws the noise of coming answers. Called when no one waits: how long it takes depends on the
  /// noise.
  void draw_ahead();

 private:
  Gate(AnyRecords records, std::optional<plan::SqlQuestions> questions, plan::Terms terms,
       ledger::Ledger& ledger, ledger::DatasetId dataset, Entropy& entropy, Pass pass);
  Result<void> go_on() const;
  bool evaluation_is_due() const;
  bool gram_is_due() const;
  template <class Norm>
  Result<privacy::Bounded<Norm>> sum_at(std::span<const double> theta) const;
  template <class Norm>
  Result<privacy::Bounded<Norm>> evaluation_at(std::span<const double> theta) const;

  AnyRecords records_;
  std::optional<plan::SqlQuestions> questions_;  // of records in a database
  plan::Terms terms_;
  JobAccount account_;
  Entropy* entropy_;
  Pass pass_;
  NoiseQueue<privacy::Mechanisms> noise_{8}, gram_noise_{1}, evaluation_noise_{1};
};

}  // namespace parley::gate
