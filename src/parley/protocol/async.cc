#include "parley/protocol/async.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace parley::protocol {
// The learner.

AsyncLearner::AsyncLearner(AsyncPlan plan)
    : Learner(plan.owners.size()),
      plan_(std::move(plan)),
      descent_(plan_.rule),
      seats_(plan_.owners.size()) {
  check(plan_.rule.owners.size() == plan_.owners.size());
}

void AsyncLearner::attend(size_t owner) {
  leave(owner);
  seats_[owner].stream.emplace(plan_.charter);
}

void AsyncLearner::leave(size_t owner) {
  seats_[owner].stream.reset();
  seats_[owner].greeted = false;
  if (holder_ == owner) holder_.reset();
}

Result<Step> AsyncLearner::step(size_t owner, ByteView message) {
  check(seats_[owner].stream.has_value());
  auto received = TRY(seats_[owner].stream->receive_from_owner(message));
  const bool greeting = std::holds_alternative<wire::Hello>(received.body);
  if (greeting == seats_[owner].greeted)
    return wrong(plan_.owners[owner],
                 greeting ? "a second greeting" : "a message before its greeting");
  if (!greeting && (finished() || refused())) return Step{};  // It crossed the farewell.
  return std::visit(
      Match{[&](wire::Hello& hello) { return greet(owner, hello); },
            [&](wire::Claim& wanted) { return claim(owner, wanted); },
            [&](wire::ReceivedAnswer& answer) -> Result<Step> { return take(owner, answer); },
            [&](wire::Refusal& refusal) -> Result<Step> {
              refuse(plan_.owners[owner], refusal);
              return Step{.messages = end_all()};
            }},
      received.body);
}

/// An owner that comes back with an answer we never got is asked the same again: its ledger gives
/// what was paid for. One that had not yet answered will claim again when its clock ticks.
Result<Step> AsyncLearner::greet(size_t owner, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  Seat& seat = seats_[owner];
  Step step;
  step.messages.push_back(send(owner, welcome(owner, seat.taken + 1)));
  if (hello.last_round < seat.taken) {  // The proof will stop it; it is asked nothing.
    step.stale = forgot(plan_.owners[owner], hello.last_round, seat.taken);
    return step;
  }
  seat.greeted = true;
  if (finished() || refused()) {
    step.messages.push_back(end(owner));
  } else if (hello.last_round > seat.taken) {
    if (seat.asked.empty()) seat.asked = descent_.middle(owner);
    step.messages.push_back(ask(owner, seat.asked));
  } else {
    seat.asked.clear();
  }
  return step;
}

/// One owner at a time: theta_L must not move between a question and its answer.
Result<Step> AsyncLearner::claim(size_t owner, const wire::Claim& claim) {
  Seat& seat = seats_[owner];
  if (claim.round != seat.taken + 1 || claim.round > plan_.answers)
    return wrong(plan_.owners[owner], "a claim for round " + std::to_string(claim.round) +
                                          " after " + std::to_string(seat.taken) + " of " +
                                          std::to_string(plan_.answers) + " answers");
  if (!seat.asked.empty()) return wrong(plan_.owners[owner], "a claim instead of its answer");
  const bool broadcast = plan_.contact == charter::Contact::kBroadcast;
  Step step;
  if (holder_ || (broadcast && called_.empty())) {
    step.messages.push_back(send(owner, wire::Grant{claim.round, false}));
    return step;
  }
  holder_ = owner;
  seat.asked = broadcast ? descent_.middle(owner, called_) : descent_.middle(owner);
  called_.clear();
  step.messages.push_back(broadcast ? send(owner, wire::Grant{claim.round, true})
                                    : ask(owner, seat.asked));
  return step;
}

std::vector<Outgoing> AsyncLearner::call() {
  std::vector<Outgoing> out;
  if (finished() || refused() || holder_) return out;
  called_.assign(descent_.theta().begin(), descent_.theta().end());
  for (size_t owner = 0; owner < seats_.size(); ++owner) {
    const Seat& seat = seats_[owner];
    if (seat.greeted && seat.asked.empty() && seat.taken < plan_.answers)
      out.push_back(ask(owner, descent_.middle(owner, called_)));
  }
  return out;
}

Result<Step> AsyncLearner::take(size_t owner, wire::ReceivedAnswer& answer) {
  Seat& seat = seats_[owner];
  if (seat.asked.empty()) return wrong(plan_.owners[owner], "an answer to no question");
  TRY(check_answer(owner, answer));
  TRY(check_signed(owner, answer, gate::query_hash(plan_.charter, answer.round, seat.asked)));
  descend(owner, answer);
  if (holder_ == owner) holder_.reset();
  Step step{.messages = {}, .taken = std::move(answer)};
  if (finished()) step.messages = end_all();
  return step;
}

Result<void> AsyncLearner::check_answer(size_t owner, const wire::ReceivedAnswer& answer) const {
  const uint32_t due = seats_[owner].taken + 1;
  if (finished()) return wrong(plan_.owners[owner], "an answer after the last round");
  if (answer.round != due || answer.receipt.round != due || due > plan_.answers)
    return wrong(plan_.owners[owner], "an answer to round " + std::to_string(answer.round) +
                                          " of " + std::to_string(plan_.answers) + " when " +
                                          std::to_string(due) + " was due");
  if (answer.values.size() != plan_.rule.dimension)
    return wrong(plan_.owners[owner], std::to_string(answer.values.size()) +
                                          " numbers instead of " +
                                          std::to_string(plan_.rule.dimension));
  return {};
}

/// Every signature is looked at: nobody knows which answer of an owner will be its last.
Result<void> AsyncLearner::check_signed(size_t owner, const wire::ReceivedAnswer& answer,
                                        const Hash& question) const {
  const PlannedOwner& who = plan_.owners[owner];
  if (!who.sign_key) return {};
  TRY(check_receipt(who, answer, question, seats_[owner].job));
  return check_signature(plan_.charter, who, answer);
}

void AsyncLearner::descend(size_t owner, const wire::ReceivedAnswer& answer) {
  const double unit = plan_.gamma / static_cast<double>(plan_.owners[owner].rows);
  std::vector<double> gradient;
  for (int64_t value : answer.values) gradient.push_back(unit * static_cast<double>(value));
  descent_.step(owner, gradient);
  Seat& seat = seats_[owner];
  seat.taken = answer.round;
  seat.asked.clear();
  seat.asked.shrink_to_fit();
  seat.epsilon_spent = answer.receipt.epsilon_spent;
  seat.job = answer.receipt.job;
  seat.since = rounds_done();
  keep_newest(owner, plan_.charter, answer);
}

Result<void> AsyncLearner::replay(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const size_t place = TRY(place_of(plan_.owners, owner));
  past_.insert(past_.end(), descent_.theta().begin(), descent_.theta().end());
  TRY(check_answer(place, answer));
  const auto question = question_of(place, answer);
  if (!question) return wrong(plan_.owners[place], "an answer to another question");
  TRY(check_signed(place, answer, *question));
  descend(place, answer);
  return {};
}

/// A transcript has answers only. The owner was asked some time after its last answer, nearly
/// always just before this one: the receipt says when.
std::optional<Hash> AsyncLearner::question_of(size_t owner,
                                              const wire::ReceivedAnswer& answer) const {
  if (!plan_.owners[owner].sign_key) return Hash{};
  const size_t p = plan_.rule.dimension;
  for (uint64_t k = rounds_done() + 1; k-- > seats_[owner].since;) {
    const std::span<const double> theta(&past_[k * p], p);
    const Hash asked = gate::query_hash(plan_.charter, answer.round, descent_.middle(owner, theta));
    if (asked == answer.receipt.query) return asked;
  }
  return std::nullopt;
}

Trained AsyncLearner::trained() const {
  Trained trained{.theta = model()};
  for (const Seat& seat : seats_) {
    trained.spent.push_back({.epsilon = seat.epsilon_spent});
    trained.answers.push_back(seat.taken);
  }
  return trained;
}

Outgoing AsyncLearner::ask(size_t owner, std::span<const double> point) {
  return send(owner, wire::Query{seats_[owner].taken + 1,
                                 privacy::Public::from_model({point.begin(), point.end()})});
}

Outgoing AsyncLearner::end(size_t owner) {
  if (refused()) return send(owner, wire::Abort{refused()->code, refused()->what});
  return send(owner, wire::Finished{model_hash(model())});
}

std::vector<Outgoing> AsyncLearner::end_all() {
  std::vector<Outgoing> out;
  for (size_t owner = 0; owner < seats_.size(); ++owner)
    if (seats_[owner].greeted) out.push_back(end(owner));
  return out;
}

// The owner.

Bytes AsyncOwner::connect() {
  called_.reset();
  busy_ = true;  // Until it is welcomed.
  return Owner::connect();
}

std::optional<Bytes> AsyncOwner::tick() {
  if (finished() || gave_all() || busy_) return std::nullopt;
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
