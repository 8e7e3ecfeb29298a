#include "parley/protocol/vertical/learner.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "parley/gate/columns_gate.h"
#include "parley/learn/vertical/alignment.h"

namespace parley::protocol {

namespace {

constexpr size_t kDigestNumbers = sizeof(Hash) / 8;

/// A greeting that tells which records all owners have.
template <class Body>
bool is_after_alignment(const Body& body) {
  const auto* hello = std::get_if<wire::Hello>(&body);
  return hello != nullptr && hello->sharing && hello->sharing->session != 0;
}

}  // namespace

Result<VerticalPlan> vertical_plan(const charter::Charter& charter) {
  auto terms = TRY(plan::vertical_terms(charter));
  VerticalPlan plan{.terms = std::move(terms), .name = charter.name};
  const double parties = static_cast<double>(charter.owners.size());
  for (const charter::Owner& owner : charter.owners)
    plan.owners.push_back(
        {.name = owner.name, .rows = static_cast<uint64_t>(owner.rows), .weight = 1 / parties});
  return plan;
}

VerticalLearner::VerticalLearner(VerticalPlan plan, const std::optional<Secret32>& key)
    : Learner(plan.owners.size()),
      plan_(std::move(plan)),
      key_(key),
      states_(plan_.owners.size()) {}

size_t VerticalLearner::numbers() const {
  return (wire::kPieceBytesMax + 4096) / 8;  // Letters are the longest messages.
}

void VerticalLearner::attend(size_t owner) {
  leave(owner);
  states_[owner].stream.emplace(plan_.terms.charter);
}

/// Without it nothing can go on; when it is back, a new session begins.
void VerticalLearner::leave(size_t owner) {
  states_[owner].stream.reset();
  states_[owner].hello.reset();
  live_ = aligning_ = false;
}

bool VerticalLearner::all_are_there() const {
  return std::all_of(states_.begin(), states_.end(),
                     [](const OwnerState& state) { return state.hello.has_value(); });
}

uint64_t VerticalLearner::rounds_done() const {
  uint32_t least = plan_.terms.rounds;
  for (const OwnerState& state : states_) least = std::min(least, state.taken);
  return least;
}

bool VerticalLearner::awaits(size_t owner) const {
  const OwnerState& state = states_[owner];
  if (finished_) return false;
  if (!live_) return !state.hello;
  if (aligning_) return state.hello->columns == Hash{};
  if (key_ && state.set_up + 1 < states_.size()) return true;
  if (!key_ && rounds_done() < plan_.terms.rounds) return state.taken == rounds_done();
  if (!key_ || round_ > plan_.terms.rounds) return !state.part;
  return dealt_ && !state.answered;
}

Result<Step> VerticalLearner::step(size_t owner, ByteView message) {
  check(states_[owner].stream.has_value());
  auto received = TRY(states_[owner].stream->receive_from_owner(message));
  const PlannedOwner& who = plan_.owners[owner];
  const bool greeting = std::holds_alternative<wire::Hello>(received.body);
  if (greeting == states_[owner].hello.has_value() && !is_after_alignment(received.body))
    return wrong(who, greeting ? "a second greeting" : "a message before its greeting");
  if (!greeting && (finished_ || refused())) return Step{};  // It crossed the farewell.
  return std::visit(
      Match{[&](wire::Hello& hello) -> Result<Step> { return greet(owner, hello); },
            [&](wire::Sealed& letter) -> Result<Step> { return relay(owner, letter); },
            [&](wire::ReceivedAnswer& answer) -> Result<Step> { return take(owner, answer); },
            [&](wire::ModelPart& part) -> Result<Step> { return take(owner, part); },
            [&](wire::IdTokens& piece) -> Result<Step> { return take(owner, piece); },
            [&](wire::Refusal& refusal) -> Result<Step> {
              refuse(refusal_of(who, refusal));
              Step step;
              end_all(step);
              return step;
            },
            [&](auto&) -> Result<Step> { return wrong(who, "a message of another protocol"); }},
      received.body);
}

Result<Step> VerticalLearner::greet(size_t owner, const wire::Hello& hello) {
  TRY(check_version(hello.version));
  OwnerState& state = states_[owner];
  const PlannedOwner& who = plan_.owners[owner];
  if (!hello.sharing) return wrong(who, "a greeting of another protocol");
  const wire::VerticalHello& said = *hello.sharing;
  const Bytes key = wire::signed_key(plan_.terms.charter, who.name, said.key);
  if (who.sign_key && !(said.signature && is_signed(*who.sign_key, key, *said.signature)))
    return wrong(who, "a key for letters that its sign_key in the charter did not sign");
  Step step;
  if (state.hello && (!aligning_ || said.session != session_)) return step;  // It crossed another.
  if (!state.hello) send(owner, welcome(owner, state.taken + 1), step);
  if (hello.last_round < state.taken) {  // The proof will stop it; it is asked nothing.
    step.stale = forgot(who, hello.last_round, state.taken);
    return step;
  }
  state.hello = said;
  state.opened = std::min(said.opened, plan_.terms.rounds);
  if (finished_ || refused()) {
    end_all(step);
  } else if (all_are_there() && plan_.has_to_align() && !all_are_aligned()) {
    if (!aligning_) begin_alignment(step);
  } else if (all_are_there()) {
    if (auto differs = mismatch()) {
      refuse(*std::move(differs));
      end_all(step);
    } else {
      begin_session(step);
    }
  }
  return step;
}

/// The digests of the ids must agree before anything else is sent.
std::optional<Error> VerticalLearner::mismatch() const {
  const Hash& first = states_[0].hello->records;
  std::string others;
  for (size_t i = 1; i < states_.size(); ++i)
    if (states_[i].hello->records != first)
      others += (others.empty() ? "" : ", ") + plan_.owners[i].name;
  if (others.empty()) return std::nullopt;
  return Error{Code::kInvalid,
               "the records of " + plan_.owners[0].name + " and " + others + " are not the same",
               "Compare their lists of ids: every party must bring the same records, each once."};
}

/// An owner's columns have a digest once it knows which records count.
bool VerticalLearner::all_are_aligned() const {
  return std::all_of(states_.begin(), states_.end(),
                     [](const OwnerState& state) { return state.hello->columns != Hash{}; });
}

/// Everyone who attends, in a session of its own.
wire::Session VerticalLearner::next_session() {
  wire::Session session{.session = ++session_};
  for (size_t i = 0; i < states_.size(); ++i)
    session.peers.push_back(
        {plan_.owners[i].name, states_[i].hello->key, states_[i].hello->signature});
  live_ = true;
  aligning_ = dealt_ = false;
  return session;
}

void VerticalLearner::begin_alignment(Step& step) {
  const wire::Session session = next_session();  // Its first round is none.
  aligning_ = true;
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i].hello->columns = Hash{};  // Also of those that knew.
    states_[i].tokens.clear();
    states_[i].all_tokens = false;
    send(i, session, step);
  }
}

Result<Step> VerticalLearner::take(size_t owner, const wire::IdTokens& piece) {
  const PlannedOwner& who = plan_.owners[owner];
  if (!plan_.has_tokens()) return wrong(who, "tokens of ids, which this charter does not use");
  if (!live_ || !aligning_ || piece.session != session_) return Step{};  // Of one that is over.
  OwnerState& state = states_[owner];
  Bytes& all = state.tokens;
  if (state.all_tokens || all.size() != piece.part * wire::kPieceBytesMax)
    return wrong(who, "tokens of ids out of order");
  all.insert(all.end(), piece.tokens.begin(), piece.tokens.end());
  if (all.size() / wire::kTokenBytes > plan_.terms.list_max)
    return wrong(who, "more tokens of ids than records.list_max");
  if (piece.part + 1 < piece.parts) return Step{};
  if (!learn::digests_in(all)) return wrong(who, "tokens of ids that do not rise");
  state.all_tokens = true;
  Step step;
  if (std::all_of(states_.begin(), states_.end(),
                  [](const OwnerState& each) { return each.all_tokens; }))
    tell_common_tokens(step);
  return step;
}

/// To everyone those that all have, and to nobody what only some have.
void VerticalLearner::tell_common_tokens(Step& step) {
  learn::IdDigests common = *learn::digests_in(states_[0].tokens);
  for (size_t i = 1; i < states_.size(); ++i) {
    const learn::IdDigests others = *learn::digests_in(states_[i].tokens);
    learn::IdDigests both;
    std::set_intersection(common.begin(), common.end(), others.begin(), others.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  for (OwnerState& state : states_) state.tokens.clear();
  for (const wire::IdTokens& piece : wire::in_pieces(session_, learn::bytes_of(common)))
    for (size_t i = 0; i < states_.size(); ++i)
      send(i, wire::TokensOfIds{piece, wire::Leg::kDown}, step);
}

void VerticalLearner::begin_session(Step& step) {
  std::vector<Hash> columns;
  wire::Session session = next_session();
  session.first_round = plan_.terms.rounds + 1;
  for (OwnerState& state : states_) {
    columns.push_back(state.hello->columns);
    // Also not beyond the receipts that are here: a journal may have lost the last ones.
    session.first_round = std::min(session.first_round, std::min(state.opened, state.taken) + 1);
    state.set_up = 0;
    state.has_written = state.answered = false;
    state.part.reset();
  }
  round_ = session.first_round;
  for (size_t i = 0; i < states_.size(); ++i) send(i, session, step);
  if (!key_) return;  // Owners go on by themselves.
  dealer_.emplace(plan_.terms, *key_, columns);
  for (size_t i = 0; i < states_.size(); ++i)
    send(i, wire::DealerShare{session_, 0, dealer_->setup_seed(i), {}}, step);
}

/// Passes a letter on, unless it is of a session that is over.
Result<Step> VerticalLearner::relay(size_t owner, wire::Sealed& letter) {
  Step step;
  const wire::LetterHead head = letter.head();
  const size_t to = TRY(place_of(plan_.owners, head.to));
  if (to == owner) return wrong(plan_.owners[owner], "a letter to itself");
  if (!live_ || head.session != session_) return step;
  states_[owner].has_written = true;
  letter.set_sender(plan_.owners[owner].name);
  send(to, wire::Letter{letter, wire::Leg::kDown}, step);
  if (dealer_ && head.round == 0 && head.part + 1 == head.parts && !aligning_) {
    ++states_[owner].set_up;
    const bool all = std::all_of(states_.begin(), states_.end(), [&](const OwnerState& state) {
      return state.set_up + 1 == states_.size();
    });
    if (all && round_ <= plan_.terms.rounds) deal(step);
  }
  return step;
}

void VerticalLearner::deal(Step& step) {
  auto corrections = dealer_->corrections(round_);
  dealt_ = true;
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i].answered = false;
    send(i,
         wire::DealerShare{session_, round_, dealer_->round_seed(i, round_),
                           std::move(corrections[i])},
         step);
  }
}

Result<void> VerticalLearner::check_answer(size_t owner, const wire::ReceivedAnswer& answer) const {
  const OwnerState& state = states_[owner];
  const PlannedOwner& who = plan_.owners[owner];
  const uint32_t round = answer.round;
  if (round < 1 || round > state.taken + 1 || round > plan_.terms.rounds ||
      answer.receipt.round != round || answer.receipt.kind != privacy::ReleaseKind::kAnswer)
    return wrong(who, "a receipt for round " + std::to_string(round) + " after " +
                          std::to_string(state.taken));
  if (answer.values.size() != kDigestNumbers)
    return wrong(who, std::to_string(answer.values.size()) + " numbers instead of a digest");
  if (round <= state.taken) {
    if (answer.receipt.job != state.jobs[round - 1])
      return wrong(who, "another receipt for a round that it has paid for");
    return {};
  }
  // A journal has the receipts, not the digests of the owners' columns: of those the chain vouches.
  const auto question_for = [&](ByteView seed) {
    return gate::sharing_question(plan_.terms.charter, round, seed);
  };
  const Hash question = dealer_ ? question_for(dealer_->round_seed(owner, round))
                        : key_  ? answer.receipt.query
                                : question_for({});
  TRY(check_receipt(who, answer, question, state.jobs.empty() ? Hash{} : state.jobs.back()));
  if (who.sign_key) TRY(check_signature(plan_.terms.charter, who, answer));
  return {};
}

void VerticalLearner::book(size_t owner, const wire::ReceivedAnswer& answer) {
  OwnerState& state = states_[owner];
  state.taken = answer.round;
  state.jobs.push_back(answer.receipt.job);
  state.spent = {answer.receipt.epsilon_spent, 0, answer.receipt.delta_spent};
  keep_newest(owner, plan_.terms.charter, answer);
}

Result<Step> VerticalLearner::take(size_t owner, wire::ReceivedAnswer& answer) {
  TRY(check_answer(owner, answer));
  OwnerState& state = states_[owner];
  Step step;
  const uint32_t round = answer.round;
  if (round > state.taken) {
    book(owner, answer);
    step.taken = std::move(answer);
  }
  state.opened = std::max(state.opened, round - 1);
  if (!key_) {
    finish_if_done(step);
    return step;
  }
  // An owner writes in a session before it pays in it: else it has paid in one that is over.
  if (!live_ || !dealt_ || round != round_ || !state.has_written) return step;
  if (std::exchange(state.answered, true))
    return wrong(plan_.owners[owner], "a second receipt for round " + std::to_string(round));
  const bool all = std::all_of(states_.begin(), states_.end(),
                               [](const OwnerState& each) { return each.answered; });
  if (!all) return step;
  dealt_ = false;
  if (++round_ <= plan_.terms.rounds && dealer_) deal(step);
  finish_if_done(step);
  return step;
}

Result<Step> VerticalLearner::take(size_t owner, const wire::ModelPart& part) {
  Step step;
  if (!live_ || part.session != session_) return step;  // Made in a session that is over.
  OwnerState& state = states_[owner];
  // It needs the others' letters, not their receipts, which may still be on their way.
  const bool all_dealt =
      round_ > plan_.terms.rounds || (round_ == plan_.terms.rounds && dealt_ && state.answered);
  const bool in_time = key_ ? all_dealt : state.taken == plan_.terms.rounds;
  if (!in_time || state.part)
    return wrong(plan_.owners[owner], "a part of the model before its time");
  state.part = part.sha256;
  state.opened = plan_.terms.rounds;
  finish_if_done(step);
  return step;
}

void VerticalLearner::finish_if_done(Step& step) {
  const bool all_paid = key_ ? round_ > plan_.terms.rounds : rounds_done() == plan_.terms.rounds;
  finished_ = all_paid && std::all_of(states_.begin(), states_.end(),
                                      [](const OwnerState& each) { return each.part.has_value(); });
  if (finished_) end_all(step);
}

/// The farewell, to everyone who attends.
void VerticalLearner::end_all(Step& step) {
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].hello) continue;
    if (refused()) {
      send(i, wire::Abort{refused()->code, refused()->what}, step);
      continue;
    }
    wire::Finished farewell;
    for (const auto& part : manifest().parts)
      farewell.parts.push_back({part.owner, part.sha256, 0});
    farewell.model = sha256(as_bytes(learn::to_json(manifest())));
    send(i, farewell, step);
  }
}

learn::Manifest VerticalLearner::manifest() const {
  learn::Manifest manifest{.name = plan_.name, .charter = plan_.terms.charter};
  for (size_t i = 0; i < states_.size(); ++i)
    manifest.parts.push_back({plan_.owners[i].name, states_[i].part.value_or(Hash{})});
  return manifest;
}

Result<void> VerticalLearner::replay(const std::string& owner, const wire::ReceivedAnswer& answer) {
  const size_t place = TRY(place_of(plan_.owners, owner));
  TRY(check_answer(place, answer));
  if (answer.round <= states_[place].taken)
    return wrong(plan_.owners[place], "a second receipt for round " + std::to_string(answer.round));
  book(place, answer);
  return {};
}

Result<void> VerticalLearner::conclude(const std::string& text) {
  const learn::Manifest told = TRY(learn::manifest_from_json(text, ""));
  const Error other{Code::kIntegrity, "is not the manifest of this journal",
                    "Put back the files of the job, or give another --out."};
  if (told.charter != plan_.terms.charter || told.parts.size() != states_.size() ||
      rounds_done() < plan_.terms.rounds)
    return other;
  for (size_t i = 0; i < states_.size(); ++i) {
    if (told.parts[i].owner != plan_.owners[i].name) return other;
    states_[i].part = told.parts[i].sha256;
  }
  if (learn::to_json(manifest()) != text) return other;
  finished_ = true;
  return {};
}

Trained VerticalLearner::trained() const {
  Trained trained{.manifest = learn::to_json(manifest())};
  for (const OwnerState& state : states_) {
    trained.spent.push_back(state.spent);
    trained.answers.push_back(state.taken);
  }
  return trained;
}

}  // namespace parley::protocol
