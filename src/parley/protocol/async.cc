#include "parley/protocol/async.h"

#include <utility>
#include <variant>

namespace parley::protocol {

// The learner.

AsyncLearner::AsyncLearner(AsyncPlan plan)
    : Learner(plan.owners.size()),
      plan_(std::move(plan)),
      descent_(plan_.rule),
      states_(plan_.owners.size()) {
  check(plan_.rule.owners.size() == plan_.owners.size());
}

void AsyncLearner::attend(size_t owner) {
  leave(owner);
  states_[owner].stream.emplace(plan_.charter);
}

void AsyncLearner::leave(size_t owner) {
  OwnerState& state = states_[owner];
  state.stream.reset();
  state.greeted = state.called = state.waited_for = false;
  if (holder_ == owner) holder_.reset();
}

bool AsyncLearner::awaits(size_t owner) const {
  const OwnerState& state = states_[owner];
  return !finished() && (state.waited_for || (evaluating() && !state.evaluation));
}

Result<Step> AsyncLearner::step(size_t owner, ByteView message) {
  check(states_[owner].stream.has_value());
  auto received = TRY(states_[owner].stream->receive_from_owner(message));
  const bool greeting = std::holds_alternative<wire::Hello>(received.body);
  if (greeting == states_[owner].greeted)
    return wrong(plan_.owners[owner],
                 greeting ? "a second greeting" : "a message before its greeting");
  if (!greeting && (finished() || refused())) return Step{};  // It crossed the farewell.
  return std::visit(
      Match{[&](wire::Hello& hello) { return greet(owner, hello); },
            [&](wire::Claim& wanted) { return claim(owner, wanted); },
            [&](wire::ReceivedAnswer& answer) -> Result<Step> { return take(owner, answer); },
            [&](wire::ReceivedFromMember&) -> Result<Step> {
              return no_aggregation(plan_.owners[owner]);
            },
            [&](wire::Refusal& refusal) -> Result<Step> { return be_refused(owner, refusal); },
            [&](auto&) -> Result<Step> {
              return wrong(plan_.owners[owner], "a message of another protocol");
            }},
      received.body);
}

/// An owner that comes back with an answer we never got is asked the same again: its ledger gives
/// what was paid for. One that had not yet answered will claim again when its clock ticks; until
/// then the question stands, for who greets may be a program beside the one that answers.
Result<Step> AsyncLearner::greet(size_t owner, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  OwnerState& state = states_[owner];
  const PlannedOwner& who = plan_.owners[owner];
  if (hello.last_round > state.taken + (state.asked.empty() ? 0 : 1) && !finished())
    return unknown_answers(who, hello.last_round);
  Step step;
  step.messages.push_back(send(owner, welcome(owner, state.taken + 1)));
  if (hello.last_round < state.taken) {  // The proof will stop it; it is asked nothing.
    step.stale = forgot(who, hello.last_round, state.taken);
    return step;
  }
  state.greeted = true;
  state.refuses = false;
  if (finished() || refused()) {
    step.messages.push_back(end(owner));
  } else if (hello.last_round > state.taken) {
    state.waited_for = true;
    step.messages.push_back(ask(owner, state.asked));
  } else if (awaits(owner)) {
    step.messages.push_back(ask_evaluation(owner));
  }
  return step;
}

/// Where the others have answers enough left, and are enough for the evaluation, they go on.
Step AsyncLearner::be_refused(size_t owner, const wire::Refusal& refusal) {
  states_[owner].refuses = true;
  uint64_t left = 0, others = 0;
  for (const OwnerState& each : states_) {
    if (each.refuses) continue;
    ++others;
    left += plan_.answers - each.taken;
  }
  const Error why = refusal_of(plan_.owners[owner], refusal);
  if (left >= rounds() - rounds_done() && (!plan_.evaluation || others >= plan_.quorum))
    return {.parted = why};
  refuse(why);
  return {.messages = end_all()};
}

/// One owner at a time: theta_L must not move between a question and its answer.
Result<Step> AsyncLearner::claim(size_t owner, const wire::Claim& claim) {
  OwnerState& state = states_[owner];
  if (claim.round != state.taken + 1 || claim.round > plan_.answers)
    return wrong(plan_.owners[owner], "a claim for round " + std::to_string(claim.round) +
                                          " after " + std::to_string(state.taken) + " of " +
                                          std::to_string(plan_.answers) + " answers");
  if (state.waited_for) return wrong(plan_.owners[owner], "a claim instead of its answer");
  const bool broadcast = plan_.contact == charter::Contact::kBroadcast;
  state.called = false;  // Won or lost, it forgets the call.
  Step step;
  if (descent_.finished() || holder_ || (broadcast && !called_)) {
    step.messages.push_back(send(owner, wire::Grant{claim.round, false}));
    return step;
  }
  holder_ = owner;
  called_ = false;
  state.asked = descent_.middle(owner);
  state.waited_for = true;
  step.notes.push_back({wire::Note::Kind::kAsked, plan_.owners[owner].name, claim.round});
  step.messages.push_back(broadcast ? send(owner, wire::Grant{claim.round, true})
                                    : ask(owner, state.asked));
  return step;
}

/// Who holds a call that is still open is not called again.
std::vector<Outgoing> AsyncLearner::call() {
  std::vector<Outgoing> out;
  if (plan_.contact != charter::Contact::kBroadcast || descent_.finished() || refused() || holder_)
    return out;
  const bool again = std::exchange(called_, true);
  for (size_t owner = 0; owner < states_.size(); ++owner) {
    OwnerState& state = states_[owner];
    if (!state.greeted || state.waited_for || state.taken >= plan_.answers) continue;
    if (again && state.called) continue;
    state.called = true;
    out.push_back(ask(owner, descent_.middle(owner)));
  }
  return out;
}

Step AsyncLearner::time_is_up() {
  if (!evaluating() || evaluations_ < plan_.quorum) return {};
  evaluate();
  return {.messages = end_all(), .notes = {{.kind = wire::Note::Kind::kClosed}}};
}

Result<Step> AsyncLearner::take(size_t owner, wire::ReceivedAnswer& answer) {
  const bool trained_before = descent_.finished();
  const bool evaluation = answer.receipt.kind == privacy::ReleaseKind::kEvaluation;
  if (!evaluation && !states_[owner].waited_for)
    return wrong(plan_.owners[owner], "an answer that nobody waits for");
  TRY(evaluation ? take_evaluation(owner, answer) : take_answer(owner, answer));
  if (holder_ == owner) holder_.reset();
  return Step{.messages = go_on(owner, trained_before), .taken = std::move(answer)};
}

/// After the last round of training the evaluation, after that the farewells.
std::vector<Outgoing> AsyncLearner::go_on(size_t owner, bool trained_before) {
  std::vector<Outgoing> out;
  if (finished()) return end_all();
  if (!evaluating()) return out;
  const size_t first = trained_before ? owner : 0,
               last = trained_before ? owner + 1 : states_.size();
  for (size_t i = first; i < last; ++i)
    if (states_[i].greeted && !states_[i].waited_for && !states_[i].evaluation)
      out.push_back(ask_evaluation(i));
  return out;
}

Result<void> AsyncLearner::take_answer(size_t owner, const wire::ReceivedAnswer& answer) {
  const PlannedOwner& who = plan_.owners[owner];
  OwnerState& state = states_[owner];
  const uint32_t due = state.taken + 1;
  if (finished()) return wrong(who, "an answer after the last round");
  if (answer.receipt.kind != privacy::ReleaseKind::kAnswer || answer.round != due ||
      answer.receipt.round != due || due > plan_.answers)
    return wrong(who, "an answer to round " + std::to_string(answer.round) + " of " +
                          std::to_string(plan_.answers) + " when " + std::to_string(due) +
                          " was due");
  if (state.asked.empty()) return wrong(who, "an answer to no question");
  if (answer.values.size() != plan_.rule.dimension)
    return wrong(who, std::to_string(answer.values.size()) + " numbers instead of " +
                          std::to_string(plan_.rule.dimension));
  TRY(check_signed(owner, answer, state.asked, state.job));
  if (!descent_.finished()) descend(owner, answer);
  state.taken = due;
  state.asked = {};
  state.waited_for = false;
  state.job = answer.receipt.job;
  book(owner, answer, 0);
  return {};
}

Result<void> AsyncLearner::take_evaluation(size_t owner, const wire::ReceivedAnswer& answer) {
  const PlannedOwner& who = plan_.owners[owner];
  OwnerState& state = states_[owner];
  if (!evaluating() || state.waited_for) return wrong(who, "an evaluation that was not due");
  if (state.evaluation || answer.round != 1 || answer.receipt.round != 1 ||
      answer.values.size() != plan_.evaluation->size())
    return wrong(who, "an evaluation that is not the one asked for");
  TRY(check_signed(owner, answer, model(), Hash{}));  // Of each kind for itself.
  book(owner, answer, answer.receipt.epsilon_spent - state.spent.epsilon);
  state.evaluation = answer.values;
  if (++evaluations_ == states_.size()) evaluate();
  return {};
}

/// Every signature is looked at: nobody knows which answer of an owner will be its last.
Result<void> AsyncLearner::check_signed(size_t owner, const wire::ReceivedAnswer& answer,
                                        std::span<const double> point, const Hash& before) const {
  const PlannedOwner& who = plan_.owners[owner];
  if (!who.sign_key) return {};
  TRY(check_receipt(who, answer,
                    gate::query_hash(plan_.charter, answer.round, point, answer.receipt.kind),
                    before));
  return check_signature(plan_.charter, who, answer);
}

void AsyncLearner::descend(size_t owner, const wire::ReceivedAnswer& answer) {
  const double unit = plan_.gamma / static_cast<double>(plan_.owners[owner].rows);
  std::vector<double> gradient;
  for (int64_t value : answer.values) gradient.push_back(unit * static_cast<double>(value));
  descent_.step(owner, gradient);
  called_ = false;  // It was for the points as they were.
}

void AsyncLearner::book(size_t owner, const wire::ReceivedAnswer& answer, double evaluation) {
  states_[owner].spent = {answer.receipt.epsilon_spent, evaluation, answer.receipt.delta_spent};
  keep_newest(owner, plan_.charter, answer);
}

void AsyncLearner::evaluate() {
  Answers answers;
  for (const OwnerState& state : states_)
    answers.push_back(state.evaluation ? &*state.evaluation : nullptr);
  evaluation_ = joint_evaluation(*plan_.evaluation, plan_.owners, answers);
}

Result<void> AsyncLearner::replay(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const size_t place = TRY(place_of(plan_.owners, owner));
  return answer.receipt.kind == privacy::ReleaseKind::kEvaluation ? take_evaluation(place, answer)
                                                                  : take_answer(place, answer);
}

Result<void> AsyncLearner::replay(const wire::Note& note) {
  if (note.kind == wire::Note::Kind::kClosed) {
    if (evaluating() && evaluations_ >= plan_.quorum) return evaluate(), Result<void>();
    return Error{Code::kIntegrity, "the end of an evaluation that had not enough answers"};
  }
  const size_t place = TRY(place_of(plan_.owners, note.owner));
  OwnerState& state = states_[place];
  if (note.round != state.taken + 1 || note.round > plan_.answers || descent_.finished())
    return not_due(note);
  state.asked = descent_.middle(place);
  return {};
}

Trained AsyncLearner::trained() const {
  Trained trained{.theta = model(), .evaluation = evaluation_};
  for (const OwnerState& state : states_) {
    trained.spent.push_back(state.spent);
    trained.answers.push_back(state.taken);
  }
  return trained;
}

Outgoing AsyncLearner::ask(size_t owner, std::span<const double> point) {
  return send(owner, wire::Query{states_[owner].taken + 1,
                                 privacy::Public::from_model({point.begin(), point.end()})});
}

Outgoing AsyncLearner::ask_evaluation(size_t owner) {
  return send(owner, wire::Query{1, privacy::Public::from_model(model()),
                                 privacy::ReleaseKind::kEvaluation});
}

Outgoing AsyncLearner::end(size_t owner) {
  if (refused()) return send(owner, wire::Abort{refused()->code, refused()->what});
  return send(owner, wire::Finished{model_hash(model())});
}

std::vector<Outgoing> AsyncLearner::end_all() {
  std::vector<Outgoing> out;
  for (size_t owner = 0; owner < states_.size(); ++owner)
    if (states_[owner].greeted) out.push_back(end(owner));
  return out;
}

// The owner.

Bytes AsyncOwner::connect() {
  called_.reset();
  busy_ = true;  // Until it is welcomed.
  return Owner::connect();
}

std::optional<Bytes> AsyncOwner::tick() {
  if (finished() || gave_every_answer() || busy_) return std::nullopt;
  const uint32_t next = last_round() + 1;
  if (contact_ == charter::Contact::kBroadcast && (!called_ || called_->round != next))
    return std::nullopt;
  busy_ = true;
  return send(wire::Claim{next});
}

Result<void> AsyncOwner::be_welcomed(const wire::Welcome& welcome) {
  TRY(Owner::be_welcomed(welcome));
  busy_ = welcome.next_round <= last_round();  // An answer is missed: first that.
  return {};
}

/// What was called is not answered before it is granted, unless the answer is in the ledger.
Result<std::optional<Bytes>> AsyncOwner::consider(wire::ReceivedQuery query) {
  if (query.kind != privacy::ReleaseKind::kAnswer) return answer(query);
  const bool paid = query.round <= last_round();
  if (contact_ == charter::Contact::kOwnerRequests || paid) {
    busy_ = false;
    return answer(query);
  }
  called_ = std::move(query);  // The newest: a claim that crossed it is for this one.
  return std::optional<Bytes>();
}

Result<std::optional<Bytes>> AsyncOwner::be_granted(const wire::Grant& grant) {
  if (!std::exchange(busy_, false)) return Error{Code::kIntegrity, "a grant that nobody claimed"};
  if (grant.granted && !called_) return Error{Code::kIntegrity, "a grant without a question"};
  const auto called = std::exchange(called_, std::nullopt);
  if (!grant.granted) return std::optional<Bytes>();
  return answer(*called);
}

}  // namespace parley::protocol
