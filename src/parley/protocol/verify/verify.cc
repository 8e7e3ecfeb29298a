#include "parley/protocol/verify/verify.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "parley/base/math/number.h"
#include "parley/base/printable.h"
#include "parley/gate/gate.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/terms.h"
#include "parley/plan/vertical_terms.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/peers/own_model.h"
#include "parley/protocol/trained_model.h"
#include "parley/protocol/verify/verify_epsilon.h"
#include "parley/protocol/verify/verify_model.h"
#include "parley/wire/answer.h"

namespace parley::protocol {
namespace {

using wire::ReceivedAnswer;

/// The event that the charter prescribes for an owner's releases of a kind; none where it asks for
/// none.
using Prescribed = std::map<privacy::ReleaseKind, std::string>;
using enum privacy::ReleaseKind;

Result<Prescribed> prescribed_for(const charter::Charter& charter, size_t owner) {
  if (charter.secure_aggregation) {
    const plan::SecaggPlan shares = TRY(plan::secagg_plan(charter));
    Prescribed events;
    for (const auto kind : {kAnswer, kEvaluation, kGram, kAfterAlarm})
      if (const auto sums = shares.owners[owner].of(kind)) events[kind] = sums->event();
    return events;
  }
  if (charter.columns_apart()) {
    const plan::VerticalTerms terms = TRY(plan::vertical_terms(charter));
    return Prescribed{{kAnswer, terms.event()}};
  }
  const plan::Terms terms = TRY(plan::terms_for(charter, owner));
  Prescribed events;
  std::visit(
      [&]<class M>(const M& mechanism) {
        events[kAnswer] = mechanism.event(terms.sensitivity<typename M::Norm>());
      },
      terms.mechanism);
  if (terms.gram) events[kGram] = terms.gram->mechanism.event(terms.gram_sensitivity());
  if (terms.evaluation)
    std::visit(
        [&]<class M>(const M& mechanism) {
          events[kEvaluation] = mechanism.event(terms.evaluation_sensitivity<typename M::Norm>());
        },
        terms.evaluation->mechanism);
  return events;
}

/// The kinds in the order in which they are paid, and the most of each.
using Most = std::vector<std::pair<privacy::ReleaseKind, uint64_t>>;

/// By kind, in that order, and round.
using ByRound = std::map<std::pair<size_t, uint32_t>, const ReceivedAnswer*>;

bool is_evaluation(const ReceivedAnswer& answer) { return answer.receipt.kind == kEvaluation; }

/// What an alarm of the first answers did to the job.
struct Alarm {
  bool stopped = false, fell_back = false;
};

Most most_of(const charter::Charter& charter, const Alarm& alarm, bool evaluates) {
  const auto& secure = charter.secure_aggregation;
  const uint64_t repeats = secure ? static_cast<uint64_t>(secure->repeats) : 0;
  const bool short_job = alarm.stopped || alarm.fell_back;
  const uint64_t answers = (short_job ? 1 : static_cast<uint64_t>(charter.answers())) + repeats;
  Most most;
  if (charter.protocol.rule() == charter::Rule::kGram) most.emplace_back(kGram, 1 + repeats);
  most.emplace_back(kAnswer, answers);
  if (alarm.fell_back) {
    most.emplace_back(kGram, 1 + repeats);
    most.emplace_back(kAfterAlarm, plan::kAfterAlarmRounds + repeats);
  }
  if (evaluates) most.emplace_back(kEvaluation, 1 + repeats);
  return most;
}

class Verifier {
 public:
  /// The learner is the protocol's, made from the charter's plan.
  Verifier(const Evidence& evidence, std::unique_ptr<Learner> learner, const Alarm& alarm)
      : evidence_(evidence),
        learner_(std::move(learner)),
        tolerant_(evidence.charter.network.quorum <
                  static_cast<int64_t>(evidence.charter.owners.size())),
        evaluates_(evidence.charter.privacy.evaluate > 0 && evidence.manifest == nullptr &&
                   !alarm.stopped),
        most_(most_of(evidence.charter, alarm, evaluates_)),
        sums_(evidence.charter.secure_aggregation.has_value()),
        owners_(evidence.charter.owners) {
    const charter::Charter& charter = evidence.charter;
    result_.charter_name = charter.name;
    result_.charter = charter.hash;
    result_.rounds = alarm.stopped     ? 1
                     : alarm.fell_back ? 1 + static_cast<uint64_t>(plan::kAfterAlarmRounds)
                                       : static_cast<uint64_t>(charter.learner_steps());
    result_.answers = evidence.transcript.entries.size() + (evidence.published ? 1 : 0);
    result_.in_parts = evidence.manifest != nullptr;
    result_.dealt = has_dealer(charter);
  }

  Result<VerifyResult> run() {
    if (evidence_.transcript.charter != result_.charter) {
      found("", 0,
            "the transcript is of charter " + to_hex(evidence_.transcript.charter) + ", given is " +
                to_hex(result_.charter));
      return std::move(result_);
    }
    for (size_t i = 0; i < owners_.size(); ++i) TRY(look_at(i));
    look_for_strangers();
    if (evidence_.published) TRY(look_at_release(*evidence_.published));
    if (result_.holds() && replay_all()) {
      if (evidence_.manifest != nullptr)
        look_at(*evidence_.manifest);
      else
        recompute();
    }
    compare_ledgers();
    return std::move(result_);
  }

 private:
  /// The transcript's words go to a person's terminal.
  void found(const std::string& owner, uint32_t round, const std::string& what) {
    result_.findings.push_back({printable(owner), round, printable(what)});
  }

  /// Of one answer or of one evaluation.
  void found(const std::string& owner, const ReceivedAnswer& answer, const std::string& what) {
    const privacy::ReleaseKind kind = answer.receipt.kind;
    const bool numbered = kind == kAnswer || kind == kAfterAlarm;
    found(owner, numbered ? answer.round : 0,
          (numbered ? "" : "its " + std::string(ledger::name_of(kind)) + " ") + what);
  }

  /// Its place in the order of payments; after all others if the charter asks for none.
  size_t place_of(privacy::ReleaseKind kind) const {
    size_t place = 0;
    while (place < most_.size() && most_[place].first != kind) ++place;
    return place;
  }
  uint64_t most(privacy::ReleaseKind kind) const {
    const size_t place = place_of(kind);
    return place < most_.size() ? most_[place].second : 0;
  }

  Result<void> look_at(size_t place) {
    const charter::Owner& owner = owners_[place];
    const Prescribed events = TRY(prescribed_for(evidence_.charter, place));
    VerifyResult::Owner& line = result_.owners.emplace_back();
    line.name = owner.name;
    line.epsilon_charter = evidence_.charter.owners[place].epsilon;
    line.delta_charter = evidence_.charter.owners[place].delta;
    ByRound by_round;
    for (const wire::Entry& entry : evidence_.transcript.entries) {
      if (entry.owner != owner.name) continue;
      ++line.answers;
      const ReceivedAnswer& answer = entry.answer;
      const auto event = events.find(answer.receipt.kind);
      look_at(owner, event == events.end() ? "" : event->second, answer);
      if (!by_round.emplace(std::pair(place_of(answer.receipt.kind), answer.round), &answer).second)
        found(owner.name, answer, "is there twice");
    }
    look_at_rounds(owner.name, by_round);
    add_up_epsilon(line, by_round, events);
    return {};
  }

  /// The learner's own, for what is not a question: see `published`.
  Result<void> look_at_release(const Evidence::Published& published) {
    const charter::Charter& charter = published.charter;
    const size_t place = TRY(place_of_learner(charter));
    const charter::Owner& owner = charter.owners[place];
    const ReceivedAnswer& answer = published.release.answer;
    release_terms_ = TRY(plan::terms_for(charter, place));
    VerifyResult::Owner& line = result_.owners.emplace_back();
    line.name = owner.name, line.answers = 1;
    line.epsilon_charter = owner.epsilon, line.delta_charter = owner.delta;
    look_at(owner, TRY(prescribed_for(charter, place)).at(kAnswer), answer);
    if (answer.round != 1 || answer.values.size() != release_terms_->numbers())
      found(owner.name, answer, "is no model of this charter");
    add_up_epsilon(line, {{{place_of(kAnswer), answer.round}, &answer}},
                   {{kAnswer, answer.receipt.event}});
    return {};
  }

  static Result<size_t> place_of_learner(const charter::Charter& charter) {
    for (size_t i = 0; i < charter.owners.size(); ++i)
      if (charter.owners[i].name == charter.learner.name) return i;
    return Error{Code::kInvalid, "the learner of this charter is no owner"};
  }

  /// The model that the learner has published, near the one that the others' answers make.
  learn::Model published_near(const Trained& others, const learn::Training& training) {
    const auto& [charter, release] = *evidence_.published;
    if (release.answer.receipt.query != gate::query_hash(result_.charter, 1, others.theta))
      found(release.owner, release.answer, "was not tuned near the model of the others");
    Trained all{.theta = published_model(release.answer.values, release_terms_->lattice.gamma(),
                                         release_terms_->box)};
    for (size_t i = 0, k = 0; i < charter.owners.size(); ++i) {
      const bool own = charter.owners[i].name == release.owner;
      const privacy::Receipt& receipt = release.answer.receipt;
      all.spent.push_back(own ? JobSpent{receipt.epsilon_spent, 0, receipt.delta_spent}
                              : others.spent[k]);
      all.answers.push_back(own ? 1 : others.answers[k]);
      k += own ? 0 : 1;
    }
    return trained_model(charter, all, training);
  }

  /// One answer by itself.
  void look_at(const charter::Owner& owner, const std::string& event,
               const ReceivedAnswer& answer) {
    const privacy::Receipt& receipt = answer.receipt;
    const auto wrong = [&](const std::string& what) { found(owner.name, answer, what); };
    const Bytes bytes = wire::signed_bytes(result_.charter, owner.name, receipt);
    if (!answer.signature)
      wrong("is not signed");
    else if (!is_signed(*owner.sign_key, bytes, *answer.signature))
      wrong("is not what " + owner.name + "'s sign_key in the charter signed");
    if (receipt.round != answer.round)
      wrong("has the receipt of round " + std::to_string(receipt.round));
    if (receipt.answer != sha256(bytes_of(answer.values)))
      wrong("has other numbers than its receipt");
    if (receipt.event != event && !event.empty())
      wrong("the charter prescribes " + event + ", it was paid as " + receipt.event);
  }

  /// The chain of rounds must be whole: nothing left out, nothing beyond the end. Where a job may
  /// do without some, an owner gives as many as it came to, up to the charter's answers.
  void look_at_rounds(const std::string& owner, const ByRound& by_round) {
    const uint64_t most = this->most(kAnswer);
    const auto given =
        static_cast<uint64_t>(std::count_if(by_round.begin(), by_round.end(), [](const auto& each) {
          return each.second->receipt.kind == kAnswer;
        }));
    const uint64_t due = sums_ ? 0 : tolerant_ ? std::min(given, most) : most;
    uint64_t missing = 0, first = 0;
    for (uint32_t round = 1; round <= due; ++round)
      if (!by_round.contains({place_of(kAnswer), round}) && missing++ == 0) first = round;
    if (missing > 0)
      found(
          owner, static_cast<uint32_t>(first),
          missing == 1 ? "is missing" : "is missing, and " + std::to_string(missing - 1) + " more");
    if (evaluates_ && !tolerant_ && !sums_ && !by_round.contains({place_of(kEvaluation), 1}))
      found(owner, 0, "its evaluation is missing");
    if (most_.front().first == kGram && !sums_ && !by_round.contains({place_of(kGram), 1}))
      found(owner, 0, "its gram is missing");
    for (const auto& [place, answer] : by_round) look_for_more(owner, *answer);
  }

  void look_for_more(const std::string& owner, const ReceivedAnswer& answer) {
    const bool evaluation = is_evaluation(answer);
    const uint64_t last = most(answer.receipt.kind);
    if (answer.receipt.kind == privacy::ReleaseKind::kCount)
      found(owner, answer, "is a count, and the charter asks for none");
    else if (answer.round == 0 || answer.round > last)
      found(owner, answer,
            evaluation ? "is one more than the charter asks for"
                       : "is beyond the " + std::to_string(last) + " of the charter");
  }

  /// What the receipts' events amount to, beside what the receipts claim and the charter allows. Of
  /// sums, payments between two receipts were for the same and are counted.
  void add_up_epsilon(VerifyResult::Owner& line, const ByRound& by_round,
                      const Prescribed& events) {
    SecondAccountant accountant;
    std::pair<size_t, uint32_t> before{};  // the last receipt
    for (const auto& [place, answer] : by_round) {
      const privacy::Receipt& receipt = answer->receipt;
      if (place.first != before.first) {
        if (sums_) add_lost(accountant, events, before, *answer);
        before = {place.first, 0};
      }
      const uint64_t last = std::min<uint64_t>(answer->round, most(receipt.kind));
      for (++before.second; sums_ && before.second < last; ++before.second)
        static_cast<void>(bool(accountant.add(receipt.event)));
      if (const auto known = accountant.add(receipt.event); !known)
        return found(line.name, *answer, "has " + known.error().what);
      line.epsilon_claimed = receipt.epsilon_spent;
      if (!accountant.agrees(receipt.epsilon_spent, receipt.delta_spent))
        found(line.name, *answer,
              "claims epsilon " + shortest(receipt.epsilon_spent) + " and delta " +
                  shortest(receipt.delta_spent) + " so far, the receipts add up to " +
                  shortest(accountant.epsilon(receipt.delta_spent)) + " at that delta");
    }
    line.epsilon = accountant.epsilon(line.delta_charter);
    line.accountant = accountant.name();
    accountants_.insert_or_assign(line.name, accountant);
    if (line.epsilon > line.epsilon_charter)
      found(line.name, 0,
            "spent epsilon " + shortest(line.epsilon) + ", the charter allows " +
                shortest(line.epsilon_charter));
  }

  /// Payments for sums after the last receipt of a kind, as the first of a later kind shows: up to
  /// the most of each kind between them.
  void add_lost(SecondAccountant& accountant, const Prescribed& events,
                std::pair<size_t, uint32_t> after, const ReceivedAnswer& next) const {
    SecondAccountant found = accountant;
    if (explains_lost(found, events, after, next)) accountant = found;
  }

  bool explains_lost(SecondAccountant& so_far, const Prescribed& events,
                     std::pair<size_t, uint32_t> after, const ReceivedAnswer& next) const {
    const auto [place, paid] = after;
    if (place >= place_of(next.receipt.kind)) {
      SecondAccountant with = so_far;
      const uint64_t own = std::min<uint64_t>(next.round, most(next.receipt.kind));
      for (uint64_t i = 0; i < own; ++i) static_cast<void>(bool(with.add(next.receipt.event)));
      return with.agrees(next.receipt.epsilon_spent, next.receipt.delta_spent);
    }
    const auto& [kind, most] = most_[place];
    const SecondAccountant before = so_far;
    for (uint64_t lost = 0; lost <= most - std::min<uint64_t>(most, paid); ++lost) {
      so_far = before;
      for (uint64_t i = 0; i < lost; ++i) static_cast<void>(bool(so_far.add(events.at(kind))));
      if (explains_lost(so_far, events, {place + 1, 0}, next)) return true;
    }
    so_far = before;
    return false;
  }

  void look_for_strangers() {
    for (const wire::Entry& entry : evidence_.transcript.entries)
      if (std::none_of(owners_.begin(), owners_.end(),
                       [&](const charter::Owner& owner) { return owner.name == entry.owner; }))
        found(entry.owner, entry.answer, "comes from no owner of the charter");
  }

  /// The learner's own steps again. Only here do questions show: they follow from earlier answers.
  bool replay_all() {
    const auto whole = evidence_.transcript.in_order(
        [&](const wire::Entry& entry) -> Result<void> {
          const auto taken = learner_->replay(entry.owner, entry.answer);
          if (!taken)
            found(entry.owner, is_evaluation(entry.answer) ? 0 : entry.answer.round,
                  taken.error().what);
          return taken;
        },
        [&](const wire::Note& note) -> Result<void> {
          const auto taken = learner_->replay(note);
          if (!taken) found(note.owner, note.round, "the learner notes " + taken.error().what);
          return taken;
        });
    if (!whole) return false;
    const bool ended =
        result_.in_parts ? learner_->rounds_done() == result_.rounds : learner_->finished();
    if (!ended)
      found("", 0,
            "the transcript ends after " + std::to_string(learner_->rounds_done()) + " of " +
                std::to_string(result_.rounds) + " rounds");
    return ended;
  }

  /// It names a part of every owner, and this charter; what the parts hold only their owners see.
  void look_at(const learn::Manifest& manifest) {
    if (manifest.charter != result_.charter)
      found("", 0, "the manifest is of charter " + to_hex(manifest.charter));
    if (manifest.name != result_.charter_name)
      found("", 0, "the manifest is of " + in_quotes(manifest.name));
    for (size_t i = 0; i < std::max(owners_.size(), manifest.parts.size()); ++i)
      if (i >= owners_.size())
        found(manifest.parts[i].owner, 0, "has a part in the manifest and is no owner");
      else if (i >= manifest.parts.size() || manifest.parts[i].owner != owners_[i].name)
        found(owners_[i].name, 0, "has no part in its place in the manifest");
      else if (manifest.parts[i].sha256 == Hash{})
        found(owners_[i].name, 0, "has a part without a hash in the manifest");
  }

  void recompute() {
    result_.recomputed = true;
    const learn::Training training{.started = evidence_.transcript.started,
                                   .transcript_sha256 = transcript_hash()};
    const Trained trained = learner_->trained();
    result_.evaluation = trained.evaluation;
    result_.distance = trained.distance;
    result_.pilot_check = trained.pilot;
    const learn::Model expected = evidence_.published
                                      ? published_near(trained, training)
                                      : trained_model(evidence_.charter, trained, training);
    for (const std::string& what : differences(evidence_.model, expected)) found("", 0, what);
    look_at(evidence_.model.card);
  }

  /// An epsilon on the card holds at the delta beside it.
  void look_at(const learn::PrivacyCard& card) {
    constexpr double kRoundedUp = 1 - 1e-9;
    for (const auto& owner : card.owners) {
      const auto known = accountants_.find(owner.name);
      if (known == accountants_.end()) continue;
      const double epsilon = known->second.epsilon(owner.delta);
      if (!(owner.epsilon >= kRoundedUp * epsilon))
        found(owner.name, 0,
              "has epsilon " + shortest(owner.epsilon) + " on the model's card at delta " +
                  shortest(owner.delta) + ", its receipts add up to " + shortest(epsilon));
    }
  }

  /// The model names the packed file; of an unpacked one nobody can say whether it is the same.
  std::optional<std::string> transcript_hash() {
    result_.file_compared = evidence_.file.has_value();
    return evidence_.file ? to_hex(*evidence_.file) : evidence_.model.training.transcript_sha256;
  }

  void compare_ledgers() {
    for (const ledger::Contents& ledger : evidence_.ledgers)
      for (VerifyResult::Owner& line : result_.owners)
        if (line.name == ledger.owner) {
          compare(ledger);
          line.ledger_head = ledger.head;
        }
  }

  void compare(const ledger::Contents& ledger) {
    std::map<std::pair<std::string, int64_t>, const ledger::Row*> rows;  // by kind and round
    std::set<std::pair<std::string, int64_t>> seen;
    for (const ledger::Row& row : ledger.rows)
      if (ledger::release_kind(row.kind) && row.charter == result_.charter)
        rows[{row.kind, row.round}] = &row;
    std::vector<wire::Entry> entries = evidence_.transcript.entries;
    if (evidence_.published) entries.push_back(evidence_.published->release);
    for (const auto& [owner, answer] : entries) {
      if (owner != ledger.owner) continue;
      const std::pair place(std::string(ledger::name_of(answer.receipt.kind)),
                            int64_t{answer.round});
      const auto row = rows.find(place);
      if (row == rows.end())
        found(owner, answer, "is not in the ledger");
      else if (ledger.chain.known_as(*row->second) != answer.receipt.chain)
        found(owner, answer,
              "has a receipt for another row than the ledger's row " +
                  std::to_string(row->second->id));
      seen.insert(place);
    }
    for (const auto& [place, row] : rows)
      if (!seen.contains(place) && !may_have_stayed(place, seen))
        found(ledger.owner, place.first == "answer" ? static_cast<uint32_t>(place.second) : 0,
              (place.first == "answer" ? "" : "its " + place.first + " ") + "is row " +
                  std::to_string(row->id) + " of the ledger, and not in the transcript");
  }

  /// Where a job may do without an owner's answers, the next after those in the transcript, or its
  /// evaluation, may have been paid for and come too late.
  bool may_have_stayed(const std::pair<std::string, int64_t>& place,
                       const std::set<std::pair<std::string, int64_t>>& seen) const {
    if (sums_) return true;
    const auto given = std::count_if(seen.begin(), seen.end(),
                                     [&](const auto& each) { return each.first == place.first; });
    return tolerant_ && place.second == given + 1;
  }

  const Evidence& evidence_;
  std::unique_ptr<Learner> learner_;
  bool tolerant_;   // of owners that stay away
  bool evaluates_;  // after the last round
  Most most_;
  bool sums_;  // under secure aggregation, where what was paid for may never have come
  const std::vector<charter::Owner>& owners_;
  std::optional<plan::Terms> release_terms_{};
  std::map<std::string, SecondAccountant> accountants_{};  // of each owner, all its receipts
  VerifyResult result_{};
};

/// The answers tell it by themselves.
Alarm alarm_in(Learner& learner, const wire::Transcript& transcript) {
  static_cast<void>(bool(transcript.in_order(
      [&](const wire::Entry& entry) { return learner.replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return learner.replay(note); })));
  return {learner.guard().stopped(), learner.guard().falls_back()};
}

}  // namespace

Result<VerifyResult> verify(const Evidence& evidence) {
  // Receipts are looked at, not dealt for: any key will do.
  const auto dealer = has_dealer(evidence.charter) ? std::optional(Secret32{}) : std::nullopt;
  const auto made = [&] {
    return make_learner(evidence.charter, evidence.pilot, Receipts::kSigned, dealer);
  };
  const bool tests = evidence.charter.protocol.rule() == charter::Rule::kPilotNewton;
  const Alarm alarm = tests ? alarm_in(*TRY(made()), evidence.transcript) : Alarm{};
  return Verifier(evidence, TRY(made()), alarm).run();
}

}  // namespace parley::protocol
