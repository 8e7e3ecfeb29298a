// An asynchronous job is verified like a synchronous one: from charter and transcript alone.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <memory>

#include "parley/gate/gate.h"
#include "parley/plan/learner/async_plan.h"
#include "parley/plan/terms.h"
#include "parley/protocol/async.h"
#include "parley/protocol/trained_model.h"
#include "parley/protocol/verify/verify.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/tiny.h"

namespace parley::protocol {
namespace verify_async_test {

const char* const kNames[] = {"one", "two"};

const SigningKey& key_of(size_t place) {
  static const SigningKey keys[] = {SigningKey::make(), SigningKey::make()};
  return keys[place];
}

charter::Charter tiny_charter(const std::string& evaluate) {
  std::string text = R"(
[charter]
version = 1
name = "tiny"
consortium = "banks.example"
[target]
column = "y"
bounds = [-5, 5]
[[column]]
name = "z"
count = 2
kind = "number"
bounds = [-2, 2]
missing = 0
[model]
loss = "squared"
l2 = 0.1
box = 2
[protocol]
name = "async"
rounds = 5
answers = 4
step = 0.05
[privacy]
max_grad_norm = 8
[learner]
name = "central-bank"
)";
  text.insert(text.find("[learner]"), "evaluate = " + evaluate + "\n");
  for (size_t place : {0u, 1u})
    text += "[[owner]]\nname = \"" + std::string(kNames[place]) +
            "\"\nrows = " + (place == 0 ? "3" : "2") + "\nepsilon = 1\nsign_key = \"" +
            to_text(key_of(place).public_key()) + "\"\n";
  const auto charter = charter::parse_charter(text, "tiny.toml", "");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

/// Owner one answers four times, owner two once. Then both are evaluated, if the charter says so;
/// or only the first of them, and the time is up.
struct Job {
  static constexpr Hash kFile = {7};
  charter::Charter charter;
  std::filesystem::path folder = test::fresh_folder();
  test::StoppedClock clock;
  test::SeededEntropy entropy{1, "verify"};
  std::deque<ledger::Ledger> ledgers{};
  std::deque<AsyncOwner> owners{};
  wire::Transcript transcript{};
  learn::Model model{};

  explicit Job(const std::string& evaluate = "0", size_t evaluated = 2)
      : charter(tiny_charter(evaluate)) {
    AsyncPlan plan = *plan::async_plan(charter, nullptr);
    EXPECT_TRUE(plan::require_signatures(plan.owners, charter));
    AsyncLearner learner(plan);
    for (size_t place : {0u, 1u}) open(place, learner);
    transcript.charter = charter.hash;
    transcript.started = "2026-11-15T08:00:00Z";
    std::vector<Outgoing> queries;
    for (size_t place : {0u, 0u, 1u, 0u, 0u}) {
      const Step asked = keep(place, *learner.step(place, *owners[place].tick()));
      queries = answer(learner, asked.messages.at(0)).messages;
    }
    for (const Outgoing& query : queries)
      if (evaluate != "0" && query.owner < evaluated) answer(learner, query);
    if (!learner.finished()) keep(0, learner.time_is_up());
    EXPECT_TRUE(learner.finished());
    model = trained_model(charter, learner.trained(),
                          {.started = transcript.started, .transcript_sha256 = to_hex(kFile)});
  }
  ~Job() { std::filesystem::remove_all(folder); }

  Step answer(AsyncLearner& learner, const Outgoing& query) {
    return keep(query.owner, *learner.step(query.owner, **owners[query.owner].step(query.message)));
  }
  Step keep(size_t place, Step step) {
    if (step.taken) transcript.entries.push_back({kNames[place], *step.taken});
    for (const wire::Note& note : step.notes) {
      transcript.notes.push_back(note);
      transcript.notes.back().answers = transcript.entries.size();
    }
    return step;
  }

  /// Owner two pays for one more answer, which never reaches the learner.
  void pay(uint32_t round) {
    wire::Stream stream(charter.hash);
    owners[1].connect();
    EXPECT_TRUE(owners[1].step(stream.send(wire::Welcome{})));
    EXPECT_TRUE(
        *owners[1].step(stream.send(wire::Query{round, privacy::Public::from_model({.1, .1})})));
    EXPECT_FALSE(owners[1].refused());
  }

  void open(size_t place, AsyncLearner& learner) {
    ledgers.push_back(*ledger::Ledger::open(ledger_file(place), kNames[place], clock));
    const auto dataset = *ledgers.back().declare("data", test::pure_budget(1));
    auto rows = std::make_shared<const data::Rows>(test::tiny_owner(place == 0 ? 1 : 2));
    auto gate = gate::Gate::open(gate::Records(rows), *plan::terms_for(charter, place),
                                 ledgers.back(), dataset, entropy, 1);
    owners.emplace_back(charter.hash, kNames[place], charter.protocol.as<charter::Async>()->contact,
                        *std::move(gate), key_of(place));
    learner.attend(place);
    const Step greeted = *learner.step(place, owners[place].connect());
    EXPECT_TRUE(owners[place].step(greeted.messages.at(0).message));
  }

  std::filesystem::path ledger_file(size_t place) const { return folder / kNames[place]; }
  VerifyResult verified() const {
    return *verify({charter,
                    nullptr,
                    model,
                    transcript,
                    kFile,
                    {*ledger::read(ledger_file(0)), *ledger::read(ledger_file(1))}});
  }
};

TEST(VerifyAsync, AnHonestJobIsRecomputedAndEveryEpsilonAddsUp) {
  const VerifyResult result = Job().verified();
  for (const auto& finding : result.findings) ADD_FAILURE() << finding.owner << finding.what;
  EXPECT_TRUE(result.recomputed);
  EXPECT_EQ(result.rounds, 5u);
  EXPECT_EQ(result.owners[0].answers, 4u);
  EXPECT_EQ(result.owners[1].answers, 1u);
  EXPECT_NEAR(result.owners[0].epsilon, 1, 1e-6);
  EXPECT_NEAR(result.owners[1].epsilon, .25, 1e-6) << "it pays for what it answered";
}

TEST(VerifyAsync, TheEvaluationIsRecomputedWhetherAllGaveOneOrNot) {
  const Job all("0.2");
  VerifyResult result = all.verified();
  for (const auto& finding : result.findings) ADD_FAILURE() << finding.owner << finding.what;
  EXPECT_EQ(result.evaluation, all.model.evaluation);
  EXPECT_EQ(result.owners[1].answers, 2u);
  EXPECT_NEAR(result.owners[1].epsilon, .8 / 4 + .2, 1e-6);
  Job some("0.2", 1);
  result = some.verified();
  for (const auto& finding : result.findings) ADD_FAILURE() << finding.owner << finding.what;
  EXPECT_TRUE(result.evaluation.has_value());
  EXPECT_EQ(some.model.card.owners[1].epsilon_evaluation, 0);
  some.transcript.notes.pop_back();
  EXPECT_NE(some.verified().findings.at(0).what.find("ends after 5 of 5 rounds"),
            std::string::npos);
  Job nobody("0.2");
  nobody.transcript.notes.push_back({.kind = wire::Note::Kind::kClosed, .answers = 5});
  std::swap(nobody.transcript.notes.back(), nobody.transcript.notes[4]);
  EXPECT_FALSE(nobody.verified().holds()) << "closed before anyone gave one";
}

// One answer may be paid for and come too late; more the learner cannot have missed.
TEST(VerifyAsync, ALedgerMayHoldOneAnswerMoreThanTheTranscript) {
  Job job;
  job.pay(2);
  EXPECT_TRUE(job.verified().holds());
  job.pay(3);
  const VerifyResult result = job.verified();
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_NE(result.findings[0].what.find("not in the transcript"), std::string::npos);
  EXPECT_EQ(result.findings[0].round, 3u);
}

TEST(VerifyAsync, WhatWasLeftOutMovedOrChangedIsFound) {
  const auto first_finding = [](auto change) {
    Job job;
    change(job);
    const VerifyResult result = job.verified();
    return result.holds() ? "" : result.findings[0].what;
  };
  EXPECT_NE(first_finding([](Job& job) {
              job.transcript.entries.pop_back();
            }).find("ends after 4 of 5 rounds"),
            std::string::npos);
  EXPECT_NE(first_finding([](Job& job) {
              job.transcript.entries.erase(job.transcript.entries.begin() + 1);
            }).find("is missing"),
            std::string::npos);
  EXPECT_NE(first_finding([](Job& job) {
              std::swap(job.transcript.entries[2], job.transcript.entries[3]);
            }).find("no question"),
            std::string::npos);
  EXPECT_NE(first_finding([](Job& job) { job.transcript.entries[2].answer.values[0] += 1; }), "");
  EXPECT_NE(first_finding([](Job& job) { job.model.theta[0] += 1e-9; }), "");
  EXPECT_NE(first_finding([](Job& job) { job.model.card.owners[1].receipts = 4; }), "");
}

}  // namespace verify_async_test
}  // namespace parley::protocol
