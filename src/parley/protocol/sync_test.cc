#include "parley/protocol/sync.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <deque>

#include "parley/learn/objective.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/tiny.h"

namespace parley::protocol {
namespace {

using test::StoppedClock, test::SeededEntropy, test::tiny_owner;

constexpr uint32_t kAnswers = 4;
constexpr double kClip = 8, kBox = 2;

learn::Lattice lattice() { return *learn::Lattice::make(kClip, 24, 2); }

SyncPlan some_plan() {
  return {.charter = {1, 2, 3},
          .owners = {{"one", 3, .6}, {"two", 2, .4}},
          .gamma = lattice().gamma(),
          .box = kBox,
          .l2 = 0,
          .schedule = learn::algorithm2(kAnswers, .5, learn::Average::kPaper, {.1, .1})};
}

/// An owner with its ledger; epsilon is the charter's.
struct TestOwner {
  StoppedClock clock;
  SeededEntropy entropy;
  ledger::Ledger ledger;
  ledger::DatasetId dataset;
  std::shared_ptr<const learn::Rows> rows;
  std::optional<SyncOwner> owner;

  TestOwner(int number, double epsilon, uint64_t seed)
      : entropy(seed, "owner", uint64_t(number)),
        ledger(*ledger::Ledger::open_volatile(number == 1 ? "one" : "two", clock)),
        dataset(*ledger.declare(
            "data", *privacy::Budget::make(*privacy::Epsilon::make(epsilon), 0, epsilon))),
        rows(std::make_shared<learn::Rows>(tiny_owner(number))) {
    connect(epsilon);
  }
  /// A new stream, as after a restart of the owner.
  void connect(double epsilon) {
    gate::Terms terms{
        .charter = some_plan().charter,
        .rows = rows->size(),
        .answers = kAnswers,
        .box = kBox,
        .unit_records = 1,
        .loss = learn::Squared{},
        .lattice = lattice(),
        .mechanism = *privacy::Laplace::calibrate(gate::ClipAndSum::sensitivity<L1>(lattice(), 1),
                                                  kAnswers, *privacy::Epsilon::make(epsilon))};
    owner.emplace(terms.charter,
                  *gate::Gate::open(gate::Records(rows), terms, ledger, dataset, entropy, 1));
  }
};

/// Runs a job of two owners and `runs` runs to its end; returns the models.
std::vector<std::vector<double>> run_job(double epsilon, size_t runs, bool backwards = false) {
  std::deque<TestOwner> owners;  // by run, then owner
  for (size_t run = 0; run < runs; ++run)
    for (int number : {1, 2}) owners.emplace_back(number, epsilon, run);
  SyncLearner learner(some_plan(), runs);
  std::deque<Outgoing> post;
  for (auto& message : learner.start()) post.push_back(std::move(message));
  while (!post.empty()) {
    const Outgoing letter = backwards ? post.back() : post.front();
    backwards ? post.pop_back() : post.pop_front();
    const auto reply = *owners[2 * letter.run + letter.owner].owner->step(letter.message);
    if (!reply) continue;
    const auto next = *learner.step(letter.owner, letter.run, *reply);
    for (const auto& message : next) post.push_back(message);
  }
  EXPECT_TRUE(learner.finished());
  std::vector<std::vector<double>> models;
  for (size_t run = 0; run < runs; ++run)
    models.emplace_back(learner.model(run).begin(), learner.model(run).end());
  return models;
}

// With almost no noise the job is Algorithm 2 on the pooled, unclipped data, up to the lattice.
TEST(Sync, FollowsTheReferenceWhenNoiseVanishes) {
  learn::Descent reference(some_plan().schedule, kBox, 0, 1);
  while (!reference.finished()) {
    std::vector<double> gradient(2);
    for (int number : {1, 2}) {
      const auto mean = learn::mean_gradient(learn::Squared{}, tiny_owner(number),
                                             reference.theta(0), learn::ClipIn::kNone, 0);
      for (size_t j = 0; j < 2; ++j) gradient[j] += (number == 1 ? .6 : .4) * mean[j];
    }
    reference.step(gradient);
  }
  const auto model = run_job(1e6, 1)[0];
  for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(model[j], reference.average(0)[j], 1e-3);
}

TEST(Sync, EveryRunOfManyEqualsTheRunAlone) {
  const auto three = run_job(1, 3);
  EXPECT_EQ(run_job(1, 1)[0], three[0]);
  EXPECT_NE(three[0], three[1]) << "other noise";
}

TEST(Sync, TheOrderOfAnswersDoesNotMatter) {
  EXPECT_EQ(run_job(1, 2), run_job(1, 2, /*backwards=*/true));
}

TEST(Sync, AnOwnersRefusalEndsTheJobWithItsReason) {
  TestOwner one(1, 1, 0);
  SyncPlan plan = some_plan();
  plan.box = 10;  // The learner's box is larger than what the owner agreed to.
  plan.schedule.start = {5, 5};
  SyncLearner learner(plan);
  const auto queries = learner.start();
  const auto reply = *one.owner->step(queries[0].message);
  ASSERT_TRUE(reply);
  const auto ended = learner.step(0, 0, *reply);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kInvalid);
  EXPECT_NE(ended.error().what.find("one refused"), std::string::npos);
  EXPECT_EQ(one.ledger.spent(one.dataset).pure, 0);
}

/// The reply of an owner to the learner's first query.
struct FirstRound {
  TestOwner one{1, 1, 0}, two{2, 1, 0};
  SyncLearner learner{some_plan()};
  std::vector<Outgoing> queries = learner.start();
  Bytes reply_one = **one.owner->step(queries[0].message);
  Bytes reply_two = **two.owner->step(queries[1].message);
};

TEST(Sync, TheLearnerRefusesReplayedAndMisdirectedAnswers) {
  FirstRound round;
  ASSERT_TRUE(round.learner.step(0, 0, round.reply_one));
  EXPECT_EQ(round.learner.step(0, 0, round.reply_one).error().code, Code::kIntegrity);
  EXPECT_EQ(round.learner.rounds_done(), 0u);
  EXPECT_TRUE(round.learner.step(1, 0, round.reply_two));
  EXPECT_EQ(round.learner.rounds_done(), 1u);
}

TEST(Sync, TheLearnerRefusesAnswersOfAnotherRoundOrSize) {
  TestOwner one(1, 1, 0);
  SyncPlan plan = some_plan();
  plan.schedule = learn::algorithm2(kAnswers, .5, learn::Average::kPaper, {.1, .1, .1});
  SyncLearner three_columns(plan);
  SyncLearner two_columns(some_plan());
  const auto reply = **one.owner->step(two_columns.start()[0].message);
  EXPECT_NE(three_columns.step(0, 0, reply).error().what.find("2 numbers instead of 3"),
            std::string::npos);
}

TEST(Sync, MessagesOfAnotherCharterEndTheStream) {
  TestOwner one(1, 1, 0);
  SyncPlan plan = some_plan();
  plan.charter[0] ^= 1;
  const auto ended = one.owner->step(SyncLearner(plan).start()[0].message);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::kIntegrity);
}

// The owner crashes after it answered and before the answer arrived; the learner asks again on a
// new stream and gets the same bytes, for nothing.
TEST(Sync, AnOwnerThatReturnsGivesTheSameAnswer) {
  FirstRound round;
  const double spent = round.one.ledger.spent(round.one.dataset).pure;
  round.one.connect(1);
  SyncLearner restarted(some_plan());
  const Bytes again = **round.one.owner->step(restarted.start()[0].message);
  EXPECT_EQ(again, round.reply_one);
  EXPECT_EQ(round.one.ledger.spent(round.one.dataset).pure, spent);
}

// Bytes of any kind: an error or a step, never a crash, and never more than the budget.
TEST(Sync, BothRolesSurviveHostileBytes) {
  SeededEntropy entropy(6, "hostile");
  FirstRound round;
  const Bytes query = round.queries[0].message;
  size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    TestOwner& owner = round.two;
    Bytes bytes = i % 2 == 0 ? query : round.reply_one;
    bytes[entropy.word() % bytes.size()] ^= uint8_t(1 + entropy.word() % 255);
    refused += !owner.owner->step(bytes);
    refused += !round.learner.step(0, 0, bytes);
  }
  EXPECT_GT(refused, 5000u);
  EXPECT_LE(round.two.ledger.spent(round.two.dataset).pure, 1);
}

}  // namespace
}  // namespace parley::protocol
