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

size_t SyncPlan::numbers() const {
  return moments ? learn::statistics_size(schedule.start.size()) : schedule.start.size();
}

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
                            return Step{.messages = ask_all()};
                          },
                          [&](wire::Claim&) -> Result<Step> {
                            return wrong(plan_.owners[owner], "a claim, though everyone is asked");
                          },
                          [&](wire::ReceivedAnswer& answer) -> Result<Step> {
                            TRY(take(owner, run, answer));
                            Step step;
                            step.taken = std::move(answer);
                            if (go_on_if_complete()) step.messages = ask_all();
                            return step;
                          }},
                    received.body);
}

Result<Step> SyncLearner::greet(size_t owner, size_t run, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  Seat& place = seat(owner, run);
  const bool answered = place.answer && !evaluating();
  const uint32_t next = static_cast<uint32_t>(rounds_done()) + (answered ? 2 : 1);
  Step step;
  step.messages.push_back({owner, run, place.stream->send(welcome(owner, next))});
  if (hello.last_round + 1 < next) {  // The proof will stop it; it is asked nothing.
    step.stale = forgot(plan_.owners[owner], hello.last_round, next - 1);
    return step;
  }
  place.greeted = true;
  if (awaits(owner, run) || finished() || refused()) ask(owner, run, step.messages);
  return step;
}

Result<void> SyncLearner::take(size_t owner, size_t run, const wire::ReceivedAnswer& answer) {
  const PlannedOwner& who = plan_.owners[owner];
  Seat& place = seat(owner, run);
  if (finished()) return wrong(who, "an answer after the last round");
  if (answer.receipt.kind != asked())
    return wrong(who, evaluating() ? "an answer where its evaluation is due"
                                   : "an evaluation where an answer is due");
  if (answer.round != round() || answer.receipt.round != answer.round)
    return wrong(who, "an answer to round " + std::to_string(answer.round) + " in round " +
                          std::to_string(round()));
  if (answer.values.size() != numbers_due())
    return wrong(who, std::to_string(answer.values.size()) + " numbers instead of " +
                          std::to_string(numbers_due()));
  if (place.answer) return wrong(who, "a second answer to round " + std::to_string(answer.round));
  if (who.sign_key) {
    const Hash before = evaluating() ? Hash{} : place.job;  // Of each kind for itself.
    TRY(check_receipt(who, answer,
                      gate::query_hash(plan_.charter, answer.round, question(run), asked()),
                      before));
    TRY(check_some_signatures(owner, run, answer));
  }
  place.answer = answer.values;
  const double epsilon = answer.receipt.epsilon_spent;
  place.spent = {epsilon, evaluating() ? epsilon - place.spent.epsilon : 0};
  place.job = answer.receipt.job;
  keep_newest(owner, plan_.charter, answer);
  ++answered_;
  return {};
}

privacy::ReleaseKind SyncLearner::asked() const {
  return evaluating() ? privacy::ReleaseKind::kEvaluation : privacy::ReleaseKind::kAnswer;
}
uint32_t SyncLearner::round() const {
  return evaluating() ? 1 : static_cast<uint32_t>(rounds_done() + 1);
}
size_t SyncLearner::numbers_due() const {
  return evaluating() ? plan_.evaluation->size() : plan_.numbers();
}
std::span<const double> SyncLearner::question(size_t run) const {
  return evaluating() ? model(run) : descent_.theta(run);
}

/// To check a signature takes longer than all else in a round, and each vouches for all answers
/// before it. So: the first of a stream, which finds a wrong key, some on the way, and the last;
/// and the evaluation, which stands alone.
Result<void> SyncLearner::check_some_signatures(size_t owner, size_t run,
                                                const wire::ReceivedAnswer& answer) {
  Seat& place = seat(owner, run);
  const bool last = evaluating() || answer.round == plan_.schedule.rounds.size();
  if (place.vouched && !last && answer.round % kSignatureEvery != 0) return {};
  place.vouched = false;
  TRY(check_signature(plan_.charter, plan_.owners[owner], answer));
  place.vouched = true;
  return {};
}

bool SyncLearner::go_on_if_complete() {
  if (answered_ < seats_.size()) return false;
  if (evaluating()) {
    std::vector<learn::Evaluation> evaluations;
    for (size_t run = 0; run < descent_.runs(); ++run) {
      Answers answers;
      for (size_t owner = 0; owner < plan_.owners.size(); ++owner)
        answers.push_back(&*seat(owner, run).answer);
      evaluations.push_back(joint_evaluation(*plan_.evaluation, plan_.owners, answers));
    }
    evaluations_ = std::move(evaluations);
  } else {
    const std::vector<double> answers = mean_answers();
    descent_.step(plan_.moments ? to_minimum(answers) : answers);
  }
  for (Seat& place : seats_) place.answer.reset();
  answered_ = 0;
  return true;
}

std::optional<learn::Evaluation> SyncLearner::evaluation(size_t run) const {
  return evaluations_.empty() ? std::nullopt : std::optional(evaluations_[run]);
}

Result<void> SyncLearner::replay(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const size_t place = TRY(place_of(plan_.owners, owner));
  TRY(take(place, 0, answer));
  go_on_if_complete();
  return {};
}

bool SyncLearner::awaits(size_t owner, size_t run) const {
  return !finished() && !seat(owner, run).answer;
}

Trained SyncLearner::trained() const {
  const auto rounds = static_cast<uint32_t>(rounds_done());
  return {.theta = {model().begin(), model().end()},
          .spent = spent(),
          .answers = std::vector<uint32_t>(plan_.owners.size(), rounds),
          .evaluation = evaluation()};
}

std::vector<JobSpent> SyncLearner::spent(size_t run) const {
  std::vector<JobSpent> spent;
  for (size_t owner = 0; owner < plan_.owners.size(); ++owner)
    spent.push_back(seat(owner, run).spent);
  return spent;
}

/// The message that is due to an owner: a query, or the end of the job.
void SyncLearner::ask(size_t owner, size_t run, std::vector<Outgoing>& out) {
  wire::Stream& stream = *seat(owner, run).stream;
  const auto send = [&](const auto& message) { out.push_back({owner, run, stream.send(message)}); };
  if (refused()) return send(wire::Abort{refused()->code, refused()->what});
  if (finished()) return send(wire::Finished{model_hash(model(run))});
  const auto theta = question(run);
  send(wire::Query{round(), privacy::Public::from_model({theta.begin(), theta.end()}), asked()});
}

std::vector<Outgoing> SyncLearner::ask_all() {
  std::vector<Outgoing> out;
  for (size_t run = 0; run < descent_.runs(); ++run)
    for (size_t owner = 0; owner < plan_.owners.size(); ++owner)
      if (seat(owner, run).greeted) ask(owner, run, out);
  return out;
}

/// Sum over owners of v_i (gamma / n_i) answer_i, always in the order of the charter.
std::vector<double> SyncLearner::mean_answers() const {
  const size_t p = plan_.numbers();
  std::vector<double> mean(p * descent_.runs());
  for (size_t run = 0; run < descent_.runs(); ++run)
    for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
      const PlannedOwner& who = plan_.owners[owner];
      const double factor = who.weight * (plan_.gamma / static_cast<double>(who.rows));
      const std::vector<int64_t>& answer = *seat(owner, run).answer;
      for (size_t j = 0; j < p; ++j) mean[run * p + j] += factor * static_cast<double>(answer[j]);
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
    for (; next < size; ++next) moments[next] /= plan_.moments->off;
    for (double value :
         learn::moments_minimum(moments, p, plan_.l2, plan_.moments->floor, plan_.box))
      step.push_back(-value);
  }
  return step;
}

}  // namespace parley::protocol
