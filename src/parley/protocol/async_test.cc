#include "parley/protocol/async.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "parley/learn/objective.h"
#include "parley/ledger/simulated.h"
#include "parley/wire/transcript.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/tiny_job.h"

namespace parley::protocol {
namespace async_test {

using charter::Contact, test::kBox, test::key_of, test::lattice, test::SeededEntropy,
    test::StoppedClock, test::tiny_owner;

constexpr uint32_t kAnswers = 3;  // most of one owner

AsyncPlan plan_for(Contact contact = Contact::kOwnerRequests, uint64_t rounds = 5) {
  AsyncPlan plan{.charter = {4, 5, 6},
                 .gamma = lattice().gamma(),
                 .answers = kAnswers,
                 .contact = contact,
                 .rule = {.step = .2,
                          .l2 = .02,
                          .box = .5,
                          .dimension = 2,
                          .rounds = rounds,
                          .output = learn::AsyncOutput::kLast}};
  plan.rule.add(.6, 1), plan.rule.add(.4, 1), plan.rule.set_steps();
  plan.owners = {{"one", 3, .6, key_of(1).public_key()}, {"two", 2, .4, key_of(2).public_key()}};
  return plan;
}

/// An owner with its ledger and its process.
struct OwnerContext {
  StoppedClock clock;
  SeededEntropy entropy;
  ledger::Ledger ledger;
  ledger::DatasetId dataset;
  int number;
  Contact contact;
  double epsilon;
  std::optional<AsyncOwner> owner{};

  OwnerContext(int number, double epsilon, Contact contact = Contact::kOwnerRequests)
      : entropy(1, "owner", uint64_t(number)),
        ledger(*ledger::Ledger::open_volatile(number == 1 ? "one" : "two", clock,
                                              ledger::Simulated{})),
        dataset(*ledger.declare("data", test::pure_budget(epsilon))),
        number(number),
        contact(contact),
        epsilon(epsilon) {
    restart();
  }
  void restart() {
    const auto sensitivity = plan::sensitivity<L1>(lattice(), 1);
    plan::Terms terms{.charter = plan_for().charter,
                      .rows = number == 1 ? 3u : 2u,
                      .answers = kAnswers,
                      .box = .5,
                      .loss = learn::Squared{},
                      .lattice = lattice(),
                      .mechanism = *privacy::Laplace::calibrate(sensitivity, kAnswers,
                                                                *privacy::Epsilon::make(epsilon))};
    owner.reset();
    owner.emplace(terms.charter, number == 1 ? "one" : "two", contact,
                  *gate::Gate::open(gate::Records(std::make_shared<data::Rows>(tiny_owner(number))),
                                    terms, ledger, dataset, entropy, 1),
                  key_of(number));
  }
  size_t place() const { return size_t(number - 1); }
  double spent() const { return ledger.spent(dataset).pure; }

  /// Opens a stream and takes in the welcome; what the owner says to what follows it, if anything.
  std::optional<Bytes> attend(AsyncLearner& learner) {
    learner.attend(place());
    std::optional<Bytes> last;
    const Step step = *learner.step(place(), owner->connect());
    for (const auto& each : step.messages) last = *owner->step(each.message);
    return last;
  }
  /// Its clock ticks: what comes back to its claim.
  Step claim(AsyncLearner& learner) { return *learner.step(place(), *owner->tick()); }
  Bytes reply(const Step& step) { return **owner->step(step.messages.at(0).message); }
  /// A whole round.
  Step round(AsyncLearner& learner) { return *learner.step(place(), reply(claim(learner))); }
};

struct Two {
  AsyncLearner learner;
  OwnerContext one, two;
  explicit Two(double epsilon = 1, AsyncPlan plan = plan_for())
      : learner(plan), one(1, epsilon, plan.contact), two(2, epsilon, plan.contact) {
    one.attend(learner), two.attend(learner);
  }
};

// Golden G4 through gate, ledger and wire: with almost no noise, up to the lattice.
TEST(Async, FollowsGoldenG4WhenNoiseVanishes) {
  Two job(1e6);
  for (int who : {1, 2, 2, 1}) (who == 1 ? job.one : job.two).round(job.learner);
  const Step last = job.two.round(job.learner);
  EXPECT_TRUE(job.learner.finished());
  EXPECT_EQ(last.messages.size(), 2u) << "both hear the end";
  EXPECT_NEAR(job.learner.model()[0], 0.32962963956, 1e-4);
  EXPECT_NEAR(job.learner.model()[1], 0.00311378994, 1e-4);
  EXPECT_FALSE(*job.one.owner->step(last.messages[0].message));
  EXPECT_EQ(job.one.owner->finished(), model_hash(job.learner.model()));
}

TEST(Async, OnlyOneOwnerHasTheWordAndTheOthersWaitForTheirNextTick) {
  Two job;
  const Step first = job.one.claim(job.learner);
  const Step second = job.two.claim(job.learner);
  EXPECT_FALSE(*job.two.owner->step(second.messages.at(0).message)) << "not now";
  EXPECT_EQ(job.two.spent(), 0);
  EXPECT_TRUE(job.learner.awaits(0));
  ASSERT_TRUE(job.learner.step(0, job.one.reply(first)));
  EXPECT_EQ(job.learner.rounds_done(), 1u);
  ASSERT_TRUE(job.two.round(job.learner).taken);
}

TEST(Async, AnOwnerGivesNoMoreThanItsAnswers) {
  Two job(1, plan_for(Contact::kOwnerRequests, 6));
  for (uint32_t i = 0; i < kAnswers; ++i) job.one.round(job.learner);
  EXPECT_TRUE(job.one.owner->gave_all());
  EXPECT_FALSE(job.one.owner->tick());
  EXPECT_LE(job.one.spent(), 1);
  EXPECT_GT(job.one.spent(), .999);
  // A learner that asks for more gets nothing, and pays for nothing.
  AsyncPlan greedy = plan_for();
  greedy.answers = 9;
  AsyncLearner more(greedy);
  wire::Stream stream(greedy.charter);
  job.one.owner->connect();
  ASSERT_TRUE(job.one.owner->step(stream.send(wire::Welcome{})));
  const Bytes query = stream.send(wire::Query{4, privacy::Public::from_model({0, 0})});
  const double before = job.one.spent();
  ASSERT_TRUE(*job.one.owner->step(query)) << "a refusal";
  EXPECT_EQ(job.one.owner->refused()->code, Code::kPolicy);
  EXPECT_EQ(job.one.spent(), before);
}

// The owner crashes after it paid and before its answer left; others go on meanwhile. It is asked
// the same again and the answer, a little old by then, is used once.
TEST(Async, AnOwnerThatReturnsGivesTheAnswerItHasPaidFor) {
  Two job;
  const Bytes lost = job.one.reply(job.one.claim(job.learner));
  const double spent = job.one.spent();
  job.learner.leave(0);
  job.two.round(job.learner);
  job.one.restart();
  const auto again = job.one.attend(job.learner);
  ASSERT_TRUE(again);
  EXPECT_EQ(wire::decode_from_owner(*again)->envelope.sequence, 2u);
  const auto step = job.learner.step(0, *again);
  ASSERT_TRUE(step) << describe(step.error());
  EXPECT_EQ(step->taken->values,
            std::get<wire::ReceivedAnswer>(wire::decode_from_owner(lost)->body).values);
  EXPECT_EQ(job.one.spent(), spent);
  EXPECT_EQ(job.learner.rounds_done(), 2u);
  EXPECT_TRUE(job.one.round(job.learner).taken) << "and goes on with its next";
}

// `parley doctor` greets beside the owner's daemon, which is at its answer and has not yet paid.
TEST(Async, AnotherProgramThatGreetsInBetweenDoesNotMakeTheLearnerForgetItsQuestion) {
  Two job;
  const Step asked = job.one.claim(job.learner);
  job.learner.attend(0);
  wire::Stream doctor(plan_for().charter);
  ASSERT_TRUE(job.learner.step(0, doctor.send(wire::Hello{})));
  EXPECT_FALSE(job.learner.awaits(0));
  job.learner.leave(0);
  job.two.round(job.learner);
  job.one.reply(asked);
  const auto again = job.one.attend(job.learner);
  ASSERT_TRUE(again);
  EXPECT_TRUE(job.learner.step(0, *again)->taken);
}

TEST(Async, AStragglerLosesTheWordAndItsQuestionIsForgottenUntilItClaimsAgain) {
  Two job;
  job.one.claim(job.learner);  // The question never arrives.
  job.learner.leave(0);
  EXPECT_TRUE(job.two.round(job.learner).taken) << "nobody waits for it";
  EXPECT_FALSE(job.one.attend(job.learner)) << "it has paid for nothing";
  EXPECT_EQ(job.one.spent(), 0);
  EXPECT_TRUE(job.one.round(job.learner).taken);
}

TEST(Async, InABroadcastTheFirstClaimWinsAndLosingCostsNothing) {
  Two job(1, plan_for(Contact::kBroadcast));
  EXPECT_FALSE(job.one.owner->tick()) << "nothing was called";
  const auto called = job.learner.call();
  ASSERT_EQ(called.size(), 2u);
  EXPECT_FALSE(*job.one.owner->step(called[0].message)) << "nothing is computed yet";
  EXPECT_FALSE(*job.two.owner->step(called[1].message));
  const Step won = job.two.claim(job.learner), lost = job.one.claim(job.learner);
  EXPECT_TRUE(job.learner.call().empty()) << "someone has the word";
  EXPECT_FALSE(*job.one.owner->step(lost.messages.at(0).message));
  EXPECT_EQ(job.one.spent(), 0);
  ASSERT_TRUE(job.learner.step(1, job.two.reply(won))->taken);
  EXPECT_FALSE(job.one.owner->tick()) << "until the next call";
  EXPECT_EQ(job.learner.call().size(), 2u);
}

// A claim for one call may arrive when the next is open; question and answer still fit together.
TEST(Async, AClaimThatCrossesACallIsForTheNewOne) {
  Two job(1, plan_for(Contact::kBroadcast));
  for (const auto& each : job.learner.call())
    ASSERT_TRUE((each.owner == 0 ? job.one : job.two).owner->step(each.message));
  const Bytes crossing = *job.one.owner->tick();
  ASSERT_TRUE(job.learner.step(1, job.two.reply(job.two.claim(job.learner)))->taken);
  ASSERT_FALSE(*job.one.owner->step(job.learner.call().at(0).message));
  const Step granted = *job.learner.step(0, crossing);
  EXPECT_TRUE(job.learner.step(0, job.one.reply(granted))->taken) << "its signature was checked";
}

/// All answers and notes of a job in which owner one's first is lost and comes late.
wire::Transcript late_transcript(std::vector<double>& model) {
  Two job;
  wire::Transcript transcript;
  const auto keep = [&](const Step& step) {
    if (step.taken) transcript.entries.push_back({"", *step.taken});
    for (wire::Note note : step.notes) {
      note.answers = transcript.entries.size();
      transcript.notes.push_back(note);
    }
  };
  const auto round = [&](OwnerContext& who) {
    const Step asked = who.claim(job.learner);
    keep(asked);
    keep(*job.learner.step(who.place(), who.reply(asked)));
    transcript.entries.back().owner = who.number == 1 ? "one" : "two";
  };
  const Step lost = job.one.claim(job.learner);
  keep(lost);
  job.one.reply(lost);
  job.learner.leave(0);
  round(job.two), round(job.two);
  job.one.restart();
  keep(*job.learner.step(0, *job.one.attend(job.learner)));
  transcript.entries.back().owner = "one";
  round(job.two), round(job.one);
  check(job.learner.finished());
  model = job.learner.model();
  return transcript;
}

Result<void> replay(AsyncLearner& learner, const wire::Transcript& transcript) {
  return transcript.in_order(
      [&](const wire::Entry& entry) { return learner.replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return learner.replay(note); });
}

TEST(Async, ATranscriptReplaysBitForBitAlsoWithLateAnswers) {
  std::vector<double> model;
  AsyncLearner replayed(plan_for());
  const auto taken = replay(replayed, late_transcript(model));
  ASSERT_TRUE(taken) << describe(taken.error());
  EXPECT_EQ(replayed.model(), model);
}

TEST(Async, AChangedTranscriptIsRefused) {
  std::vector<double> model;
  const auto refused = [&](auto change) -> std::string {
    auto transcript = late_transcript(model);
    change(transcript.entries, transcript.notes);
    AsyncLearner learner(plan_for());
    const auto taken = replay(learner, transcript);
    return taken ? "" : taken.error().what;
  };
  EXPECT_EQ(refused([](auto&, auto&) {}), "");
  EXPECT_NE(refused([](auto& all, auto&) { all[1].answer.values[0] += 1; }).find("other numbers"),
            std::string::npos);
  EXPECT_NE(refused([](auto& all, auto&) { std::swap(all[2], all[4]); }).find("was due"),
            std::string::npos);
  EXPECT_NE(refused([](auto& all, auto&) { std::swap(all[0], all[1]); }).find("was due"),
            std::string::npos);
  EXPECT_NE(refused([](auto& all, auto&) { std::swap(all[3], all[4]); }), "")
      << "two owners in another order would have been asked other questions";
  EXPECT_NE(
      refused([](auto& all, auto&) { (*all[4].answer.signature)[3] ^= 1; }).find("did not sign"),
      std::string::npos);
  EXPECT_NE(refused([](auto&, auto& notes) { notes.erase(notes.begin()); }).find("no question"),
            std::string::npos);
  EXPECT_NE(refused([](auto&, auto& notes) { notes.back().answers = 3; }).find("another question"),
            std::string::npos)
      << "when it was asked is part of what it signed";
  EXPECT_NE(refused([](auto&, auto& notes) { notes[1].round = 2; }).find("not due"),
            std::string::npos);
}

TEST(Async, TheLearnerRefusesWhatNobodyAskedFor) {
  Two job;
  const auto error_of = [&](const Bytes& message) {
    return job.learner.step(0, message).error().what;
  };
  Bytes claim = *job.one.owner->tick();
  ASSERT_TRUE(job.learner.step(0, claim));
  EXPECT_NE(error_of(claim).find("was due"), std::string::npos) << "the same bytes again";
  wire::Stream other(plan_for().charter);
  job.learner.attend(0);
  ASSERT_TRUE(job.learner.step(0, other.send(wire::Hello{})));
  EXPECT_NE(error_of(other.send(wire::Claim{2})).find("a claim for round 2 after 0"),
            std::string::npos);
  job.learner.attend(0);
  wire::Stream early(plan_for().charter);
  EXPECT_NE(error_of(early.send(wire::Claim{1})).find("before its greeting"), std::string::npos);
}

TEST(Async, AnOwnerRefusesAGrantItDidNotClaim) {
  OwnerContext one(1, 1, Contact::kBroadcast);
  wire::Stream learner(plan_for().charter);
  one.owner->connect();
  ASSERT_TRUE(one.owner->step(learner.send(wire::Welcome{wire::kVersion, 1})));
  ASSERT_TRUE(one.owner->step(learner.send(wire::Query{1, privacy::Public::from_model({0, 0})})));
  EXPECT_EQ(one.owner->step(learner.send(wire::Grant{1, true})).error().code, Code::kIntegrity);
  EXPECT_EQ(one.spent(), 0);
}

TEST(Async, AnOwnerWhoseLedgerForgotAnAnswerIsNotAskedAgain) {
  Two job;
  job.one.round(job.learner);
  OwnerContext restored(1, 1);
  job.learner.attend(0);
  const auto greeted = job.learner.step(0, restored.owner->connect());
  ASSERT_TRUE(greeted && greeted->stale);
  EXPECT_NE(greeted->stale->hint.find("older copy"), std::string::npos);
  ASSERT_EQ(greeted->messages.size(), 1u) << "a welcome with its receipt, and no question";
  EXPECT_FALSE(restored.owner->step(greeted->messages[0].message));
  EXPECT_EQ(restored.ledger.missing(), 1u) << "noted, so that it stops whoever asks next";
}

// Bytes of any kind: an error or a step, never a crash, and never more than the budget.
TEST(Async, BothRolesSurviveHostileBytes) {
  SeededEntropy entropy(6, "hostile");
  for (Contact contact : {Contact::kOwnerRequests, Contact::kBroadcast}) {
    Two job(1, plan_for(contact, 6));
    wire::Stream stream(plan_for().charter);
    const Bytes seeds[] = {stream.send(wire::Claim{1}), stream.send(wire::Grant{1, true}),
                           stream.send(wire::Query{1, privacy::Public::from_model({0, 0})}),
                           stream.send(wire::Hello{})};
    size_t refused = 0;
    for (int i = 0; i < 4000; ++i) {
      Bytes bytes = seeds[entropy.word() % 4];
      bytes[entropy.word() % bytes.size()] ^= uint8_t(1 + entropy.word() % 255);
      refused += !job.one.owner->step(bytes);
      refused += !job.learner.step(0, bytes);
    }
    EXPECT_GT(refused, 4000u);
    EXPECT_LE(job.one.spent(), 1);
  }
}

}  // namespace async_test
}  // namespace parley::protocol
