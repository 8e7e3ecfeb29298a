#include "parley/protocol/sync.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "parley/learn/statistics.h"

namespace parley::protocol {
namespace {

constexpr uint32_t kSignatureEvery = 64;

}  // namespace

// The learner.

SyncLearner::SyncLearner(SyncPlan plan, size_t runs)
    : Learner(plan.owners.size()),
      plan_(std::move(plan)),
      descent_(plan_.schedule, plan_.box, plan_.l2, runs),
      seats_(plan_.owners.size() * runs) {}

void SyncLearner::attend(size_t owner, size_t run) {
  check(owner < plan_.owners.size() && run < descent_.runs());
  seat(owner, run).stream.emplace(plan_.charter);
  seat(owner, run).greeted = seat(owner, run).vouched = false;
}

void SyncLearner::leave(size_t owner, size_t run) {
  seat(owner, run).stream.reset();
  seat(owner, run).greeted = false;
}

Result<Step> SyncLearner::step(size_t owner, size_t run, ByteView message) {
  check(seat(owner, run).stream.has_value());
  auto received = TRY(seat(owner, run).stream->receive_from_owner(message));
  const bool greeting = std::holds_alternative<wire::Hello>(received.body);
  if (greeting == seat(owner, run).greeted)
    return wrong(plan_.owners[owner],
                 greeting ? "a second greeting" : "a message before its greeting");
  return std::visit(Match{[&](wire::Hello& hello) { return greet(owner, run, hello); },
                          [&](wire::Refusal& refusal) -> Result<Step> {
                            refuse(plan_.owners[owner], refusal);
                            Step step;
                            ask_all(step);
                            return step;
                          },
                          [&](wire::ReceivedFromMember&) -> Result<Step> {
                            return no_aggregation(plan_.owners[owner]);
                          },
                          [&](wire::Claim&) -> Result<Step> {
                            return wrong(plan_.owners[owner], "a claim, though everyone is asked");
                          },
                          [&](wire::ReceivedAnswer& answer) -> Result<Step> {
                            TRY(take(owner, run, answer));
                            Step step;
                            step.taken = std::move(answer);
                            if (go_on_if_complete())
                              ask_all(step);
                            else if (tolerant() && awaits(owner, run))
                              ask(owner, run, step);  // What it gave was late.
                            return step;
                          },
                          [&](auto&) -> Result<Step> {
                            return wrong(plan_.owners[owner], "a message of another protocol");
                          }},
                    received.body);
}

Result<Step> SyncLearner::greet(size_t owner, size_t run, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  Seat& place = seat(owner, run);
  const PlannedOwner& who = plan_.owners[owner];
  if (tolerant() && !finished() && hello.last_round > place.taken + (place.open ? 1 : 0))
    return unknown_answers(who, hello.last_round);
  Step step;
  step.messages.push_back({owner, run, place.stream->send(welcome(owner, place.taken + 1))});
  if (hello.last_round < place.taken) {  // The proof will stop it; it is asked nothing.
    step.stale = forgot(who, hello.last_round, place.taken);
    return step;
  }
  place.greeted = true;
  const bool unpaid = hello.last_round == place.taken;
  if (unpaid && place.open && (place.open->in != rounds_done() || evaluating()))
    place.open.reset();  // It has not begun.
  if (awaits(owner, run) || finished() || refused()) ask(owner, run, step);
  return step;
}

SyncLearner::Due SyncLearner::due(size_t owner, size_t run) const {
  using enum privacy::ReleaseKind;
  const Seat& place = seat(owner, run);
  const uint32_t next = place.taken + 1;
  if (place.open) {
    const bool late = place.open->in != rounds_done() || descent_.finished();
    return {kAnswer, next, place.open->theta, plan_.numbers(), late};
  }
  if (evaluating()) return {kEvaluation, 1, model(run), plan_.evaluation->size()};
  return {kAnswer, next, descent_.theta(run), plan_.numbers()};
}

Result<void> SyncLearner::take(size_t owner, size_t run, const wire::ReceivedAnswer& answer) {
  const PlannedOwner& who = plan_.owners[owner];
  Seat& place = seat(owner, run);
  if (finished()) return wrong(who, "an answer after the last round");
  const Due due = this->due(owner, run);
  const bool evaluation = due.kind == privacy::ReleaseKind::kEvaluation;
  if (answer.receipt.kind != due.kind)
    return wrong(who, evaluation ? "an answer where its evaluation is due"
                                 : "an evaluation where an answer is due");
  if (place.answer && !place.open)
    return wrong(who, "a second answer to round " + std::to_string(answer.round));
  if (tolerant() && !place.open && !evaluation) return wrong(who, "an answer to no question");
  if (answer.round != due.round || answer.receipt.round != answer.round)
    return wrong(who, "an answer to round " + std::to_string(answer.round) + " in round " +
                          std::to_string(due.round));
  if (answer.values.size() != due.numbers)
    return wrong(who, std::to_string(answer.values.size()) + " numbers instead of " +
                          std::to_string(due.numbers));
  if (who.sign_key) {
    const Hash question = gate::query_hash(plan_.charter, answer.round, due.theta, due.kind);
    TRY(check_receipt(who, answer, question, evaluation ? Hash{} : place.job));  // Each for itself.
    TRY(check_some_signatures(owner, run, answer));
  }
  const double epsilon = answer.receipt.epsilon_spent;
  place.spent = {epsilon, evaluation ? epsilon - place.spent.epsilon : 0};
  place.job = answer.receipt.job;
  place.taken += evaluation ? 0 : 1;
  keep_newest(owner, plan_.charter, answer);
  if (!due.late) place.answer = answer.values, ++answered_;
  place.open.reset();
  return {};
}

/// To check a signature takes longer than all else in a round, and each vouches for all answers
/// before it. So: the first of a stream, which finds a wrong key, some on the way, and the last;
/// and the evaluation, which stands alone. Where a quorum is enough, any may be the last.
Result<void> SyncLearner::check_some_signatures(size_t owner, size_t run,
                                                const wire::ReceivedAnswer& answer) {
  Seat& place = seat(owner, run);
  const bool last = tolerant() || evaluating() || answer.round == plan_.schedule.rounds.size();
  if (place.vouched && !last && answer.round % kSignatureEvery != 0) return {};
  place.vouched = false;
  TRY(check_signature(plan_.charter, plan_.owners[owner], answer));
  place.vouched = true;
  return {};
}

bool SyncLearner::go_on_if_complete() {
  if (answered_ < seats_.size()) return false;
  go_on();
  return true;
}

/// With the answers that are there.
void SyncLearner::go_on() {
  if (evaluating()) {
    std::vector<learn::Evaluation> evaluations;
    for (size_t run = 0; run < descent_.runs(); ++run) {
      Answers answers;
      for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
        const auto& answer = seat(owner, run).answer;
        answers.push_back(answer ? &*answer : nullptr);
      }
      evaluations.push_back(joint_evaluation(*plan_.evaluation, plan_.owners, answers));
    }
    evaluations_ = std::move(evaluations);
  } else {
    const std::vector<double> answers = mean_answers();
    descent_.step(plan_.moments ? to_minimum(answers) : answers);
  }
  for (Seat& place : seats_) place.answer.reset();
  answered_ = 0;
}

bool SyncLearner::enough() const {
  if (!tolerant() || finished()) return false;
  for (size_t run = 0; run < descent_.runs(); ++run) {
    size_t answered = 0;
    for (size_t owner = 0; owner < plan_.owners.size(); ++owner)
      answered += seat(owner, run).answer.has_value();
    if (answered < plan_.quorum) return false;
  }
  return true;
}

Step SyncLearner::time_is_up() {
  Step step;
  if (refused() || !enough()) return step;
  go_on();
  step.notes.push_back({.kind = wire::Note::Kind::kClosed});
  ask_all(step);
  return step;
}

std::optional<learn::Evaluation> SyncLearner::evaluation(size_t run) const {
  return evaluations_.empty() ? std::nullopt : std::optional(evaluations_[run]);
}

Result<void> SyncLearner::replay(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const size_t place = TRY(place_of(plan_.owners, owner));
  if (evaluating() && answer.receipt.kind == privacy::ReleaseKind::kEvaluation)
    seat(place, 0).open.reset();  // It never began to answer that, or it would have come first.
  TRY(take(place, 0, answer));
  go_on_if_complete();
  return {};
}

Result<void> SyncLearner::replay(const wire::Note& note) {
  if (note.kind == wire::Note::Kind::kClosed) {
    if (enough()) return go_on(), Result<void>();
    return Error{Code::kIntegrity, "the end of a round that had not enough answers"};
  }
  const size_t owner = TRY(place_of(plan_.owners, note.owner));
  Seat& place = seat(owner, 0);
  if (!tolerant() || descent_.finished() || place.answer || note.round != place.taken + 1)
    return not_due(note);
  place.open = {rounds_done(), {descent_.theta(0).begin(), descent_.theta(0).end()}};
  return {};
}

bool SyncLearner::awaits(size_t owner, size_t run) const {
  const Seat& place = seat(owner, run);
  return !finished() && (place.open || !place.answer);
}

Trained SyncLearner::trained() const {
  Trained trained{
      .theta = {model().begin(), model().end()}, .spent = spent(), .evaluation = evaluation()};
  for (size_t owner = 0; owner < plan_.owners.size(); ++owner)
    trained.answers.push_back(seat(owner, 0).taken);
  return trained;
}

std::vector<JobSpent> SyncLearner::spent(size_t run) const {
  std::vector<JobSpent> spent;
  for (size_t owner = 0; owner < plan_.owners.size(); ++owner)
    spent.push_back(seat(owner, run).spent);
  return spent;
}

/// The message that is due to an owner: a query, or the end of the job.
void SyncLearner::ask(size_t owner, size_t run, Step& step) {
  Seat& place = seat(owner, run);
  const auto send = [&](const auto& message) {
    step.messages.push_back({owner, run, place.stream->send(message)});
  };
  if (refused()) return send(wire::Abort{refused()->code, refused()->what});
  if (finished()) return send(wire::Finished{model_hash(model(run))});
  const Due due = this->due(owner, run);
  send(wire::Query{due.round, privacy::Public::from_model({due.theta.begin(), due.theta.end()}),
                   due.kind});
  if (!tolerant() || place.open || due.kind != privacy::ReleaseKind::kAnswer) return;
  place.open = {rounds_done(), {due.theta.begin(), due.theta.end()}};
  step.notes.push_back({wire::Note::Kind::kAsked, plan_.owners[owner].name, due.round});
}

/// Everyone who attends, but for those that are still at an older question.
void SyncLearner::ask_all(Step& step) {
  for (size_t run = 0; run < descent_.runs(); ++run)
    for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
      const Seat& place = seat(owner, run);
      if (place.greeted && (!place.open || finished() || refused())) ask(owner, run, step);
    }
}

/// Sum over owners of v_i (gamma / n_i) answer_i, always in the order of the charter. Of fewer than
/// all, over the sum of their v_i: the step is as long as with all of them.
std::vector<double> SyncLearner::mean_answers() const {
  const size_t p = plan_.numbers();
  std::vector<double> mean(p * descent_.runs());
  for (size_t run = 0; run < descent_.runs(); ++run) {
    double present = 0;
    bool all = true;
    for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
      const PlannedOwner& who = plan_.owners[owner];
      const auto& answer = seat(owner, run).answer;
      if (!answer) all = false;
      if (!answer) continue;
      present += who.weight;
      const double factor = who.weight * (plan_.gamma / static_cast<double>(who.rows));
      for (size_t j = 0; j < p; ++j)
        mean[run * p + j] += factor * static_cast<double>((*answer)[j]);
    }
    for (size_t j = 0; j < p && !all; ++j) mean[run * p + j] /= present;
  }
  return mean;
}

/// A step of length 1 against it leads from zero to the minimum of the moments.
std::vector<double> SyncLearner::to_minimum(std::span<const double> answers) const {
  const size_t p = descent_.dimension(), size = plan_.numbers();
  std::vector<double> step;
  for (size_t run = 0; run < descent_.runs(); ++run) {
    std::vector<double> moments(answers.begin() + long(run * size),
                                answers.begin() + long((run + 1) * size));
    size_t next = 0;
    for (size_t j = 0; j < p; ++j)
      for (size_t k = j; k < p; ++k) moments[next++] /= j == k ? 1 : plan_.moments->off;
    for (; next < size; ++next) moments[next] /= plan_.moments->with_label;
    for (double value :
         learn::moments_minimum(moments, p, plan_.l2, plan_.moments->floor, plan_.box))
      step.push_back(-value);
  }
  return step;
}

}  // namespace parley::protocol
