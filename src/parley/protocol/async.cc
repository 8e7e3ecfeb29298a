#include "parley/protocol/async.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace parley::protocol {
namespace {

/// For dispatch on the kind of a message.
template <class... F>
struct Match : F... {
  using F::operator()...;
};

Result<void> check_version(uint32_t version) {
  if (version == wire::kVersion) return {};
  return Error{Code::kIntegrity,
               "the peer speaks version " + std::to_string(version) + " of the wire, we speak " +
                   std::to_string(wire::kVersion),
               "Install the same version of Parley on both sides."};
}

}  // namespace

// The learner.

AsyncLearner::AsyncLearner(AsyncPlan plan)
    : plan_(std::move(plan)), descent_(plan_.rule), seats_(plan_.owners.size()) {
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
    return wrong(owner, greeting ? "a second greeting" : "a message before its greeting");
  if (!greeting && (finished() || refused_)) return Step{};  // It crossed the farewell.
  return std::visit(
      Match{[&](wire::Hello& hello) { return greet(owner, hello); },
            [&](wire::Claim& wanted) { return claim(owner, wanted); },
            [&](wire::ReceivedAnswer& answer) -> Result<Step> { return take(owner, answer); },
            [&](wire::Refusal& refusal) { return refuse(owner, refusal); }},
      received.body);
}

/// An owner that comes back with an answer we never got is asked the same again: its ledger gives
/// what was paid for. One that had not yet answered will claim again when its clock ticks.
Result<Step> AsyncLearner::greet(size_t owner, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  Seat& seat = seats_[owner];
  if (hello.last_round < seat.taken)
    return Error{Code::kIntegrity,
                 plan_.owners[owner].name + "'s ledger knows " + std::to_string(hello.last_round) +
                     " answers, the transcript has " + std::to_string(seat.taken) + " signed by it",
                 "Its ledger was replaced by an older copy: it must not go on."};
  seat.greeted = true;
  Step step;
  step.messages.push_back(send(owner, wire::Welcome{wire::kVersion, seat.taken + 1}));
  if (finished() || refused_) {
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
    return wrong(owner, "a claim for round " + std::to_string(claim.round) + " after " +
                            std::to_string(seat.taken) + " of " + std::to_string(plan_.answers) +
                            " answers");
  if (!seat.asked.empty()) return wrong(owner, "a claim instead of its answer");
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
  if (finished() || refused_ || holder_) return out;
  called_.assign(descent_.theta().begin(), descent_.theta().end());
  for (size_t owner = 0; owner < seats_.size(); ++owner) {
    const Seat& seat = seats_[owner];
    if (seat.greeted && seat.asked.empty() && seat.taken < plan_.answers)
      out.push_back(ask(owner, descent_.middle(owner, called_)));
  }
  return out;
}

Result<Step> AsyncLearner::refuse(size_t owner, const wire::Refusal& refusal) {
  refused_ = Error{refusal.code, plan_.owners[owner].name + " refused: " + refusal.text};
  return Step{.messages = end_all()};
}

Result<Step> AsyncLearner::take(size_t owner, wire::ReceivedAnswer& answer) {
  Seat& seat = seats_[owner];
  if (seat.asked.empty()) return wrong(owner, "an answer to no question");
  TRY(check_answer(owner, answer));
  TRY(check_receipt(owner, answer, gate::query_hash(plan_.charter, answer.round, seat.asked)));
  descend(owner, answer);
  if (holder_ == owner) holder_.reset();
  Step step{.messages = {}, .taken = std::move(answer)};
  if (finished()) step.messages = end_all();
  return step;
}

Result<void> AsyncLearner::check_answer(size_t owner, const wire::ReceivedAnswer& answer) const {
  const uint32_t due = seats_[owner].taken + 1;
  if (finished()) return wrong(owner, "an answer after the last round");
  if (answer.round != due || answer.receipt.round != due || due > plan_.answers)
    return wrong(owner, "an answer to round " + std::to_string(answer.round) + " of " +
                            std::to_string(plan_.answers) + " when " + std::to_string(due) +
                            " was due");
  if (answer.values.size() != plan_.rule.dimension)
    return wrong(owner, std::to_string(answer.values.size()) + " numbers instead of " +
                            std::to_string(plan_.rule.dimension));
  return {};
}

/// A receipt must be for this question, these numbers and all before them. Every signature is
/// looked at: nobody knows which answer of an owner will be its last.
Result<void> AsyncLearner::check_receipt(size_t owner, const wire::ReceivedAnswer& answer,
                                         const Hash& question) const {
  const AsyncPlan::Owner& who = plan_.owners[owner];
  const privacy::Receipt& receipt = answer.receipt;
  if (!who.sign_key) return {};
  if (receipt.query != question) return wrong(owner, "an answer to another question");
  if (receipt.answer != sha256(bytes_of(answer.values)))
    return wrong(owner, "a receipt for other numbers");
  if (receipt.job != privacy::job_after(seats_[owner].job, receipt.query, receipt.answer))
    return wrong(owner, "a receipt of another job");
  const Bytes bytes = wire::signed_bytes(plan_.charter, who.name, receipt);
  if (answer.signature && is_signed(*who.sign_key, bytes, *answer.signature)) return {};
  return Error{Code::kIntegrity,
               who.name + " sent a receipt that its sign_key in the charter did not sign",
               "Its policy must name the key that `parley join` made for this charter."};
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
}

Result<void> AsyncLearner::replay(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const auto found = std::find_if(plan_.owners.begin(), plan_.owners.end(),
                                  [&](const auto& each) { return each.name == owner; });
  if (found == plan_.owners.end())
    return Error{Code::kIntegrity, "an answer of '" + owner + "', who is not in the charter"};
  const auto place = static_cast<size_t>(found - plan_.owners.begin());
  past_.insert(past_.end(), descent_.theta().begin(), descent_.theta().end());
  TRY(check_answer(place, answer));
  const auto question = question_of(place, answer);
  if (!question) return wrong(place, "an answer to another question");
  TRY(check_receipt(place, answer, *question));
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

std::vector<JobSpent> AsyncLearner::spent() const {
  std::vector<JobSpent> spent;
  for (const Seat& seat : seats_) spent.push_back({.epsilon = seat.epsilon_spent});
  return spent;
}

std::vector<uint32_t> AsyncLearner::answers() const {
  std::vector<uint32_t> answers;
  for (const Seat& seat : seats_) answers.push_back(seat.taken);
  return answers;
}

Outgoing AsyncLearner::ask(size_t owner, std::span<const double> point) {
  return send(owner, wire::Query{seats_[owner].taken + 1,
                                 privacy::Public::from_model({point.begin(), point.end()})});
}

Outgoing AsyncLearner::end(size_t owner) {
  if (refused_) return send(owner, wire::Abort{refused_->code, refused_->what});
  return send(owner, wire::Finished{model_hash(model())});
}

std::vector<Outgoing> AsyncLearner::end_all() {
  std::vector<Outgoing> out;
  for (size_t owner = 0; owner < seats_.size(); ++owner)
    if (seats_[owner].greeted) out.push_back(end(owner));
  return out;
}

Error AsyncLearner::wrong(size_t owner, const std::string& what) const {
  return {Code::kIntegrity, plan_.owners[owner].name + " sent " + what};
}

// The owner.

AsyncOwner::AsyncOwner(const Hash& charter, std::string name, charter::Contact contact,
                       gate::Gate gate, std::optional<SigningKey> key)
    : charter_(charter),
      name_(std::move(name)),
      contact_(contact),
      stream_(charter),
      gate_(std::move(gate)),
      key_(std::move(key)) {}

Bytes AsyncOwner::connect() {
  stream_ = wire::Stream(charter_);
  called_.reset();
  busy_ = true;  // Until it is welcomed.
  return stream_.send(wire::Hello{wire::kVersion, gate_.last_round()});
}

std::optional<Bytes> AsyncOwner::tick() {
  if (finished_ || gave_all() || busy_) return std::nullopt;
  const uint32_t next = gate_.last_round() + 1;
  if (contact_ == charter::Contact::kBroadcast && (!called_ || called_->round != next))
    return std::nullopt;
  busy_ = true;
  return stream_.send(wire::Claim{next});
}

Result<std::optional<Bytes>> AsyncOwner::step(ByteView message) {
  refused_.reset();
  auto received = TRY(stream_.receive_to_owner(message));
  using Reply = Result<std::optional<Bytes>>;
  return std::visit(
      Match{[&](wire::Welcome& welcome) -> Reply {
              TRY(be_welcomed(welcome));
              busy_ = welcome.next_round <= gate_.last_round();  // An answer is missed: first that.
              return std::optional<Bytes>();
            },
            [&](wire::ReceivedQuery& query) -> Reply { return consider(std::move(query)); },
            [&](wire::Grant& grant) -> Reply { return be_granted(grant); },
            [&](wire::Finished& finished) -> Reply {
              finished_ = finished.model;
              return std::optional<Bytes>();
            },
            [&](wire::Abort& abort) -> Reply {
              return Error{abort.code, "the learner ended the job: " + abort.text};
            }},
      received.body);
}

/// What was called is not answered before it is granted, unless the answer is in the ledger.
Result<std::optional<Bytes>> AsyncOwner::consider(wire::ReceivedQuery query) {
  const bool paid = query.round <= gate_.last_round();
  if (contact_ == charter::Contact::kOwnerRequests || paid) return answer(query);
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

Result<void> AsyncOwner::be_welcomed(const wire::Welcome& welcome) const {
  TRY(check_version(welcome.version));
  if (welcome.next_round <= gate_.last_round() + 1) return {};
  return Error{Code::kIntegrity,
               "the learner has " + std::to_string(welcome.next_round - 1) +
                   " answers of ours, this ledger knows " + std::to_string(gate_.last_round()),
               "The ledger was replaced by an older copy, which forgets what was spent. Put the "
               "newest one back."};
}

Result<std::optional<Bytes>> AsyncOwner::answer(const wire::ReceivedQuery& query) {
  busy_ = false;
  auto released = gate_.answer(query.round, query.theta);
  if (!released && released.error().code == Code::kFailed) return released.error();
  if (!released) {
    refused_ = released.error();
    return std::optional(stream_.send(wire::Refusal{refused_->code, refused_->what}));
  }
  std::optional<Signature> signature;
  if (key_) signature = key_->sign(wire::signed_bytes(charter_, name_, released->receipt()));
  return std::optional(stream_.send(wire::Answer{*std::move(released), signature}));
}

}  // namespace parley::protocol
