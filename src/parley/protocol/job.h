// What all protocols share: the parties of a job, the data passed between its parts, and the checks
// that both roles make in every protocol.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/kernel/evaluation_map.h"
#include "parley/learn/model.h"
#include "parley/learn/pilot/wrong_pilot.h"
#include "parley/plan/learner/weights.h"
#include "parley/wire/transcript.h"

namespace parley::protocol {

using plan::PlannedOwner;

/// What an owner has spent on a job.
struct JobSpent {
  double epsilon = 0;
  double evaluation = 0;  // part of it
  double delta = 0;       // at which epsilon is that, by its ledger's delta; 0: at any
};

/// What a learner has come to.
struct Trained {
  std::vector<double> theta{};
  std::vector<JobSpent> spent{};                  // of each owner, by its last receipt
  std::vector<uint32_t> answers{};                // of each owner, its evaluation not counted
  std::optional<learn::Evaluation> evaluation{};  // where the charter asks for one
  std::optional<learn::Distance> distance{};      // under rule "distance"; theta is where it begins
  std::optional<learn::PilotCheck> pilot{};       // of the first answers, where they were tested
  bool stopped = false;                           // by its alarm
  bool fell_back = false;                         // to rule gram, after its alarm
  std::optional<std::string> manifest{};          // in place of theta, where owners keep the parts
};

/// A message for one owner.
struct Outgoing {
  size_t owner = 0;
  Bytes message;
};

/// What a message of an owner led to.
struct Step {
  std::vector<Outgoing> messages{};
  std::optional<wire::ReceivedAnswer> taken{};  // for the journal
  std::vector<wire::Note> notes{};              // likewise, after it
  std::optional<Error> stale{};                 // why this owner is shown its receipt, not asked
  std::optional<Error> parted{};                // it refused, and its stream ends; others go on
};

/// SHA-256 of a model's exact bits.
Hash model_hash(std::span<const double> theta);

/// For dispatch on the kind of a message.
template <class... F>
struct Match : F... {
  using F::operator()...;
};

Result<void> check_version(uint32_t version);

/// What this owner sent is not what it must be.
Error wrong(const PlannedOwner& owner, const std::string& what);

/// A receipt must be for this question, these numbers and all that this owner answered before;
/// `before` is the hash of those.
Result<void> check_receipt(const PlannedOwner& owner, const wire::ReceivedAnswer& answer,
                           const Hash& question, const Hash& before);
/// Of these answers, none where an owner gave no evaluation: the sums over the number of rows
/// behind them, so that every row counts alike, whatever the weights of the training. The noise of
/// owners is independent, so variances add up.
using Answers = std::vector<const std::vector<int64_t>*>;
learn::Evaluation joint_evaluation(const learn::EvaluationMap& map,
                                   const std::vector<PlannedOwner>& owners, const Answers& answers);

Result<void> check_signature(const Hash& charter, const PlannedOwner& owner,
                             const wire::ReceivedAnswer& answer);

}  // namespace parley::protocol
