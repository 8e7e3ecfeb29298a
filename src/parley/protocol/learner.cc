#include "parley/protocol/learner.h"

#include <algorithm>

#include "parley/base/printable.h"

namespace parley::protocol {

Step Learner::decide(bool) { return check(false), Step{}; }  // Nothing was tested.

wire::Welcome Learner::welcome(size_t owner, uint32_t next_round) const {
  wire::Welcome welcome{wire::kVersion, next_round, {}};
  for (const auto& proof : {remembered_[owner], newest_[owner]})
    if (proof) welcome.proofs.push_back(*proof);
  return welcome;
}

void Learner::keep_newest(size_t owner, const Hash& charter, const wire::ReceivedAnswer& answer) {
  if (answer.signature) newest_[owner] = {charter, answer.receipt, *answer.signature};
}

Error refusal_of(const PlannedOwner& owner, const wire::Refusal& refusal) {
  return {refusal.code, owner.name + " refused: " + refusal.text};
}

Result<size_t> place_of(const std::vector<PlannedOwner>& owners, const std::string& name) {
  const auto found = std::find_if(owners.begin(), owners.end(),
                                  [&](const PlannedOwner& each) { return each.name == name; });
  if (found != owners.end()) return static_cast<size_t>(found - owners.begin());
  return Error{Code::kIntegrity, "an answer of " + in_quotes(name) + ", who is not in the charter"};
}

Error unknown_answers(const PlannedOwner& owner, uint32_t knows) {
  return {Code::kIntegrity,
          owner.name + " has answered " + std::to_string(knows) +
              " questions of this charter, this journal does not know all of them",
          "Resume from the journal of the learner that asked, or agree on another run: without it "
          "these questions cannot be asked again."};
}

Error no_aggregation(const PlannedOwner& owner) {
  return wrong(owner, "a message of secure aggregation, which the charter does not use");
}

Error not_due(const wire::Note& note) {
  return {Code::kIntegrity, "a question of round " + std::to_string(note.round) + " to " +
                                note.owner + ", which was not due"};
}

Error forgot(const PlannedOwner& owner, uint32_t knows, uint32_t gave) {
  return {Code::kIntegrity,
          owner.name + "'s ledger knows " + std::to_string(knows) +
              " answers, the transcript has " + std::to_string(gave) + " signed by it",
          "Its ledger was replaced by an older copy: it must be reconciled."};
}

}  // namespace parley::protocol
