// Checks a learner: from a charter and the signed answers in a transcript the model is computed
// again, bit for bit, and every epsilon is added up in another way than the ledger's. What is
// checked:
//
//   every answer     an owner of the charter signed these numbers, at the charter's price
//   every owner      rounds 1, 2, ... to the last, each once; the claimed total is the sum
//   all answers      each question follows from the answers before it
//   the model file   it is what a learner with these answers would have written
//   ledgers, where   every receipt is a row of them, and no answer is missing
//   given
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/model.h"
#include "parley/learn/vertical/model_part.h"
#include "parley/ledger/read.h"
#include "parley/verify.h"
#include "parley/wire/transcript.h"

namespace parley::protocol {

/// All of it comes from others and is believed only as far as it fits together.
struct Evidence {
  const charter::Charter& charter;  // with its bundle
  const data::Rows* pilot;          // the charter's; null where it has none
  const learn::Model& model;
  const wire::Transcript& transcript;
  /// SHA-256 of the transcript's file, which the model names; none of an unpacked one.
  std::optional<Hash> file{};
  std::vector<ledger::Contents> ledgers{};
  /// Where the learner has tuned the model on its own rows and published that: the model is this.
  struct Published {
    const charter::Charter& charter;  // of which the other is the learner's job
    const wire::Entry& release;
  };
  std::optional<Published> published{};
  /// Of protocol sharing, in place of the model: what binds the parts that the owners keep.
  const learn::Manifest* manifest = nullptr;
};

using parley::VerifyResult;

/// An error means that there is nothing to verify, such as a draft; what is false is a finding.
Result<VerifyResult> verify(const Evidence& evidence);

}  // namespace parley::protocol
