#include "parley/protocol/sync.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "parley/wire/transcript.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/tiny_job.h"

namespace parley::protocol {
namespace sync_test {

using test::kAnswers, test::kBox, test::key_of, test::SeededEntropy, test::some_plan,
    test::TestOwner, test::tiny_reference;

/// An owner whose noise comes from a seed.
struct Replayed : TestOwner {
  Replayed(int number, double epsilon, uint64_t seed)
      : TestOwner(number, epsilon,
                  std::make_unique<SeededEntropy>(seed, "owner", uint64_t(number))) {}
};

/// Runs a job of two owners to its end; returns the model.
std::vector<double> run_job(double epsilon, uint64_t seed, bool backwards = false) {
  std::deque<Replayed> owners;
  for (int number : {1, 2}) owners.emplace_back(number, epsilon, seed);
  SyncLearner learner(some_plan());
  std::deque<Outgoing> post;
  for (size_t place : {0, 1})
    for (auto& message : owners[place].attend(learner, place)) {
      // A stream keeps its order; what is shuffled below are streams.
      if (const auto reply = *owners[place].owner->step(message.message))
        post.push_back({place, *reply});
    }
  while (!post.empty()) {
    const Outgoing answer = backwards ? post.back() : post.front();
    backwards ? post.pop_back() : post.pop_front();
    const Step step = *learner.step(answer.owner, answer.message);
    for (const auto& next : step.messages)
      if (const auto reply = *owners[next.owner].owner->step(next.message))
        post.push_back({next.owner, *reply});
  }
  check(learner.finished());
  return {learner.model().begin(), learner.model().end()};
}

// With almost no noise the job is Algorithm 2 on the pooled, unclipped data, up to the lattice.
TEST(Sync, FollowsTheReferenceWhenNoiseVanishes) {
  const std::vector<double> reference = tiny_reference();
  const auto model = run_job(1e6, 0);
  for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(model[j], reference[j], 1e-3);
}

TEST(Sync, TheSameSeedGivesTheSameModel) {
  EXPECT_EQ(run_job(1, 0), run_job(1, 0));
  EXPECT_NE(run_job(1, 0), run_job(1, 1)) << "other noise";
}

TEST(Sync, TheOrderOfAnswersDoesNotMatter) {
  EXPECT_EQ(run_job(1, 1), run_job(1, 1, /*backwards=*/true));
}

TEST(Sync, AnOwnersRefusalEndsTheJobWithItsReason) {
  Replayed one(1, 1, 0);
  SyncPlan plan = some_plan();
  plan.box = 10;  // The learner's box is larger than what the owner agreed to.
  plan.schedule.start = {5, 5};
  SyncLearner learner(plan);
  Replayed two(2, 1, 0);
  two.attend(learner, 1);
  const auto ended = *learner.step(0, *one.reply(one.attend(learner, 0)));
  ASSERT_TRUE(learner.refused());
  EXPECT_EQ(learner.refused()->code, Code::kInvalid);
  EXPECT_NE(learner.refused()->what.find("one refused"), std::string::npos);
  EXPECT_EQ(one.ledger.spent(one.dataset).pure, 0);
  EXPECT_EQ(ended.messages.size(), 2u) << "everyone who attends is told";
}

TEST(Sync, AnAbortReachesTheOwnerWithItsReason) {
  Replayed one(1, 1, 0);
  one.owner->connect();
  wire::Stream learner(some_plan().charter);
  const auto ended = one.owner->step(learner.send(wire::Abort{Code::kPolicy, "two refused: no"}));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kPolicy);
  EXPECT_NE(ended.error().what.find("two refused: no"), std::string::npos);
}

/// The reply of an owner to the learner's first query.
struct FirstRound {
  Replayed one{1, 1, 0}, two{2, 1, 0};
  SyncLearner learner{some_plan()};
  std::vector<Outgoing> queries = one.attend(learner, 0);  // a welcome and a query
  Bytes reply_one = *one.reply(queries);
  Bytes reply_two = *two.reply(two.attend(learner, 1));
};

wire::ReceivedAnswer answer_in(const Bytes& message) {
  return std::get<wire::ReceivedAnswer>(wire::decode_from_owner(message)->body);
}

TEST(Sync, TheLearnerRefusesReplayedAndMisdirectedAnswers) {
  FirstRound round;
  ASSERT_TRUE(round.learner.step(0, round.reply_one));
  EXPECT_EQ(round.learner.step(0, round.reply_one).error().code, Code::kIntegrity);
  EXPECT_EQ(round.learner.rounds_done(), 0u);
  EXPECT_TRUE(round.learner.step(1, round.reply_two));
  EXPECT_EQ(round.learner.rounds_done(), 1u);
}

TEST(Sync, TheLearnerRefusesAnswersOfAnotherRoundOrSize) {
  Replayed one(1, 1, 0);
  SyncPlan plan = some_plan();
  plan.schedule = learn::algorithm2(kAnswers, .5, learn::Average::kPaper, {.1, .1, .1});
  SyncLearner three_columns(plan);
  SyncLearner two_columns(some_plan());
  const auto reply = *one.reply(one.attend(two_columns, 0));
  one.attend(three_columns, 0);
  EXPECT_NE(three_columns.step(0, reply).error().what.find("2 numbers instead of 3"),
            std::string::npos);
}

TEST(Sync, TheLearnerWantsAGreetingFirstAndOnlyOne) {
  FirstRound round;
  SyncLearner learner(some_plan());
  learner.attend(0);
  wire::Stream early(some_plan().charter);
  const Bytes refusal = early.send(wire::Refusal{Code::kPolicy, "no"});
  EXPECT_NE(learner.step(0, refusal).error().what.find("before its greeting"), std::string::npos);
  EXPECT_FALSE(learner.refused()) << "only who has greeted can end a job";
  learner.attend(0);
  wire::Stream twice(some_plan().charter);
  ASSERT_TRUE(learner.step(0, twice.send(wire::Hello{})));
  EXPECT_NE(learner.step(0, twice.send(wire::Hello{})).error().what.find("second greeting"),
            std::string::npos);
}

TEST(Sync, BothSidesRefuseAnotherVersion) {
  SyncLearner learner(some_plan());
  learner.attend(0);
  wire::Stream stream(some_plan().charter), back(some_plan().charter);
  EXPECT_EQ(learner.step(0, stream.send(wire::Hello{7, 0})).error().code, Code::kIntegrity);
  Replayed one(1, 1, 0);
  one.owner->connect();
  EXPECT_EQ(one.owner->step(back.send(wire::Welcome{7, 1})).error().code, Code::kIntegrity);
}

TEST(Sync, ReceiptsMustBeSignedByTheCharteredKeyAndFitTheNumbers) {
  FirstRound round;
  const auto refused = [&](auto change) {
    wire::ReceivedAnswer answer = answer_in(round.reply_one);
    change(answer);
    SyncLearner learner(some_plan());
    return learner.replay("one", answer).error().what;
  };
  EXPECT_NE(refused([](auto& a) { a.signature.reset(); }).find("did not sign"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { (*a.signature)[9] ^= 1; }).find("did not sign"),
            std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.receipt.epsilon_spent /= 2; }).find("did not sign"),
            std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.values[0] += 1; }).find("other numbers"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.receipt.query[0] ^= 1; }).find("another question"),
            std::string::npos);
  // Another owner of the charter cannot speak for it.
  round.one.restart(1, key_of(2));
  SyncLearner learner(some_plan());
  const Bytes forged = *round.one.reply(round.one.attend(learner, 0));
  EXPECT_NE(learner.step(0, forged).error().what.find("did not sign"), std::string::npos);
  EXPECT_TRUE(learner.awaits(0)) << "what was refused does not count";
  EXPECT_TRUE(SyncLearner(some_plan()).replay("one", answer_in(round.reply_one)));
}

/// All answers of a job, in the order of the rounds.
std::vector<wire::Entry> transcript_of_a_job() {
  Replayed owners[] = {{1, 1, 0}, {2, 1, 0}};
  SyncLearner learner(some_plan());
  std::deque<Outgoing> post;
  for (size_t place : {0, 1})
    for (auto& message : owners[place].attend(learner, place)) post.push_back(std::move(message));
  std::vector<wire::Entry> entries;
  for (; !post.empty(); post.pop_front()) {
    const auto reply = *owners[post.front().owner].owner->step(post.front().message);
    if (!reply) continue;
    Step step = *learner.step(post.front().owner, *reply);
    entries.push_back({post.front().owner == 0 ? "one" : "two", *step.taken});
    for (auto& message : step.messages) post.push_back(std::move(message));
  }
  return entries;
}

// A signature that is not looked at must not be a way to slip in other numbers.
TEST(Sync, TheLastSignatureVouchesForAllAnswersBeforeIt) {
  const auto refused_at = [](auto change) -> size_t {
    auto entries = transcript_of_a_job();
    check(entries.size() == 2 * kAnswers);
    change(entries);
    SyncLearner learner(some_plan());
    for (size_t i = 0; i < entries.size(); ++i)
      if (!learner.replay(entries[i].owner, entries[i].answer)) return i;
    return entries.size();
  };
  const size_t second = 2, last = 2 * kAnswers - 2;  // answers of the first owner
  EXPECT_EQ(refused_at([](auto&) {}), 2 * kAnswers);
  EXPECT_EQ(refused_at([&](auto& all) { (*all[last].answer.signature)[0] ^= 1; }), last);
  EXPECT_EQ(refused_at([&](auto& all) { all[second].answer.receipt.job[0] ^= 1; }), second);
  EXPECT_EQ(refused_at([&](auto& all) {
              wire::ReceivedAnswer& answer = all[second].answer;
              answer.values[0] += 1;  // with a receipt that fits, as far as one can without the key
              answer.receipt.answer = sha256(bytes_of(answer.values));
              answer.receipt.job = privacy::job_after(all[0].answer.receipt.job,
                                                      answer.receipt.query, answer.receipt.answer);
            }),
            second + 2)
      << "the next receipt names what was really answered";
}

TEST(Sync, MessagesOfAnotherCharterEndTheStream) {
  Replayed one(1, 1, 0);
  SyncPlan plan = some_plan();
  plan.charter[0] ^= 1;
  SyncLearner learner(plan);
  learner.attend(0);
  const auto refused = learner.step(0, one.owner->connect());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable) << "its own job may come later";
  const auto ended = one.owner->step(wire::Stream(plan.charter).send(wire::Welcome{}));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kUnavailable);
}

// The owner crashes after it answered and before the answer arrived; the learner asks again on a
// new stream and gets the same bytes, for nothing.
TEST(Sync, AnOwnerThatReturnsGivesTheSameAnswer) {
  FirstRound round;
  const double spent = round.one.ledger.spent(round.one.dataset).pure;
  round.one.restart(1, key_of(1));
  SyncLearner restarted(some_plan());
  const Bytes again = *round.one.reply(round.one.attend(restarted, 0));
  EXPECT_EQ(again, round.reply_one);
  EXPECT_EQ(round.one.ledger.spent(round.one.dataset).pure, spent);
}

// Whatever part of a journal survived, the learner goes on from there to the same model, and owners
// pay for nothing twice.
TEST(Sync, AJobResumedFromAnyPartOfItsJournalEndsInTheSameModel) {
  const std::vector<double> whole = run_job(1, 0);
  for (size_t kept = 0; kept <= 2 * kAnswers; ++kept) {
    std::deque<Replayed> owners;
    for (int number : {1, 2}) owners.emplace_back(number, 1, 0);
    Bytes journal = wire::transcript_head(some_plan().charter, "2026-11-15T08:00:00Z");
    size_t written = 0;
    const auto run = [&](SyncLearner& learner, bool keep) {
      std::deque<Outgoing> post;
      for (size_t place : {0, 1})
        for (auto& each : owners[place].attend(learner, place)) post.push_back(std::move(each));
      while (!post.empty()) {
        const Outgoing letter = std::move(post.front());
        post.pop_front();
        const auto reply = *owners[letter.owner].owner->step(letter.message);
        if (!reply) continue;
        const Step step = *learner.step(letter.owner, *reply);
        if (keep && written++ < kept) {
          const Bytes entry =
              wire::transcript_entry(letter.owner == 0 ? "one" : "two", *step.taken);
          journal.insert(journal.end(), entry.begin(), entry.end());
        }
        for (const auto& each : step.messages) post.push_back(each);
      }
    };
    SyncLearner first(some_plan());
    run(first, true);
    const double spent = owners[0].ledger.spent(owners[0].dataset).pure;
    SyncLearner second(some_plan());
    journal.push_back(17);  // A torn tail.
    const wire::Transcript transcript = *wire::parse_transcript(journal);
    for (const wire::Entry& entry : transcript.entries)
      ASSERT_TRUE(second.replay(entry.owner, entry.answer));
    EXPECT_EQ(second.rounds_done(), kept / 2);
    run(second, false);
    EXPECT_TRUE(second.finished());
    EXPECT_EQ(std::vector(second.model().begin(), second.model().end()), whole) << kept;
    EXPECT_EQ(owners[0].ledger.spent(owners[0].dataset).pure, spent);
  }
}

// A restored backup forgets what was spent: both sides notice, and nothing more is answered.
TEST(Sync, AnOwnerWhoseLedgerForgotAnAnswerIsNotAskedAgain) {
  FirstRound round;
  ASSERT_TRUE(round.learner.step(0, round.reply_one));
  Replayed restored(1, 1, 0);
  round.learner.attend(0);
  const auto greeted = round.learner.step(0, restored.owner->connect());
  ASSERT_TRUE(greeted);
  ASSERT_TRUE(greeted->stale);
  EXPECT_NE(greeted->stale->hint.find("older copy"), std::string::npos);
  ASSERT_EQ(greeted->messages.size(), 1u) << "a welcome with its receipt, and no question";
  const auto welcomed = restored.owner->step(greeted->messages[0].message);
  ASSERT_FALSE(welcomed);
  EXPECT_EQ(welcomed.error().code, Code::kIntegrity);
  EXPECT_EQ(restored.ledger.missing(), 1u) << "noted, so that it stops whoever asks next";
  EXPECT_FALSE(round.learner.step(0, round.reply_one)) << "and it may not answer either";
  TestOwner unsure(1, 1);  // Without the proof it believes the number.
  wire::Stream stream(some_plan().charter);
  unsure.owner->connect();
  EXPECT_FALSE(unsure.owner->step(stream.send(wire::Welcome{wire::kVersion, 2})));
  EXPECT_EQ(unsure.ledger.missing(), 0u);
}

TEST(Sync, AnOwnerIsShownItsReceiptOfAnEarlierJobAndMustKnowIt) {
  FirstRound round;
  ASSERT_TRUE(round.learner.step(0, round.reply_one));
  const wire::Proof proof = *round.learner.newest(0);
  const auto greet = [&](TestOwner& owner, const wire::Proof& shown) {
    SyncLearner later(some_plan());
    later.remember(0, shown);
    return owner.owner->step(owner.attend(later, 0)[0].message);
  };
  TestOwner fresh(1, 1);
  wire::Proof forged = proof;
  forged.receipt.epsilon_spent /= 2;
  EXPECT_EQ(greet(fresh, forged).error().code, Code::kIntegrity);
  EXPECT_EQ(fresh.ledger.missing(), 0u) << "whoever cannot sign for us cannot stop us";
  EXPECT_TRUE(greet(round.one, proof)) << "its ledger has that row";
  EXPECT_EQ(greet(fresh, proof).error().code, Code::kIntegrity);
  EXPECT_EQ(fresh.ledger.missing(), 1u);
}

/// As some_plan, where one answer is enough once the time is up.
SyncPlan tolerant_plan() {
  SyncPlan plan = some_plan();
  plan.quorum = 1;
  return plan;
}

/// A job of two owners in which a quorum of one is enough, and what its learner would journal.
struct PartialJob {
  Replayed one, two;
  SyncLearner learner{tolerant_plan()};
  wire::Transcript transcript{};

  explicit PartialJob(double epsilon = 1) : one(1, epsilon, 0), two(2, epsilon, 0) {}

  void keep(size_t owner, const Step& step) {
    if (step.taken) transcript.entries.push_back({owner == 0 ? "one" : "two", *step.taken});
    for (wire::Note note : step.notes) {
      note.answers = transcript.entries.size();
      transcript.notes.push_back(note);
    }
  }
  Step hear(size_t owner, const Bytes& message) {
    Step step = *learner.step(owner, message);
    keep(owner, step);
    return step;
  }
  Step come(size_t owner, TestOwner& who) {
    learner.attend(owner);
    return hear(owner, who.owner->connect());
  }
  Step close() {
    Step step = learner.time_is_up();
    keep(0, step);
    return step;
  }
};

TEST(Sync, ARoundIsClosedWithAQuorumOnlyWhenTheTimeIsUp) {
  PartialJob job;
  const Step welcomed = job.come(0, job.one);
  EXPECT_TRUE(job.close().messages.empty()) << "nobody has answered";
  job.hear(0, *job.one.reply(welcomed.messages));
  EXPECT_EQ(job.learner.rounds_done(), 0u) << "two may still come";
  EXPECT_EQ(job.close().messages.size(), 1u) << "the next question";
  EXPECT_EQ(job.learner.rounds_done(), 1u);
  SyncLearner strict(some_plan());
  ASSERT_TRUE(strict.step(0, *job.one.reply(job.one.attend(strict, 0))));
  EXPECT_TRUE(strict.time_is_up().notes.empty());
  EXPECT_EQ(strict.rounds_done(), 0u) << "where all must answer, time does not matter";
}

/// What an owner says that will not answer.
Bytes refusal(uint64_t sequence) {
  return wire::encode({some_plan().charter, sequence}, wire::Refusal{Code::kPolicy, "not today"});
}

TEST(Sync, AnOwnerThatRefusesIsDoneWithoutWhereTheOthersAreEnough) {
  PartialJob job;
  const Step welcomed = job.come(0, job.one);
  job.come(1, job.two);
  const Step refused = job.hear(1, refusal(2));
  ASSERT_TRUE(refused.parted);
  EXPECT_EQ(refused.parted->what, "two refused: not today");
  EXPECT_TRUE(refused.messages.empty()) << "the others are told nothing";
  EXPECT_FALSE(job.learner.refused());
  job.learner.leave(1);
  EXPECT_FALSE(job.learner.is_ready());
  Step next{.messages = welcomed.messages};
  while (!job.learner.finished()) {
    next = job.hear(0, *job.one.reply(next.messages));
    if (job.learner.finished()) break;
    ASSERT_TRUE(job.learner.is_ready()) << "nobody waits for it";
    next = job.close();
  }
  EXPECT_EQ(job.learner.trained().answers, (std::vector<uint32_t>{kAnswers, 0}));
}

TEST(Sync, ARefusalEndsTheJobWhereTooFewAreLeft) {
  PartialJob job;
  job.come(0, job.one);
  job.come(1, job.two);
  EXPECT_TRUE(job.hear(1, refusal(2)).parted);
  job.learner.leave(1);
  const Step end = job.hear(0, refusal(2));
  EXPECT_FALSE(end.parted);
  ASSERT_TRUE(job.learner.refused());
  EXPECT_EQ(job.learner.refused()->what, "one refused: not today");
  SyncLearner strict(some_plan());
  TestOwner one(1, 1);
  one.attend(strict, 0);
  ASSERT_TRUE(strict.step(0, refusal(2)));
  EXPECT_TRUE(strict.refused()) << "where all must answer, one is enough to end it";
}

// Owner two has paid for its answer when the round is closed. It is asked the same again, its
// answer is kept and changes nothing, and then it is asked what is asked now.
TEST(Sync, AnAnswerToAClosedRoundIsKeptAndNotUsed) {
  PartialJob job;
  const Bytes lost = *job.two.reply(job.come(1, job.two).messages);
  const Step welcomed = job.come(0, job.one);
  job.hear(0, *job.one.reply(welcomed.messages));
  job.close();
  const std::vector<double> model(job.learner.model().begin(), job.learner.model().end());
  const double spent = job.two.ledger.spent(job.two.dataset).pure;
  const Step again = job.come(1, job.two);
  ASSERT_EQ(again.messages.size(), 2u);
  EXPECT_TRUE(again.notes.empty()) << "noted when it was asked first";
  const Step late = job.hear(1, *job.two.reply(again.messages));
  EXPECT_EQ(late.taken->values, answer_in(lost).values);
  EXPECT_EQ(job.two.ledger.spent(job.two.dataset).pure, spent);
  EXPECT_EQ(std::vector(job.learner.model().begin(), job.learner.model().end()), model);
  ASSERT_EQ(late.messages.size(), 1u) << "its next question";
  ASSERT_TRUE(job.hear(1, *job.two.reply(late.messages)).taken);
  EXPECT_FALSE(job.learner.awaits(1));
  EXPECT_EQ(job.learner.trained().answers[1], 2u);
}

TEST(Sync, AnOwnerThatHasNotBegunAtAClosedRoundIsAskedTheNewQuestion) {
  PartialJob job;
  job.come(1, job.two);  // The question never arrives.
  job.learner.leave(1);
  job.hear(0, *job.one.reply(job.come(0, job.one).messages));
  job.close();
  const Step again = job.come(1, job.two);
  ASSERT_EQ(again.notes.size(), 1u);
  ASSERT_TRUE(job.hear(1, *job.two.reply(again.messages)).taken);
  EXPECT_FALSE(job.learner.awaits(1)) << "it counts";
  EXPECT_EQ(job.learner.trained().answers[1], 1u);
}

// With almost no noise: the first two rounds owner one alone, whose weight then is 1.
TEST(Sync, TheWeightsOfAPartialRoundAddUpToOne) {
  PartialJob job(1e6);
  Step asked = job.come(0, job.one);
  learn::Descent reference(some_plan().schedule, kBox, 0, 1);
  for (int round = 0; round < 2; ++round) {
    job.hear(0, *job.one.reply(asked.messages));
    asked = job.close();
    reference.step(learn::mean_gradient(learn::Squared{}, test::tiny_owner(1), reference.theta(0),
                                        learn::ClipIn::kNone, 0));
  }
  for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(job.learner.model()[j], reference.average(0)[j], 1e-3);
}

/// A whole job with closed rounds, a late answer, and the other owner's return.
PartialJob eventful_job() {
  PartialJob job;
  job.two.reply(job.come(1, job.two).messages);  // Paid, and lost.
  Step asked = job.come(0, job.one);
  for (int round = 0; round < 2; ++round) {
    job.hear(0, *job.one.reply(asked.messages));
    asked = job.close();
  }
  Bytes next = *job.one.reply(asked.messages);
  const Step late = job.hear(1, *job.two.reply(job.come(1, job.two).messages));
  job.hear(1, *job.two.reply(late.messages));
  asked = job.hear(0, next);  // Both: the third round is whole.
  for (const Outgoing& each : asked.messages)
    if (each.owner == 0) next = **job.one.owner->step(each.message);
  job.hear(0, next);
  job.close();
  check(job.learner.finished());
  return job;
}

Result<void> replay(SyncLearner& learner, const wire::Transcript& transcript) {
  return transcript.in_order(
      [&](const wire::Entry& entry) { return learner.replay(entry.owner, entry.answer); },
      [&](const wire::Note& note) { return learner.replay(note); });
}

TEST(Sync, ATranscriptOfPartialRoundsReplaysBitForBitAndAChangedOneIsRefused) {
  const PartialJob job = eventful_job();
  SyncLearner again(tolerant_plan());
  const auto replayed = replay(again, job.transcript);
  ASSERT_TRUE(replayed) << describe(replayed.error());
  EXPECT_TRUE(again.finished());
  EXPECT_EQ(std::vector(again.model().begin(), again.model().end()),
            std::vector(job.learner.model().begin(), job.learner.model().end()));
  const auto refused = [&](auto change) -> std::string {
    wire::Transcript changed = job.transcript;
    change(changed);
    SyncLearner learner(tolerant_plan());
    const auto taken = replay(learner, changed);
    return taken ? "" : taken.error().what;
  };
  EXPECT_NE(refused([](auto& all) {
              std::erase_if(all.notes,
                            [](auto& note) { return note.kind == wire::Note::Kind::kClosed; });
            }),
            "")
      << "a round that was not closed";
  EXPECT_NE(refused([](auto& all) {
              all.notes.insert(all.notes.begin(), {.kind = wire::Note::Kind::kClosed});
            }).find("not enough"),
            std::string::npos);
  EXPECT_NE(refused([](auto& all) { all.notes.erase(all.notes.begin()); }).find("no question"),
            std::string::npos);
  SyncLearner strict(some_plan());
  EXPECT_FALSE(replay(strict, job.transcript)) << "by a charter that wants everyone";
}

// Bytes of any kind: an error or a step, never a crash, and never more than the budget.
TEST(Sync, BothRolesSurviveHostileBytes) {
  SeededEntropy entropy(6, "hostile");
  FirstRound round;
  const Bytes query = round.queries[1].message;
  size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    TestOwner& owner = round.two;
    Bytes bytes = i % 2 == 0 ? query : round.reply_one;
    bytes[entropy.word() % bytes.size()] ^= uint8_t(1 + entropy.word() % 255);
    refused += !owner.owner->step(bytes);
    refused += !round.learner.step(0, bytes);
  }
  EXPECT_GT(refused, 5000u);
  EXPECT_LE(round.two.ledger.spent(round.two.dataset).pure, 1);
}

}  // namespace sync_test
}  // namespace parley::protocol
