#include "parley/protocol/sync.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>

#include "parley/learn/statistics.h"
#include "parley/ledger/storage/row.h"

namespace parley::protocol {
namespace {

constexpr uint32_t kSignatureEvery = 64;

}  // namespace

// The learner.

SyncLearner::SyncLearner(SyncPlan plan)
    : Learner(plan.owners.size()),
      plan_(std::move(plan)),
      descent_(plan_.schedule, plan_.box, plan_.l2),
      states_(plan_.owners.size()) {}

void SyncLearner::attend(size_t owner) {
  check(owner < plan_.owners.size());
  states_[owner].stream.emplace(plan_.charter);
  states_[owner].greeted = states_[owner].vouched = false;
}

void SyncLearner::leave(size_t owner) {
  states_[owner].stream.reset();
  states_[owner].greeted = false;
}

Result<Step> SyncLearner::step(size_t owner, ByteView message) {
  check(states_[owner].stream.has_value());
  auto received = TRY(states_[owner].stream->receive_from_owner(message));
  const bool greeting = std::holds_alternative<wire::Hello>(received.body);
  if (greeting == states_[owner].greeted)
    return wrong(plan_.owners[owner],
                 greeting ? "a second greeting" : "a message before its greeting");
  return std::visit(
      Match{[&](wire::Hello& hello) { return greet(owner, hello); },
            [&](wire::Refusal& refusal) -> Result<Step> { return be_refused(owner, refusal); },
            [&](wire::ReceivedFromMember&) -> Result<Step> {
              return no_aggregation(plan_.owners[owner]);
            },
            [&](wire::Claim&) -> Result<Step> {
              return wrong(plan_.owners[owner], "a claim, though everyone is asked");
            },
            [&](wire::ReceivedAnswer& answer) -> Result<Step> {
              TRY(take(owner, answer));
              Step step;
              step.taken = std::move(answer);
              if (go_on_if_complete())
                ask_all(step);
              else if (tolerant() && awaits(owner))
                ask(owner, step);  // Its answer came after its round was closed.
              return step;
            },
            [&](auto&) -> Result<Step> {
              return wrong(plan_.owners[owner], "a message of another protocol");
            }},
      received.body);
}

Result<Step> SyncLearner::greet(size_t owner, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  OwnerState& state = states_[owner];
  const PlannedOwner& who = plan_.owners[owner];
  if (tolerant() && !finished() && hello.last_round > state.taken + (state.open ? 1 : 0))
    return unknown_answers(who, hello.last_round);
  Step step;
  step.messages.push_back({owner, state.stream->send(welcome(owner, state.taken + 1))});
  if (hello.last_round < state.taken) {  // Its own receipts will stop it: its ledger is older.
    step.stale = forgot(who, hello.last_round, state.taken);
    return step;
  }
  state.greeted = true;
  state.refuses = false;
  const bool unpaid = hello.last_round == state.taken;
  if (unpaid && state.open && (state.open->in != rounds_done() || evaluating()))
    state.open.reset();  // It has not paid for the old question.
  if (awaits(owner) || finished() || refused()) ask(owner, step);
  return step;
}

/// The others go on without it if they are a quorum.
Step SyncLearner::be_refused(size_t owner, const wire::Refusal& refusal) {
  Step step;
  states_[owner].refuses = true;
  const Error why = refusal_of(plan_.owners[owner], refusal);
  const auto others = std::count_if(states_.begin(), states_.end(),
                                    [](const OwnerState& each) { return !each.refuses; });
  if (tolerant() && static_cast<size_t>(others) >= plan_.quorum) {
    step.parted = why;
  } else {
    refuse(why);
    ask_all(step);
  }
  return step;
}

SyncLearner::Due SyncLearner::due(size_t owner) const {
  using enum privacy::ReleaseKind;
  const OwnerState& state = states_[owner];
  const uint32_t next = state.taken + 1;
  if (state.open) {
    const bool late = state.open->in != rounds_done() || descent_.finished();
    return {kAnswer, next, state.open->theta, plan_.numbers(), late};
  }
  if (evaluating()) return {kEvaluation, 1, model(), plan_.evaluation->size()};
  if (awaits_gram())
    return {kGram, 1, descent_.theta(), learn::statistics_size(descent_.dimension())};
  return {kAnswer, next, descent_.theta(), plan_.numbers()};
}

Result<void> SyncLearner::take(size_t owner, const wire::ReceivedAnswer& answer) {
  const PlannedOwner& who = plan_.owners[owner];
  OwnerState& state = states_[owner];
  if (finished()) return wrong(who, "an answer after the last round");
  if (guard_.asks()) return wrong(who, "an answer before a person has decided to go on");
  const Due due = this->due(owner);
  const bool evaluation = due.kind == privacy::ReleaseKind::kEvaluation;
  const bool once = due.kind != privacy::ReleaseKind::kAnswer;
  if (answer.receipt.kind != due.kind)
    return wrong(who, "its " + std::string(ledger::name_of(answer.receipt.kind)) + " where its " +
                          std::string(ledger::name_of(due.kind)) + " is due");
  if (state.answer && !state.open)
    return wrong(who, "a second answer to round " + std::to_string(answer.round));
  if (tolerant() && !state.open && !once) return wrong(who, "an answer to no question");
  if (answer.round != due.round || answer.receipt.round != answer.round)
    return wrong(who, "an answer to round " + std::to_string(answer.round) + " in round " +
                          std::to_string(due.round));
  if (answer.values.size() != due.numbers)
    return wrong(who, std::to_string(answer.values.size()) + " numbers instead of " +
                          std::to_string(due.numbers));
  if (who.sign_key) {
    const Hash question = gate::query_hash(plan_.charter, answer.round, due.theta, due.kind);
    TRY(check_receipt(who, answer, question, once ? Hash{} : state.job));  // Single: not chained.
    TRY(check_some_signatures(owner, answer));
  }
  const double epsilon = answer.receipt.epsilon_spent;
  state.spent = {epsilon, evaluation ? epsilon - state.spent.epsilon : 0,
                 answer.receipt.delta_spent};
  if (due.kind != privacy::ReleaseKind::kGram) state.job = answer.receipt.job;
  state.taken += once ? 0 : 1;
  keep_newest(owner, plan_.charter, answer);
  if (!due.late) state.answer = answer.values, ++answered_;
  state.open.reset();
  return {};
}

/// To check a signature takes longer than all else in a round, and each vouches for all answers
/// before it. So: the first of a stream, which finds a wrong key, some on the way, and the last;
/// and Gram matrix and evaluation, which stand alone. Where a quorum is enough, any may be the
/// last.
Result<void> SyncLearner::check_some_signatures(size_t owner, const wire::ReceivedAnswer& answer) {
  OwnerState& state = states_[owner];
  const bool last =
      tolerant() || evaluating() || awaits_gram() || answer.round == plan_.schedule.rounds.size();
  if (state.vouched && !last && answer.round % kSignatureEvery != 0) return {};
  state.vouched = false;
  TRY(check_signature(plan_.charter, plan_.owners[owner], answer));
  state.vouched = true;
  return {};
}

bool SyncLearner::go_on_if_complete() {
  if (answered_ < states_.size()) return false;
  go_on();
  return true;
}

/// Closes the round, or the evaluation, with the answers that have come.
void SyncLearner::go_on() {
  if (evaluating()) {
    Answers answers;
    for (const OwnerState& state : states_)
      answers.push_back(state.answer ? &*state.answer : nullptr);
    evaluation_ = joint_evaluation(*plan_.evaluation, plan_.owners, answers);
  } else if (awaits_gram()) {
    take_gram();
  } else {
    descend();
  }
  for (OwnerState& state : states_) state.answer.reset();
  answered_ = 0;
}

/// Entries beside the diagonal were multiplied by sqrt(2) (learn/kernel/statistics_map.h).
void SyncLearner::take_gram() {
  check(states_.size() == 1);
  const std::vector<int64_t>& sum = *states_[0].answer;
  const size_t p = descent_.dimension();
  std::vector<double> moments;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k)
      moments.push_back(plan_.gram->unit * static_cast<double>(sum[moments.size()]) /
                        (j == k ? 1 : std::numbers::sqrt2));
  descent_.precondition(
      learn::gram_inverse(moments, p, plan_.gram->curvature, plan_.l2, plan_.gram->floor));
  gram_known_ = true;
}

void SyncLearner::descend() {
  const std::vector<double> answers = mean_answers();
  std::vector<size_t> present;
  for (size_t owner = 0; owner < states_.size(); ++owner)
    if (states_[owner].answer) present.push_back(owner);
  if (plan_.moments)
    descent_.step(to_minimum(answers));
  else if (guard_.admits(descent_.theta(), answers, present))
    descent_.step(answers);
}

Step SyncLearner::decide(bool go_on) {
  Step step;
  if (const auto held = guard_.decide(go_on)) descent_.step(*held);
  step.notes.push_back({.kind = wire::Note::Kind::kAlarm, .round = go_on ? 1u : 0u});
  ask_all(step);
  return step;
}

bool SyncLearner::enough() const {
  if (!tolerant() || finished() || guard_.asks()) return false;
  const auto answered = std::count_if(states_.begin(), states_.end(), [](const OwnerState& state) {
    return state.answer.has_value();
  });
  return static_cast<size_t>(answered) >= plan_.quorum;
}

bool SyncLearner::is_ready() const {
  return !refused() && enough() &&
         std::all_of(states_.begin(), states_.end(),
                     [](const OwnerState& each) { return each.answer || each.refuses; });
}

Step SyncLearner::time_is_up() {
  Step step;
  if (refused() || !enough()) return step;
  go_on();
  step.notes.push_back({.kind = wire::Note::Kind::kClosed});
  ask_all(step);
  return step;
}

Result<void> SyncLearner::replay(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const size_t place = TRY(place_of(plan_.owners, owner));
  if (evaluating() && answer.receipt.kind == privacy::ReleaseKind::kEvaluation)
    states_[place].open.reset();  // It skipped the open question: answers come in order.
  TRY(take(place, answer));
  go_on_if_complete();
  return {};
}

Result<void> SyncLearner::replay(const wire::Note& note) {
  if (note.kind == wire::Note::Kind::kAlarm) {
    if (const auto held = TRY(guard_.decide(note))) descent_.step(*held);
    return {};
  }
  if (note.kind == wire::Note::Kind::kClosed) {
    if (enough()) return go_on(), Result<void>();
    return Error{Code::kIntegrity, "the end of a round that had not enough answers"};
  }
  const size_t owner = TRY(place_of(plan_.owners, note.owner));
  OwnerState& state = states_[owner];
  if (!tolerant() || descent_.finished() || state.answer || note.round != state.taken + 1)
    return not_due(note);
  state.open = {rounds_done(), {descent_.theta().begin(), descent_.theta().end()}};
  return {};
}

bool SyncLearner::awaits(size_t owner) const {
  const OwnerState& state = states_[owner];
  return !finished() && !guard_.asks() && (state.open || !state.answer);
}

Trained SyncLearner::trained() const {
  Trained trained{.theta = {model().begin(), model().end()},
                  .spent = spent(),
                  .evaluation = evaluation(),
                  .pilot = guard_.check(),
                  .stopped = guard_.stopped()};
  for (const OwnerState& state : states_) trained.answers.push_back(state.taken);
  return trained;
}

std::vector<JobSpent> SyncLearner::spent() const {
  std::vector<JobSpent> spent;
  for (const OwnerState& state : states_) spent.push_back(state.spent);
  return spent;
}

/// The message that is due to an owner: a query, or the end of the job.
void SyncLearner::ask(size_t owner, Step& step) {
  OwnerState& state = states_[owner];
  const auto send = [&](const auto& message) {
    step.messages.push_back({owner, state.stream->send(message)});
  };
  if (refused()) return send(wire::Abort{refused()->code, refused()->what});
  if (finished()) return send(wire::Finished{model_hash(model())});
  const Due due = this->due(owner);
  send(wire::Query{due.round, privacy::Public::from_model({due.theta.begin(), due.theta.end()}),
                   due.kind});
  if (!tolerant() || state.open || due.kind != privacy::ReleaseKind::kAnswer) return;
  state.open = {rounds_done(), {due.theta.begin(), due.theta.end()}};
  step.notes.push_back({wire::Note::Kind::kAsked, plan_.owners[owner].name, due.round});
}

/// Everyone who attends, but for those that are still at an older question.
void SyncLearner::ask_all(Step& step) {
  if (guard_.asks() && !refused()) return;
  for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
    const OwnerState& state = states_[owner];
    if (state.greeted && (!state.open || finished() || refused())) ask(owner, step);
  }
}

/// Sum over owners of v_i (gamma / n_i) answer_i, always in the order of the charter. Of fewer than
/// all, over the sum of their v_i: the step is as long as with all of them.
std::vector<double> SyncLearner::mean_answers() const {
  std::vector<double> mean(plan_.numbers());
  double present = 0;
  bool all = true;
  for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
    const PlannedOwner& who = plan_.owners[owner];
    const auto& answer = states_[owner].answer;
    if (!answer) all = false;
    if (!answer) continue;
    present += who.weight;
    const double factor = who.weight * (plan_.gamma / static_cast<double>(who.rows));
    for (size_t j = 0; j < mean.size(); ++j) mean[j] += factor * static_cast<double>((*answer)[j]);
  }
  for (size_t j = 0; j < mean.size() && !all; ++j) mean[j] /= present;
  return mean;
}

/// The direction whose step of length 1 leads from zero to the minimum of the moments.
std::vector<double> SyncLearner::to_minimum(std::vector<double> moments) const {
  const size_t p = descent_.dimension();
  size_t next = 0;
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k) moments[next++] /= j == k ? 1 : plan_.moments->off;
  for (; next < moments.size(); ++next) moments[next] /= plan_.moments->with_label;
  auto step = learn::moments_minimum(moments, p, plan_.l2, plan_.moments->floor, plan_.box);
  for (double& value : step) value = -value;
  return step;
}

}  // namespace parley::protocol
