// An asynchronous job is verified like a synchronous one: from charter and transcript alone.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "parley/gate/terms.h"
#include "parley/protocol/async_plan.h"
#include "parley/protocol/trained_model.h"
#include "parley/protocol/verify.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/tiny.h"

namespace parley::protocol {
namespace {

const char* const kNames[] = {"one", "two"};

const SigningKey& key_of(size_t place) {
  static const SigningKey keys[] = {SigningKey::make(), SigningKey::make()};
  return keys[place];
}

charter::Charter tiny_charter() {
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
evaluate = 0
[learner]
name = "central-bank"
)";
  for (size_t place : {0u, 1u})
    text += "[[owner]]\nname = \"" + std::string(kNames[place]) +
            "\"\nrows = " + (place == 0 ? "3" : "2") + "\nepsilon = 1\nsign_key = \"" +
            to_text(key_of(place).public_key()) + "\"\n";
  const auto charter = charter::parse_charter(text, "tiny.toml", "");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

/// Owner one answers four times, owner two once.
struct Job {
  static constexpr Hash kFile = {7};
  charter::Charter charter = tiny_charter();
  test::StoppedClock clock;
  test::SeededEntropy entropy{1, "verify"};
  std::deque<ledger::Ledger> ledgers{};
  std::deque<AsyncOwner> owners{};
  wire::Transcript transcript{};
  learn::Model model{};

  Job() {
    AsyncPlan plan = *async_plan(charter, nullptr);
    EXPECT_TRUE(require_signatures(plan.owners, charter));
    AsyncLearner learner(plan);
    for (size_t place : {0u, 1u}) open(place, learner);
    transcript.charter = charter.hash;
    transcript.started = "2026-11-15T08:00:00Z";
    for (size_t place : {0u, 0u, 1u, 0u, 0u}) {
      const Step asked = *learner.step(place, *owners[place].tick());
      transcript.notes.push_back(asked.notes.at(0));
      transcript.notes.back().answers = transcript.entries.size();
      Step step = *learner.step(place, **owners[place].step(asked.messages.at(0).message));
      transcript.entries.push_back({kNames[place], *std::move(step.taken)});
    }
    EXPECT_TRUE(learner.finished());
    model = trained_model(charter, learner.trained(),
                          {.started = transcript.started, .transcript_sha256 = to_hex(kFile)});
  }

  void open(size_t place, AsyncLearner& learner) {
    ledgers.push_back(*ledger::Ledger::open_volatile(kNames[place], clock));
    const auto dataset = *ledgers.back().declare("data", test::pure_budget(1));
    auto rows = std::make_shared<const learn::Rows>(test::tiny_owner(place == 0 ? 1 : 2));
    auto gate = gate::Gate::open(gate::Records(rows), *gate::terms_for(charter, place),
                                 ledgers.back(), dataset, entropy, 1);
    owners.emplace_back(charter.hash, kNames[place], charter.protocol.contact, *std::move(gate),
                        key_of(place));
    learner.attend(place);
    const Step greeted = *learner.step(place, owners[place].connect());
    EXPECT_TRUE(owners[place].step(greeted.messages.at(0).message));
  }

  VerifyResult verified() const {
    return *verify({charter, nullptr, model, transcript, kFile, {}});
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

}  // namespace
}  // namespace parley::protocol
