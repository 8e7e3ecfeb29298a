#include "parley/protocol/federated/learner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <ranges>
#include <utility>
#include <variant>

#include "parley/base/math/noise_floor.h"
#include "parley/gate/secagg_gate.h"
#include "parley/learn/statistics.h"
#include "parley/ledger/storage/row.h"
#include "parley/plan/sums/distance.h"
#include "parley/protocol/federated/messages.h"

namespace parley::protocol {
namespace {

/// Of one neighbour in the longest list that an owner sends, names included, in words of 8 bytes.
constexpr size_t kWordsPerNeighbour = 64;

}  // namespace

struct FederatedLearner::Attempt {
  enum class Phase { kKeys, kReveals, kShares, kMasked, kConsents, kUnmask };

  AggregationPlan plan;
  AggregationServer server;
  Phase phase = Phase::kKeys;
  std::set<size_t> members{};  // who has been there from the beginning
  std::set<size_t> awaited{};  // of them, whose message of this phase is missing

  explicit Attempt(AggregationPlan of) : plan(std::move(of)), server(plan) {}
};

FederatedLearner::FederatedLearner(FederatedPlan plan)
    : Learner(plan.owners.size()),
      plan_(std::move(plan)),
      states_(plan_.owners.size()),
      approvals_(plan_.owners.size()),
      descent_(plan_.schedule, plan_.box, plan_.l2) {}

FederatedLearner::~FederatedLearner() = default;

std::vector<double> FederatedLearner::point() const {
  const auto at = evaluating() ? model() : descent_.theta();
  return {at.begin(), at.end()};
}

privacy::ReleaseKind FederatedLearner::due() const {
  using enum privacy::ReleaseKind;
  if (evaluating()) return kEvaluation;
  const bool first = plan_.gram && !plan_.gram->after_alarm;
  if (!gram_known_ && (first || after_alarm())) return kGram;
  return after_alarm() ? kAfterAlarm : kAnswer;
}

uint32_t FederatedLearner::most(privacy::ReleaseKind kind) const {
  using enum privacy::ReleaseKind;
  if (kind == kEvaluation) return plan_.evaluation->answers;
  if (kind == kGram) return plan_.gram->answers;
  return kind == kAfterAlarm ? after().answers : plan_.answers;
}

size_t FederatedLearner::words() const {
  if (plan_.distance) return plan::kDistanceNumbers;
  if (due() == privacy::ReleaseKind::kGram) return learn::statistics_size(descent_.dimension());
  return evaluating() ? plan_.evaluation->map.size() : descent_.dimension();
}

size_t FederatedLearner::numbers() const {
  const size_t p = descent_.dimension();
  return (plan_.gram ? learn::statistics_size(p) : p) +
         kWordsPerNeighbour * std::min(plan_.owners.size(), wire::kNeighboursMax);
}

template <class Message>
void FederatedLearner::send(size_t owner, const Message& message, Step& step) {
  step.messages.push_back({owner, states_[owner].stream->send(message)});
}

void FederatedLearner::attend(size_t owner) {
  leave(owner);
  states_.at(owner).stream.emplace(plan_.charter);
}

void FederatedLearner::leave(size_t owner) {
  states_.at(owner).stream.reset();
  states_[owner].greeted = states_[owner].shown = false;
  if (!attempt_) return;
  attempt_->members.erase(owner);
  attempt_->awaited.erase(owner);
}

Result<Step> FederatedLearner::step(size_t owner, ByteView message) {
  OwnerState& state = states_[owner];
  check(state.stream.has_value());
  auto received = TRY(state.stream->receive_from_owner(message));
  const PlannedOwner& who = plan_.owners[owner];
  const bool greeting = std::holds_alternative<wire::Hello>(received.body);
  if (greeting == state.greeted)
    return wrong(who, greeting ? "a second greeting" : "a message before its greeting");
  return std::visit(
      Match{[&](wire::Hello& hello) { return greet(owner, hello); },
            [&](wire::ReceivedFromMember& member) { return take(owner, member); },
            [&](wire::Refusal& refusal) -> Result<Step> { return be_refused(owner, refusal); },
            [&](auto&) -> Result<Step> { return wrong(who, "what nobody asked for"); }},
      received.body);
}

Result<Step> FederatedLearner::greet(size_t owner, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  OwnerState& state = states_[owner];
  Step step;
  const uint32_t last = state.of(privacy::ReleaseKind::kAnswer).last;
  send(owner, welcome(owner, last + 1), step);
  if (hello.last_round < last) {  // The proof will stop it; it is asked nothing.
    step.stale = forgot(plan_.owners[owner], hello.last_round, last);
    return step;
  }
  if (hello.approval && !approvals_[owner]) {
    TRY(take_approval(owner, *hello.approval));
    step.notes.push_back({.kind = wire::Note::Kind::kApproved,
                          .owner = plan_.owners[owner].name,
                          .approval = hello.approval});
  }
  state.greeted = true;
  state.given_up = state.refuses = false;
  state.of(privacy::ReleaseKind::kAnswer).paid = hello.last_round;
  if (finished()) send(owner, wire::Finished{model_hash(model())}, step);
  if (refused()) send(owner, wire::Abort{refused()->code, refused()->what}, step);
  go_on(step);
  return step;
}

Result<void> FederatedLearner::take_approval(size_t owner, const Signature& approval) {
  if (!plan_.group.has_approved(owner, approval))
    return wrong(plan_.owners[owner], "a signature that is not its own under this charter");
  approvals_[owner] = approval;
  return {};
}

bool FederatedLearner::all_approved() const {
  return std::all_of(approvals_.begin(), approvals_.end(),
                     [](const auto& each) { return each.has_value(); });
}

/// Where enough others can pay, they go on as if it had left.
Step FederatedLearner::be_refused(size_t owner, const wire::Refusal& refusal) {
  Step step;
  states_[owner].refuses = true;
  const Error why = refusal_of(plan_.owners[owner], refusal);
  if (enough_can_pay()) {
    step.parted = why;
  } else {
    refuse(why);
    end_all(step);
  }
  return step;
}

Result<Step> FederatedLearner::take(size_t owner, wire::ReceivedFromMember& message) {
  Step step;
  // Too late: the others went on, and it will be asked with them again.
  if (!attempt_ || message.attempt != begun_ || !attempt_->awaited.contains(owner)) return step;
  TRY(take_step(owner, message));
  attempt_->awaited.erase(owner);
  if (auto* answer = std::get_if<wire::ReceivedAnswer>(&message.step))
    step.taken = std::move(*answer);
  go_on(step);
  return step;
}

Result<void> FederatedLearner::take_step(size_t owner, wire::ReceivedFromMember& message) {
  const AggregationGroup& group = plan_.group;
  AggregationServer& server = attempt_->server;
  const auto of_itself = [&](size_t member) -> Result<void> {
    if (member == owner) return {};
    return wrong(plan_.owners[owner], "a message under another owner's name");
  };
  return std::visit(Match{[&](const wire::MemberKeys& step) -> Result<void> {
                            const Keys keys = TRY(from_wire(group, step));
                            TRY(of_itself(keys.member));
                            return server.take(keys);
                          },
                          [&](const wire::RevealedNumber& step) -> Result<void> {
                            return server.take(owner, Reveal{step.number});
                          },
                          [&](const wire::SealedShareList& step) -> Result<void> {
                            const auto shares = TRY(from_wire(group, step, owner));
                            return server.take(owner, shares);
                          },
                          [&](const wire::ReceivedAnswer& step) -> Result<void> {
                            if (attempt_->phase != Attempt::Phase::kMasked)
                              return wrong(plan_.owners[owner], "a vector that is not due now");
                            TRY(take_masked(owner, step));
                            return server.take(owner, std::vector<uint64_t>(step.values.begin(),
                                                                            step.values.end()));
                          },
                          [&](const wire::MemberConsent& step) -> Result<void> {
                            const Consent consent = TRY(from_wire(group, step));
                            TRY(of_itself(consent.member));
                            return server.take(consent);
                          },
                          [&](const wire::OpenedShareList& step) -> Result<void> {
                            const Unmask unmask = TRY(from_wire(group, step));
                            return server.take(owner, unmask);
                          }},
                    message.step);
}

/// Also of a journal. Nothing changes if it is wrong.
Result<void> FederatedLearner::take_masked(size_t owner, const wire::ReceivedAnswer& answer) {
  const PlannedOwner& who = plan_.owners[owner];
  OwnerState& state = states_[owner];
  const privacy::Receipt& receipt = answer.receipt;
  if (begun_ == 0 || arrived_.contains(owner) || finished())
    return wrong(who, "a vector that was not asked for");
  const privacy::ReleaseKind kind = due();
  const bool evaluation = evaluating();
  OwnerState::Kind& before = state.of(kind);
  if (receipt.kind != kind)
    return wrong(who, "a receipt of kind " + std::string(ledger::name_of(receipt.kind)) +
                          " where one of kind " + std::string(ledger::name_of(kind)) + " is due");
  if (receipt.round != answer.round || answer.round <= before.last || answer.round > most(kind))
    return wrong(who, "the receipt of payment " + std::to_string(answer.round) + " after " +
                          std::to_string(before.last) + " of " + std::to_string(most(kind)));
  if (answer.values.size() != masked_.size())
    return wrong(who, std::to_string(answer.values.size()) + " numbers instead of " +
                          std::to_string(masked_.size()));
  TRY(check_signed(owner, answer));
  arrived_.insert(owner);
  for (size_t j = 0; j < masked_.size(); ++j) masked_[j] += static_cast<uint64_t>(answer.values[j]);
  before = {std::max(before.paid, answer.round), answer.round, receipt.job};
  if (!evaluation) ++state.taken;
  const double training = state.spent.epsilon - state.spent.evaluation;
  state.spent = {receipt.epsilon_spent, evaluation ? receipt.epsilon_spent - training : 0,
                 receipt.delta_spent};
  keep_newest(owner, plan_.charter, answer);
  return {};
}

/// Every signature is looked at. A payment whose vector never came leaves a gap, over which the
/// hash of the job cannot be followed; what it cost is in the next receipt.
Result<void> FederatedLearner::check_signed(size_t owner, const wire::ReceivedAnswer& answer) {
  const PlannedOwner& who = plan_.owners[owner];
  const privacy::Receipt& receipt = answer.receipt;
  const OwnerState::Kind& before = states_[owner].of(due());
  if (receipt.query != gate::share_query_hash(plan_.charter, begun_, point(), receipt.kind))
    return wrong(who, "a vector for another question");
  if (receipt.answer != sha256(bytes_of(answer.values)))
    return wrong(who, "a receipt for other numbers");
  if (answer.round == before.last + 1 &&
      receipt.job != privacy::job_after(before.job, receipt.query, receipt.answer))
    return wrong(who, "a receipt of another job");
  return check_signature(plan_.charter, who, answer);
}

bool FederatedLearner::can_begin() const {
  if (attempt_ || finished() || refused() || guard_.asks() || !all_approved()) return false;
  size_t ready = 0;
  for (const OwnerState& state : states_) {
    if (!can_pay(state)) continue;
    if (!state.greeted && !state.given_up) return false;
    ready += state.greeted;
  }
  return ready >= plan_.group.survivors();
}

bool FederatedLearner::is_ready() const {
  return attempt_ && !finished() && !refused() ? attempt_->awaited.empty() : can_begin();
}

void FederatedLearner::go_on(Step& step) {
  while (!finished() && !refused() && !guard_.asks()) {
    if (!attempt_ && give_up_evaluation(step)) return end_all(step);
    if (!attempt_ && !enough_can_pay())
      refuse(spent_up());
    else if (!is_ready())
      return;
    else if (!attempt_)
      begin(step);
    else if (const auto closed = close(step); !closed)
      abandon(closed.error());
    if (finished() || refused()) end_all(step);
  }
}

Step FederatedLearner::time_is_up() {
  Step step;
  if (finished() || refused() || guard_.asks()) return step;
  const auto there = std::count_if(states_.begin(), states_.end(), [&](const OwnerState& state) {
    return state.greeted && can_pay(state);
  });
  if (attempt_)
    attempt_->awaited.clear();
  else if (all_approved() && static_cast<size_t>(there) >= plan_.group.survivors())
    for (OwnerState& state : states_) state.given_up = !state.greeted;
  go_on(step);
  return step;
}

void FederatedLearner::expect_vectors() {
  arrived_.clear();
  masked_.assign(words(), 0);
}

void FederatedLearner::begin(Step& step) {
  attempt_ = std::make_unique<Attempt>(plan_.group.plan(++begun_, words()));
  evaluations_begun_ += evaluating();
  expect_vectors();
  ++stage_;
  step.notes.push_back({.kind = wire::Note::Kind::kBegun, .round = begun_});
  for (size_t owner = 0; owner < states_.size(); ++owner) {
    if (!states_[owner].greeted || !can_pay(states_[owner])) continue;
    attempt_->members.insert(owner);
    wire::Query query{begun_, privacy::Public::from_model(point()), due()};
    if (!std::exchange(states_[owner].shown, true))
      for (const auto& each : approvals_) query.approvals.push_back(*each);
    send(owner, query, step);
  }
  attempt_->awaited = attempt_->members;
}

/// To every one of them that is still there, whose replies then are awaited.
template <class Messages>
void FederatedLearner::pass_on(const Messages& messages, Step& step) {
  for (const auto& [owner, message] : messages) {
    if (!attempt_->members.contains(owner)) continue;
    send(owner, wire::ToMember{begun_, to_wire(plan_.group, message, owner)}, step);
    attempt_->awaited.insert(owner);
  }
}

/// The same to all of them.
template <class Owners, class Message>
void FederatedLearner::pass_on_to(const Owners& owners, const Message& message, Step& step) {
  const wire::ToMember same{begun_, to_wire(plan_.group, message)};
  for (const size_t owner : owners) {
    if (!attempt_->members.contains(owner)) continue;
    send(owner, same, step);
    attempt_->awaited.insert(owner);
  }
}

/// The end of a phase; an error where too few are left, and then nothing is opened.
Result<void> FederatedLearner::close(Step& step) {
  AggregationServer& server = attempt_->server;
  ++stage_;
  switch (attempt_->phase) {
    case Attempt::Phase::kKeys: {
      const Commitments everyones = TRY(server.close_keys());
      attempt_->phase = Attempt::Phase::kReveals;
      if (attempt_->plan.degree == 0) return close(step);
      pass_on_to(std::views::keys(server.keys()), everyones, step);
      break;
    }
    case Attempt::Phase::kReveals:
      pass_on(TRY(server.close_reveals()), step);
      attempt_->phase = Attempt::Phase::kShares;
      break;
    case Attempt::Phase::kShares:
      pass_on(TRY(server.close_shares()), step);
      for (const size_t owner : attempt_->awaited) states_[owner].of(due()).paid += 1;
      attempt_->phase = Attempt::Phase::kMasked;
      break;
    case Attempt::Phase::kMasked: {
      const Survivors survivors = TRY(server.close_masked());
      pass_on_to(survivors.members, survivors, step);
      attempt_->phase = Attempt::Phase::kConsents;
      break;
    }
    case Attempt::Phase::kConsents:
      pass_on_to(std::views::keys(server.consents()), TRY(server.close_consents()), step);
      attempt_->phase = Attempt::Phase::kUnmask;
      break;
    case Attempt::Phase::kUnmask:
      return open_sum(step);
  }
  return {};
}

Result<void> FederatedLearner::open_sum(Step& step) {
  const auto sum = TRY(attempt_->server.open_sum());
  TRY(take_sum(sum));
  step.notes.push_back(
      {.kind = wire::Note::Kind::kSum, .values = sum, .masks = attempt_->server.masks()});
  attempt_.reset();
  return {};
}

double FederatedLearner::largest() const {
  using enum privacy::ReleaseKind;
  if (due() == kEvaluation) return plan_.evaluation->largest;
  if (due() == kGram) return plan_.gram->largest;
  return due() == kAfterAlarm ? after().largest : plan_.largest;
}

Result<void> FederatedLearner::take_sum(const std::vector<int64_t>& sum) {
  for (const int64_t value : sum)
    if (std::fabs(static_cast<double>(value)) > largest())
      return Error{Code::kIntegrity, "a sum that no parts of these owners can have"};
  if (plan_.distance)
    measure(sum);
  else if (due() == privacy::ReleaseKind::kGram)
    take_gram(sum);
  else
    evaluating() ? judge(sum) : descend(sum);
  return {};
}

double FederatedLearner::unit(double whole) const {
  double present = 0;
  for (const size_t owner : arrived_) present += plan_.owners[owner].weight;
  return arrived_.size() == states_.size() ? whole : whole / present;
}

/// Entries beside the diagonal were multiplied by sqrt(2) (learn/kernel/statistics_map.h).
void FederatedLearner::take_gram(const std::vector<int64_t>& sum) {
  const FederatedPlan::Gram& gram = *plan_.gram;
  const size_t p = descent_.dimension();
  const double unit = this->unit(gram.unit);
  const double noise = unit * std::sqrt(gram.variance * static_cast<double>(arrived_.size()));
  std::vector<double> moments;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k)
      moments.push_back(unit * static_cast<double>(sum[moments.size()]) /
                        (j == k ? 1 : std::numbers::sqrt2));
  descent_.precondition(
      learn::gram_inverse(moments, p, gram.curvature, plan_.l2, noise_floor(noise, 1, p)));
  gram_known_ = true;
}

void FederatedLearner::descend(const std::vector<int64_t>& sum) {
  const double whole = after_alarm() ? after().unit : plan_.unit;
  std::vector<double> gradient;
  for (const int64_t value : sum) gradient.push_back(unit(whole) * static_cast<double>(value));
  const std::vector<size_t> owners(arrived_.begin(), arrived_.end());
  if (guard_.admits(descent_.theta(), gradient, owners))
    descent_.step(gradient);
  else if (guard_.falls_back())
    fall_back();
}

/// Without a step by the pilot's curvature.
void FederatedLearner::fall_back() {
  before_alarm_ = descent_.rounds_done() + 1;
  descent_ = learn::Descent(after().schedule, plan_.box, plan_.l2);
}

void FederatedLearner::decided(const std::optional<std::vector<double>>& held) {
  if (held) descent_.step(*held);
  if (guard_.falls_back()) fall_back();
}

Step FederatedLearner::decide(bool go_on) {
  Step step;
  decided(guard_.decide(go_on));
  step.notes.push_back({.kind = wire::Note::Kind::kAlarm, .round = go_on ? 1u : 0u});
  if (finished()) end_all(step);
  this->go_on(step);
  return step;
}

/// The mean lengths, and no step.
void FederatedLearner::measure(const std::vector<int64_t>& sum) {
  const double noise = plan_.distance->variance * static_cast<double>(arrived_.size());
  distance_ = learn::Distance{.norm = unit(plan_.unit) * static_cast<double>(sum[0]),
                              .norm_error = unit(plan_.unit) * std::sqrt(noise),
                              .pilot = plan_.distance->pilot};
  if (plan_.distance->intercept)
    distance_->intercept = unit(plan_.unit) * static_cast<double>(sum[1]);
  for (const size_t owner : arrived_) {
    distance_->rows.push_back(plan_.owners[owner].rows);
    distance_->weights.push_back(plan_.owners[owner].weight);
  }
  descent_.step(std::vector<double>(descent_.dimension()));
}

/// The sum is like the answer of one owner with all their records.
void FederatedLearner::judge(std::vector<int64_t> sum) {
  PlannedOwner all{.name = {}};
  for (const size_t owner : arrived_) all.rows += plan_.owners[owner].rows;
  all.evaluation_variance = plan_.evaluation->variance * static_cast<double>(arrived_.size());
  evaluation_ = joint_evaluation(plan_.evaluation->map, {all}, {&sum});
}

/// Where every aggregation that epsilon has room for was begun, and none opened.
bool FederatedLearner::give_up_evaluation(Step& step) {
  if (!evaluating() || evaluations_begun_ < plan_.evaluation->answers) return false;
  without_evaluation_ = true;
  step.notes.push_back({.kind = wire::Note::Kind::kClosed});
  return true;
}

void FederatedLearner::abandon(const Error& why) {
  trouble_ = why.what;
  attempt_.reset();
  ++stage_;
}

/// As far as is known: of an owner that is away, from its last receipt.
bool FederatedLearner::enough_can_pay() const {
  const auto left = std::count_if(states_.begin(), states_.end(),
                                  [&](const OwnerState& state) { return can_pay(state); });
  return static_cast<size_t>(left) >= plan_.group.survivors();
}

Error FederatedLearner::spent_up() const {
  return {Code::kBudgetExhausted,
          "after " + std::to_string(rounds_done()) + " of " + std::to_string(rounds()) +
              " rounds too many owners have paid for all " + std::to_string(most(due())) +
              " aggregations of the charter" +
              (trouble_.empty() ? "" : "; the last one that failed: " + trouble_),
          "Agree on another run, with more secure_aggregation.repeats."};
}

void FederatedLearner::end_all(Step& step) {
  for (size_t owner = 0; owner < states_.size(); ++owner) {
    if (!states_[owner].greeted) continue;
    if (refused())
      send(owner, wire::Abort{refused()->code, refused()->what}, step);
    else
      send(owner, wire::Finished{model_hash(model())}, step);
  }
}

Result<void> FederatedLearner::replay(const std::string& owner,
                                      const wire::ReceivedAnswer& answer) {
  const size_t place = TRY(place_of(plan_.owners, owner));
  return take_masked(place, answer);
}

Result<void> FederatedLearner::replay(const wire::Note& note) {
  if (note.kind == wire::Note::Kind::kApproved)
    return take_approval(TRY(place_of(plan_.owners, note.owner)), *note.approval);
  if (note.kind == wire::Note::Kind::kAlarm) {
    decided(TRY(guard_.decide(note)));
    return {};
  }
  if (note.kind == wire::Note::Kind::kBegun && note.round == begun_ + 1 && !finished()) {
    begun_ = note.round;
    evaluations_begun_ += evaluating();
    expect_vectors();
    return {};
  }
  if (Step nothing; note.kind == wire::Note::Kind::kClosed && give_up_evaluation(nothing))
    return {};
  if (note.kind != wire::Note::Kind::kSum || note.values.size() != masked_.size() ||
      arrived_.size() < plan_.group.survivors() || finished())
    return Error{Code::kIntegrity, "what does not follow from the vectors before it"};
  std::vector<uint64_t> sum = masked_;
  without_masks(sum, note.masks);
  if (!std::equal(sum.begin(), sum.end(), note.values.begin(),
                  [](uint64_t a, int64_t b) { return a == static_cast<uint64_t>(b); }))
    return Error{Code::kIntegrity, "a sum that is not that of the vectors before it"};
  TRY(take_sum(note.values));
  expect_vectors();
  return {};
}

bool FederatedLearner::awaits(size_t owner) const {
  if (finished() || refused() || guard_.asks()) return false;
  return attempt_ ? attempt_->awaited.contains(owner) : !states_[owner].greeted;
}

Trained FederatedLearner::trained() const {
  Trained trained{.theta = {model().begin(), model().end()},
                  .evaluation = evaluation_,
                  .distance = distance_,
                  .pilot = guard_.check(),
                  .stopped = guard_.stopped(),
                  .fell_back = after_alarm()};
  for (const OwnerState& state : states_) {
    trained.spent.push_back(state.spent);
    trained.answers.push_back(state.taken);
  }
  return trained;
}

}  // namespace parley::protocol
