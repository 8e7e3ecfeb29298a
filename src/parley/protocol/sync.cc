#include "parley/protocol/sync.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "parley/learn/statistics.h"

namespace parley::protocol {
namespace {

constexpr uint32_t kSignatureEvery = 64;

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

Hash model_hash(std::span<const double> theta) {
  TupleBytes tuple;
  for (double value : theta) tuple.add(value);
  return tuple.sha256();
}

size_t SyncPlan::numbers() const {
  return moments ? learn::statistics_size(schedule.start.size()) : schedule.start.size();
}

// The learner.

SyncLearner::SyncLearner(SyncPlan plan, size_t runs)
    : plan_(std::move(plan)),
      descent_(plan_.schedule, plan_.box, plan_.l2, runs),
      seats_(plan_.owners.size() * runs),
      remembered_(plan_.owners.size()) {}

void SyncLearner::remember(size_t owner, wire::Proof proof) {
  remembered_.at(owner) = std::move(proof);
}

std::optional<wire::Proof> SyncLearner::newest(size_t owner) const {
  const auto& own = seat(owner, 0).newest;
  return own ? own : remembered_[owner];
}

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
    return wrong(owner, greeting ? "a second greeting" : "a message before its greeting");
  return std::visit(Match{[&](wire::Hello& hello) { return greet(owner, run, hello); },
                          [&](wire::Refusal& refusal) { return refuse(owner, refusal); },
                          [&](wire::Claim&) -> Result<Step> {
                            return wrong(owner, "a claim, though everyone is asked");
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
  wire::Welcome welcome{wire::kVersion, next, {}};
  for (const auto& proof : {remembered_[owner], place.newest})
    if (proof) welcome.proofs.push_back(*proof);
  Step step;
  step.messages.push_back({owner, run, place.stream->send(welcome)});
  if (hello.last_round + 1 < next) {  // The proof will stop it; it is asked nothing.
    step.stale =
        Error{Code::kIntegrity,
              plan_.owners[owner].name + "'s ledger knows " + std::to_string(hello.last_round) +
                  " answers, the transcript has " + std::to_string(next - 1) + " signed by it",
              "Its ledger was replaced by an older copy: it must be reconciled."};
    return step;
  }
  place.greeted = true;
  if (awaits(owner, run) || finished() || refused_) ask(owner, run, step.messages);
  return step;
}

Result<Step> SyncLearner::refuse(size_t owner, const wire::Refusal& refusal) {
  refused_ = Error{refusal.code, plan_.owners[owner].name + " refused: " + refusal.text};
  return Step{.messages = ask_all()};
}

Error SyncLearner::wrong(size_t owner, const std::string& what) const {
  return {Code::kIntegrity, plan_.owners[owner].name + " sent " + what};
}

Result<void> SyncLearner::take(size_t owner, size_t run, const wire::ReceivedAnswer& answer) {
  Seat& place = seat(owner, run);
  if (finished()) return wrong(owner, "an answer after the last round");
  if (answer.receipt.kind != asked())
    return wrong(owner, evaluating() ? "an answer where its evaluation is due"
                                     : "an evaluation where an answer is due");
  if (answer.round != round() || answer.receipt.round != answer.round)
    return wrong(owner, "an answer to round " + std::to_string(answer.round) + " in round " +
                            std::to_string(round()));
  if (answer.values.size() != numbers())
    return wrong(owner, std::to_string(answer.values.size()) + " numbers instead of " +
                            std::to_string(numbers()));
  if (place.answer) return wrong(owner, "a second answer to round " + std::to_string(answer.round));
  if (plan_.owners[owner].sign_key) TRY(check_receipt(owner, run, answer));
  place.answer = answer.values;
  const double epsilon = answer.receipt.epsilon_spent;
  place.spent = {epsilon, evaluating() ? epsilon - place.spent.epsilon : 0};
  place.job = answer.receipt.job;
  if (answer.signature) place.newest = {plan_.charter, answer.receipt, *answer.signature};
  ++answered_;
  return {};
}

privacy::ReleaseKind SyncLearner::asked() const {
  return evaluating() ? privacy::ReleaseKind::kEvaluation : privacy::ReleaseKind::kAnswer;
}
uint32_t SyncLearner::round() const {
  return evaluating() ? 1 : static_cast<uint32_t>(rounds_done() + 1);
}
size_t SyncLearner::numbers() const {
  return evaluating() ? plan_.evaluation->size() : plan_.numbers();
}
std::span<const double> SyncLearner::question(size_t run) const {
  return evaluating() ? model(run) : descent_.theta(run);
}

/// A receipt must be for this question, these numbers and all before them.
Result<void> SyncLearner::check_receipt(size_t owner, size_t run,
                                        const wire::ReceivedAnswer& answer) {
  const privacy::Receipt& receipt = answer.receipt;
  if (receipt.query != gate::query_hash(plan_.charter, answer.round, question(run), asked()))
    return wrong(owner, "an answer to another question");
  if (receipt.answer != sha256(bytes_of(answer.values)))
    return wrong(owner, "a receipt for other numbers");
  const Hash before = evaluating() ? Hash{} : seat(owner, run).job;  // Of each kind for itself.
  if (receipt.job != privacy::job_after(before, receipt.query, receipt.answer))
    return wrong(owner, "a receipt of another job");
  return check_signature(owner, run, answer);
}

/// To check a signature takes longer than all else in a round, and each vouches for all answers
/// before it. So: the first of a stream, which finds a wrong key, some on the way, and the last;
/// and the evaluation, which stands alone.
Result<void> SyncLearner::check_signature(size_t owner, size_t run,
                                          const wire::ReceivedAnswer& answer) {
  const SyncPlan::Owner& who = plan_.owners[owner];
  Seat& place = seat(owner, run);
  const bool last = evaluating() || answer.round == plan_.schedule.rounds.size();
  if (place.vouched && !last && answer.round % kSignatureEvery != 0) return {};
  const Bytes bytes = wire::signed_bytes(plan_.charter, who.name, answer.receipt);
  place.vouched = answer.signature && is_signed(*who.sign_key, bytes, *answer.signature);
  if (place.vouched) return {};
  return Error{Code::kIntegrity,
               who.name + " sent a receipt that its sign_key in the charter did not sign",
               "Its policy must name the key that `parley join` made for this charter."};
}

bool SyncLearner::go_on_if_complete() {
  if (answered_ < seats_.size()) return false;
  if (evaluating()) {
    std::vector<learn::Evaluation> evaluations;
    for (size_t run = 0; run < descent_.runs(); ++run) evaluations.push_back(joint_evaluation(run));
    evaluations_ = std::move(evaluations);
  } else {
    const std::vector<double> answers = mean_answers();
    descent_.step(plan_.moments ? to_minimum(answers) : answers);
  }
  for (Seat& place : seats_) place.answer.reset();
  answered_ = 0;
  return true;
}

/// The sums of all owners over the number of all rows: every row counts alike, whatever the weights
/// of the training. The noise of owners is independent, so variances add up.
learn::Evaluation SyncLearner::joint_evaluation(size_t run) const {
  const learn::EvaluationMap& map = *plan_.evaluation;
  double rows = 0, variance = 0;
  std::vector<double> sum(map.size());
  for (size_t owner = 0; owner < plan_.owners.size(); ++owner) {
    rows += static_cast<double>(plan_.owners[owner].rows);
    variance += plan_.owners[owner].evaluation_variance;
    for (size_t j = 0; j < sum.size(); ++j)
      sum[j] += static_cast<double>((*seat(owner, run).answer)[j]);
  }
  const double loss = map.gamma() / rows, right = loss / map.bound(), error = std::sqrt(variance);
  learn::Evaluation found{
      .loss = sum[0] * loss, .loss_error = error * loss, .loss_bound = map.bound()};
  if (sum.size() > 1) found.accuracy = sum[1] * right, found.accuracy_error = error * right;
  return found;
}

std::optional<learn::Evaluation> SyncLearner::evaluation(size_t run) const {
  return evaluations_.empty() ? std::nullopt : std::optional(evaluations_[run]);
}

Result<void> SyncLearner::replay(const std::string& owner, wire::ReceivedAnswer answer) {
  const auto found = std::find_if(plan_.owners.begin(), plan_.owners.end(),
                                  [&](const auto& each) { return each.name == owner; });
  if (found == plan_.owners.end())
    return Error{Code::kIntegrity, "an answer of '" + owner + "', who is not in the charter"};
  TRY(take(static_cast<size_t>(found - plan_.owners.begin()), 0, answer));
  go_on_if_complete();
  return {};
}

bool SyncLearner::awaits(size_t owner, size_t run) const {
  return !finished() && !seat(owner, run).answer;
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
  if (refused_) return send(wire::Abort{refused_->code, refused_->what});
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
      const SyncPlan::Owner& who = plan_.owners[owner];
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

// The owner.

SyncOwner::SyncOwner(const Hash& charter, std::string name, gate::Gate gate,
                     std::optional<SigningKey> key)
    : charter_(charter),
      name_(std::move(name)),
      stream_(charter),
      gate_(std::move(gate)),
      key_(std::move(key)) {}

Bytes SyncOwner::connect() {
  stream_ = wire::Stream(charter_);
  return stream_.send(wire::Hello{wire::kVersion, gate_.last_round()});
}

Result<std::optional<Bytes>> SyncOwner::step(ByteView message) {
  refused_.reset();
  const auto received = TRY(stream_.receive_to_owner(message));
  using Reply = Result<std::optional<Bytes>>;
  return std::visit(Match{[&](const wire::Welcome& welcome) -> Reply {
                            TRY(be_welcomed(welcome));
                            return std::optional<Bytes>();
                          },
                          [&](const wire::ReceivedQuery& query) -> Reply {
                            return std::optional(TRY(answer(query)));
                          },
                          [&](const wire::Grant&) -> Reply {
                            return Error{Code::kIntegrity, "a grant that nobody claimed"};
                          },
                          [&](const wire::Finished& finished) -> Reply {
                            finished_ = finished.model;
                            return std::optional<Bytes>();
                          },
                          [&](const wire::Abort& abort) -> Reply {
                            return Error{abort.code, "the learner ended the job: " + abort.text};
                          }},
                    received.body);
}

Result<void> SyncOwner::be_welcomed(const wire::Welcome& welcome) {
  TRY(check_version(welcome.version));
  for (const wire::Proof& proof : welcome.proofs) TRY(recognise(proof));
  if (welcome.next_round <= gate_.last_round() + 1) return {};
  return Error{Code::kIntegrity,
               "the learner has " + std::to_string(welcome.next_round - 1) +
                   " answers of ours, this ledger knows " + std::to_string(gate_.last_round()),
               "The ledger was replaced by an older copy, which forgets what was spent. Put the "
               "newest one back."};
}

Result<void> SyncOwner::recognise(const wire::Proof& proof) {
  if (!key_) return {};
  const Bytes bytes = wire::signed_bytes(proof.charter, name_, proof.receipt);
  if (!is_signed(key_->public_key(), bytes, proof.signature))
    return Error{Code::kIntegrity, "the learner shows a receipt that this owner did not sign",
                 "Do not answer it, and ask who runs it."};
  return gate_.recognise(proof.charter, proof.receipt);
}

Result<Bytes> SyncOwner::answer(const wire::ReceivedQuery& query) {
  if (query.kind == privacy::ReleaseKind::kCount)
    return Error{Code::kIntegrity, "the learner asks for a count, which no charter allows"};
  auto released = query.kind == privacy::ReleaseKind::kEvaluation
                      ? gate_.evaluate(query.round, query.theta)
                      : gate_.answer(query.round, query.theta);
  if (!released && released.error().code == Code::kFailed) return released.error();
  if (!released) {
    refused_ = released.error();
    return stream_.send(wire::Refusal{refused_->code, refused_->what});
  }
  std::optional<Signature> signature;
  if (key_) signature = key_->sign(wire::signed_bytes(charter_, name_, released->receipt()));
  return stream_.send(wire::Answer{*std::move(released), signature});
}

}  // namespace parley::protocol
