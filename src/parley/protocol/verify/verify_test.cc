#include "parley/protocol/verify/verify.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "parley/gate/gate.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/plan/terms.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/protocol/sync.h"
#include "parley/protocol/trained_model.h"
#include "parley/protocol/verify/verify_epsilon.h"
#include "support/entropy.h"
#include "support/ledgers.h"
#include "support/tiny.h"

namespace parley::protocol {
namespace verify_test {

using test::StoppedClock, test::SeededEntropy;
using Finding = VerifyResult::Finding;

const char* const kNames[] = {"one", "two"};
constexpr size_t kRounds = 3;

const SigningKey& key_of(size_t place) {
  static const SigningKey keys[] = {SigningKey::make(), SigningKey::make()};
  return keys[place];
}

const char kDescent[] =
    "rule = \"algorithm2\"\nrounds = 3\nstep = 0.5\n[privacy]\nmax_grad_norm = 8\n";

charter::Charter some_charter(const std::vector<charter::Override>& changes = {},
                              const std::string& more = "", const std::string& method = kDescent) {
  const std::string text = more + R"(
[charter]
version = 1
name = "tiny"
consortium = "banks.example"
[target]
column = "y"
bounds = [-5, 5]
[[column]]
name = "a"
kind = "number"
bounds = [-5, 5]
missing = 0
[[column]]
name = "b"
kind = "number"
bounds = [-5, 5]
missing = 0
[model]
loss = "squared"
box = 2
[protocol]
name = "sync"
)" + method + R"(evaluate = 0
[[owner]]
name = "one"
rows = 3
epsilon = 1
sign_key = ")" + to_text(key_of(0).public_key()) +
                           R"("
[[owner]]
name = "two"
rows = 2
epsilon = 0.5
sign_key = ")" + to_text(key_of(1).public_key()) +
                           R"("
[learner]
name = "central-bank"
)";
  return *charter::parse_charter(text, "tiny.toml", "", changes);
}

/// A job that was run as it should be; tests change what came of it.
class Verify : public testing::Test {
 protected:
  void SetUp() override { train(); }

  /// Runs the job of charter_ from its beginning.
  void train() {
    folder_ = test::fresh_folder();
    owners_.clear(), ledgers_.clear(), transcript_ = {};
    for (size_t place : {0u, 1u}) open_owner(place);
    SyncPlan plan = *plan::sync_plan(charter_, pilot_);
    ASSERT_TRUE(plan::require_signatures(plan.owners, charter_));
    SyncLearner learner(plan);
    std::deque<Outgoing> post;
    for (size_t place : {0u, 1u}) {
      learner.attend(place);
      const Step greeted = *learner.step(place, owners_[place].connect());
      post.insert(post.end(), greeted.messages.begin(), greeted.messages.end());
    }
    transcript_.charter = charter_.hash;
    transcript_.started = "2026-11-15T08:00:00Z";
    for (; !post.empty(); post.pop_front()) {
      const auto reply = *owners_[post[0].owner].step(post[0].message);
      if (!reply) continue;
      Step step = *learner.step(post[0].owner, *reply);
      transcript_.entries.push_back({kNames[post[0].owner], *std::move(step.taken)});
      post.insert(post.end(), step.messages.begin(), step.messages.end());
    }
    ASSERT_TRUE(learner.finished());
    model_ = trained_model(charter_, learner.trained(),
                           {.started = transcript_.started, .transcript_sha256 = to_hex(kFile)});
  }

  void open_owner(size_t place) {
    ledgers_.push_back(*ledger::Ledger::open(ledger_file(place), kNames[place], clock_));
    const auto dataset = *ledgers_.back().declare("data", test::pure_budget(4));
    auto rows = std::make_shared<const data::Rows>(test::tiny_owner(place == 0 ? 1 : 2));
    auto gate = gate::Gate::open(gate::Records(rows), *plan::terms_for(charter_, place),
                                 ledgers_.back(), dataset, entropy_, 1);
    owners_.emplace_back(charter_.hash, kNames[place], *std::move(gate), key_of(place));
  }

  std::filesystem::path ledger_file(size_t place) const {
    return folder_ / (std::string(kNames[place]) + ".db");
  }

  VerifyResult verified() const {
    return *verify({charter_, pilot_, model_, transcript_, kFile, given_});
  }

  /// The only finding.
  Finding finding() const {
    const VerifyResult result = verified();
    EXPECT_EQ(result.findings.size(), 1u);
    return result.findings.empty() ? Finding{} : result.findings[0];
  }
  void expect_finding(const std::string& owner, uint32_t round, const std::string& what) const {
    const Finding found = finding();
    EXPECT_EQ(found.owner, owner) << found.what;
    EXPECT_EQ(found.round, round) << found.what;
    EXPECT_NE(found.what.find(what), std::string::npos) << found.what;
  }

  size_t index_of(const std::string& owner, uint32_t round) const {
    size_t i = 0;
    while (transcript_.entries[i].owner != owner || transcript_.entries[i].answer.round != round)
      ++i;
    return i;
  }
  wire::ReceivedAnswer& answer_of(const std::string& owner, uint32_t round) {
    return transcript_.entries[index_of(owner, round)].answer;
  }
  /// As an owner would that takes part in the fraud.
  void sign(const std::string& owner, wire::ReceivedAnswer& answer) const {
    answer.receipt.answer = sha256(bytes_of(answer.values));
    answer.signature = key_of(owner == "one" ? 0 : 1)
                           .sign(wire::signed_bytes(charter_.hash, owner, answer.receipt));
  }

  static constexpr Hash kFile = {7};
  StoppedClock clock_;
  SeededEntropy entropy_{1, "verify"};
  std::filesystem::path folder_;
  charter::Charter charter_ = some_charter();
  const data::Rows* pilot_ = nullptr;
  std::deque<ledger::Ledger> ledgers_;
  std::deque<SyncOwner> owners_;
  wire::Transcript transcript_;
  learn::Model model_;
  std::vector<ledger::Contents> given_;
};

TEST_F(Verify, AnHonestJobIsRecomputedAndEveryEpsilonAddsUp) {
  const VerifyResult result = verified();
  EXPECT_TRUE(result.holds());
  EXPECT_TRUE(result.recomputed && result.file_compared);
  EXPECT_EQ(result.answers, 2 * kRounds);
  ASSERT_EQ(result.owners.size(), 2u);
  EXPECT_EQ(result.owners[0].answers, kRounds);
  EXPECT_LE(result.owners[0].epsilon, 1);
  EXPECT_NEAR(result.owners[0].epsilon, 1, 1e-6);
  EXPECT_NEAR(result.owners[1].epsilon, 0.5, 1e-6);
}

// Whatever fills the schedule, it fills it again from charter and pilot, to the last bit.
TEST_F(Verify, EveryRuleIsRecomputedBitForBit) {
  using Changes = std::vector<charter::Override>;
  data::Rows pilot(2);
  for (int k = 0; k < 8; ++k)  // Newton steps need ten rows that differ in every column.
    for (int owner : {1, 2})
      for (size_t i = 0; i < test::tiny_owner(owner).size(); ++i)
        pilot.add(test::tiny_owner(owner).row(i), test::tiny_owner(owner).label(i));
  pilot_ = &pilot;
  const std::string some_pilot =
      "pilot = {file = \"pilot.csv\", rows = 5, sha256 = \"" + std::string(64, '0') + "\"}\n";
  for (const Changes& changes :
       {Changes{{"protocol.rule", "algorithm1"}}, Changes{{"protocol.rule", "constant"}},
        Changes{{"protocol.rule", "constant"}, {"protocol.momentum", "0.5"}},
        Changes{{"protocol.rule", "constant"}, {"protocol.start", "pilot"}},
        Changes{{"protocol.rule", "strongly_convex"}, {"model.l2", "0.3"}},
        Changes{{"protocol.rule", "pilot_newton"}}, Changes{{"protocol.weights", "noise_optimal"}},
        Changes{{"protocol.rule", "pilot_newton"}, {"privacy.overlap", "2"}}}) {
    charter_ = some_charter(changes, some_pilot);
    train();
    const VerifyResult result = verified();
    EXPECT_TRUE(result.holds() && result.recomputed)
        << changes[0].value << (result.holds() ? "" : result.findings[0].what);
    model_.theta[0] = std::nextafter(model_.theta[0], 3);
    EXPECT_FALSE(verified().holds());
  }
}

TEST_F(Verify, StatisticsAreSolvedAgainBitForBit) {
  charter_ = some_charter({}, "", "rule = \"statistics\"\n[privacy]\nmax_row_norm = 2\n");
  train();
  EXPECT_EQ(transcript_.entries[0].answer.values.size(), 5u)
      << "three products, two with the label";
  const VerifyResult result = verified();
  EXPECT_TRUE(result.holds() && result.recomputed)
      << (result.holds() ? "" : result.findings[0].what);
  EXPECT_EQ(result.answers, 2u);
  model_.theta[0] = std::nextafter(model_.theta[0], 3);
  EXPECT_FALSE(verified().holds());
}

TEST_F(Verify, AnswersOfOneRoundMayHaveArrivedInAnyOrder) {
  std::swap(transcript_.entries[0], transcript_.entries[1]);
  ASSERT_NE(transcript_.entries[0].owner, transcript_.entries[1].owner);
  EXPECT_TRUE(verified().holds());
}

TEST_F(Verify, ChangedNumbersAreNotThoseOfTheReceipt) {
  answer_of("two", 2).values[1] += 1;
  expect_finding("two", 2, "other numbers than its receipt");
  EXPECT_FALSE(verified().recomputed);
}

TEST_F(Verify, EveryFieldOfAReceiptIsUnderTheSignature) {
  const auto whole = transcript_;
  const auto changed = [&](auto change) {
    transcript_ = whole;
    change(answer_of("one", 3));
    const VerifyResult result = verified();
    const auto forged = [](const Finding& each) {
      return each.owner == "one" && each.round == 3 &&
             each.what.find("sign_key in the charter signed") != std::string::npos;
    };
    return std::count_if(result.findings.begin(), result.findings.end(), forged);
  };
  EXPECT_EQ(changed([](auto& a) { a.receipt.epsilon_spent /= 2; }), 1);
  EXPECT_EQ(changed([](auto& a) { a.receipt.delta_spent = 1e-9; }), 1);
  EXPECT_EQ(changed([](auto& a) { a.receipt.event += " "; }), 1);
  EXPECT_EQ(changed([](auto& a) { a.receipt.chain[0] ^= 1; }), 1);
  EXPECT_EQ(changed([](auto& a) { a.receipt.query[0] ^= 1; }), 1);
  EXPECT_EQ(changed([](auto& a) { a.receipt.answer[0] ^= 1; }), 1);
  EXPECT_EQ(changed([](auto& a) { a.receipt.round = 2; }), 1);
  EXPECT_EQ(changed([](auto& a) { (*a.signature)[20] ^= 1; }), 1);
  EXPECT_EQ(changed([](auto&) {}), 0);
}

TEST_F(Verify, AnAnswerWithoutSignatureProvesNothing) {
  answer_of("one", 1).signature.reset();
  expect_finding("one", 1, "is not signed");
}

TEST_F(Verify, NobodySignsForAnother) {
  wire::ReceivedAnswer& answer = answer_of("one", 2);
  answer.signature = key_of(1).sign(wire::signed_bytes(charter_.hash, "one", answer.receipt));
  expect_finding("one", 2, "sign_key in the charter signed");
}

TEST_F(Verify, SwappedRoundsDoNotFollowFromEachOther) {
  std::swap(transcript_.entries[index_of("one", 1)], transcript_.entries[index_of("one", 2)]);
  expect_finding("one", 2, "an answer to round 2 in round 1");
}

TEST_F(Verify, ADroppedAnswerIsMissed) {
  transcript_.entries.erase(transcript_.entries.begin() +
                            static_cast<std::ptrdiff_t>(index_of("two", 3)));
  expect_finding("two", 3, "is missing");
  EXPECT_FALSE(verified().recomputed);
}

TEST_F(Verify, ADuplicatedAnswerIsSeen) {
  transcript_.entries.push_back(transcript_.entries[index_of("two", 1)]);
  expect_finding("two", 1, "is there twice");
}

TEST_F(Verify, AnAnswerBeyondTheLastRoundIsSeenEvenIfSigned) {
  wire::Entry more = transcript_.entries[index_of("two", 3)];
  more.answer.round = more.answer.receipt.round = 4;
  more.answer.receipt.epsilon_spent *= 4.0 / 3;
  sign("two", more.answer);
  transcript_.entries.push_back(more);
  const VerifyResult result = verified();
  ASSERT_EQ(result.findings.size(), 2u);
  EXPECT_NE(result.findings[0].what.find("beyond the 3 of the charter"), std::string::npos);
  EXPECT_NE(result.findings[1].what.find("the charter allows 0.5"), std::string::npos);
}

TEST_F(Verify, AStrangersAnswerIsSeen) {
  transcript_.entries.push_back(transcript_.entries[0]);
  transcript_.entries.back().owner = "three";
  expect_finding("three", 1, "no owner of the charter");
  transcript_.entries.back().owner = "\x1b[2Jthree\n";
  expect_finding("\\u001b[2Jthree\\u000a", 1, "no owner of the charter");
}

// The learner asks what it should not have asked, and the owner signs that.
TEST_F(Verify, AnAnswerToAnotherQuestionIsFoundThoughItsOwnerSigned) {
  wire::ReceivedAnswer& answer = answer_of("one", 2);
  const double other[] = {0.25, 0.25};
  answer.receipt.query = gate::query_hash(charter_.hash, 2, other);
  sign("one", answer);
  expect_finding("one", 2, "another question");
}

TEST_F(Verify, AnOwnerThatSignsASmallerEpsilonIsFound) {
  wire::ReceivedAnswer& answer = answer_of("two", 2);
  answer.receipt.epsilon_spent *= 0.999;
  sign("two", answer);
  expect_finding("two", 2, "the receipts add up to");
}

/// Epsilon and delta travel together: a card that tells less than the receipts cost at its delta is
/// found by the second accountant, whatever the code says that writes cards.
TEST_F(Verify, ACardThatSaysLessThanTheReceiptsCostIsFound) {
  model_.card.owners[1].epsilon *= 0.75;
  const auto findings = verified().findings;
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(),
                          [](const Finding& each) {
                            return each.owner == "two" &&
                                   each.what.find("card at delta") != std::string::npos;
                          }),
            1);
}

TEST_F(Verify, AnOwnerThatSignsAnotherEventIsFound) {
  wire::ReceivedAnswer& answer = answer_of("two", 1);
  answer.receipt.event = R"({"laplace":{"noise_multiplier":9,"scale":9,"sensitivity":1}})";
  sign("two", answer);
  EXPECT_NE(verified().findings[0].what.find("the charter prescribes {\"laplace\""),
            std::string::npos);
  answer.receipt.event = R"({"gaussian":{"noise_multiplier":1}})";
  sign("two", answer);
  EXPECT_NE(verified().findings[1].what.find("cannot account for"), std::string::npos);
}

TEST_F(Verify, AnotherChartersTranscriptIsNotLookedAt) {
  charter_ = some_charter({{"protocol.step", "0.25"}});
  const Finding found = finding();
  EXPECT_NE(found.what.find("the transcript is of charter " + to_hex(transcript_.charter)),
            std::string::npos);
  EXPECT_NE(found.what.find(to_hex(charter_.hash)), std::string::npos);
}

TEST_F(Verify, TheSameAnswersUnderAnotherCharterProveNothing) {
  charter_ = some_charter({{"protocol.step", "0.25"}});
  transcript_.charter = charter_.hash;
  EXPECT_EQ(verified().findings.size(), 2 * kRounds) << "no signature fits";
}

TEST_F(Verify, AChangedModelIsFoundToTheLastBit) {
  const double whole = model_.theta[1];
  model_.theta[1] = std::nextafter(whole, 2);
  expect_finding("", 0, "model.theta.1 is ");
  EXPECT_TRUE(verified().recomputed);
  model_.theta[1] = whole;
  model_.theta.pop_back();
  expect_finding("", 0, "model.theta has 1 numbers");
}

TEST_F(Verify, EverythingInTheModelFileIsCompared) {
  const learn::Model whole = model_;
  const auto expect_changed = [&](const std::string& key, auto change) {
    model_ = whole;
    change(model_);
    expect_finding("", 0, key + " is ");
  };
  expect_changed("privacy_card.owners.1.epsilon", [](auto& m) { m.card.owners[1].epsilon = 99; });
  expect_changed("privacy_card.owners.0.receipts", [](auto& m) { m.card.owners[0].receipts = 2; });
  expect_changed("privacy_card.owners.0.delta", [](auto& m) { m.card.owners[0].delta = 0.1; });
  expect_changed("privacy_card.charter", [](auto& m) { m.card.charter[9] ^= 1; });
  expect_changed("privacy_card.statement", [](auto& m) { m.card.statement = "Perfectly safe."; });
  expect_changed("privacy_card.rounds", [](auto& m) { m.card.rounds = 1; });
  expect_changed("training.transcript_sha256",
                 [](auto& m) { m.training.transcript_sha256 = to_hex(Hash{8}); });
  expect_changed("training.seed", [](auto& m) { m.training.seed = 5; });
  expect_changed("target.scale", [](auto& m) { m.schema.target.scale = 2; });
  expect_changed("columns.0.bounds.1", [](auto& m) { m.schema.columns[0].high = 6; });
  model_ = whole;
  model_.card.not_covered.pop_back();
  expect_finding("", 0, "privacy_card.not_covered lacks \"answer times\"");
  model_.card.not_covered = {"nothing", "nothing", "nothing", "nothing", "nothing"};
  EXPECT_EQ(verified().findings.size(), 5u);
  model_ = whole;
  model_.training.transcript_sha256.reset();
  expect_finding("", 0, "training.transcript_sha256 is null");
}

TEST_F(Verify, WhichVersionTrainedDoesNotCount) {
  model_.training.parley = "99.0.0";
  EXPECT_TRUE(verified().holds());
}

TEST_F(Verify, AnUnpackedTranscriptIsVerifiedButItsHashIsNotCompared) {
  const auto result = *verify({charter_, nullptr, model_, transcript_, std::nullopt, {}});
  EXPECT_TRUE(result.holds());
  EXPECT_FALSE(result.file_compared);
}

TEST_F(Verify, ReceiptsAreRowsOfTheLedgers) {
  for (size_t place : {0u, 1u}) given_.push_back(*ledger::read(ledger_file(place)));
  const VerifyResult result = verified();
  EXPECT_TRUE(result.holds());
  EXPECT_EQ(result.owners[1].ledger_head, given_[1].head);
}

TEST_F(Verify, ALedgerThatForgotOrKnowsMoreIsFound) {
  given_.push_back(*ledger::read(ledger_file(0)));
  const ledger::Contents whole = given_[0];
  given_[0].rows.pop_back();
  expect_finding("one", 3, "is not in the ledger");
  given_[0] = whole;
  given_[0].rows[1].hash[0] ^= 1;
  expect_finding("one", 1, "another row than the ledger's row 2");
  given_[0] = whole;
  given_[0].rows.push_back(whole.rows.back());
  given_[0].rows.back().round = 4;
  expect_finding("one", 4, "not in the transcript");
}

TEST_F(Verify, ACharterThatNamesNoKeysCannotBeVerified) {
  for (charter::Owner& owner : charter_.owners) owner.sign_key.reset();
  const auto result = verify({charter_, nullptr, model_, transcript_, kFile, {}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::kInvalid);
}

TEST(SecondAccountant, AddsPureLossesAndKnowsNoOthers) {
  SecondAccountant accountant;
  const std::string event = R"({"laplace":{"noise_multiplier":3,"scale":300,"sensitivity":100}})";
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(accountant.add(event));
  EXPECT_DOUBLE_EQ(accountant.epsilon(0), 2);
  EXPECT_TRUE(accountant.agrees(2 * (1 + 5e-10), 0));
  EXPECT_FALSE(accountant.agrees(2 * (1 + 2e-9), 0));
  EXPECT_FALSE(accountant.agrees(2 * (1 - 2e-9), 0));
  EXPECT_FALSE(accountant.agrees(2, 1e-30));
  for (const char* bad :
       {"", "{}", "[]", "3", R"({"laplace":3})", R"({"laplace":{}})",
        R"({"laplace":{"scale":0,"sensitivity":1}})", R"({"laplace":{"scale":-1,"sensitivity":1}})",
        R"({"laplace":{"scale":"9","sensitivity":1}})",
        R"({"laplace":{"scale":9,"sensitivity":1},"gaussian":{}})",
        R"({"gaussian":{"noise_multiplier":1}})"})
    EXPECT_FALSE(accountant.add(bad)) << bad;
  EXPECT_DOUBLE_EQ(accountant.epsilon(0), 2);
}

// Z1: rho = 0.1 is epsilon 1.914238832004 at delta 1e-5, and the ledger's conversion agrees.
TEST(SecondAccountant, AddsRhoAndConvertsIt) {
  SecondAccountant accountant;
  const std::string event =
      R"({"gaussian":{"noise_multiplier":7.07,"sensitivity":100,"variance":500000}})";
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(accountant.add(event));
  EXPECT_NEAR(accountant.epsilon(1e-5), 1.914238832004, 1e-11);
  for (double delta : {1e-3, 1e-5, 1e-9, 1e-12})
    EXPECT_TRUE(accountant.agrees(privacy::zcdp_epsilon(0.1, *privacy::Delta::make(delta)), delta));
  EXPECT_FALSE(accountant.agrees(1.914238832004 * (1 - 2e-9), 1e-5));
  EXPECT_FALSE(accountant.agrees(1.914238832004, 2e-5));
  EXPECT_FALSE(accountant.agrees(1.914238832004, 0)) << "Gaussian noise has a delta";
  ASSERT_TRUE(accountant.add(R"({"laplace":{"scale":300,"sensitivity":100}})"));
  EXPECT_NEAR(accountant.epsilon(1e-5), 1.914238832004 + 1 / 3., 1e-11);
}

struct VerifyEvaluation : Verify {
  void SetUp() override {
    charter_ = some_charter({{"privacy.evaluate", "0.2"}});
    train();
  }
  wire::ReceivedAnswer& evaluation_of(const std::string& owner) {
    for (wire::Entry& entry : transcript_.entries)
      if (entry.owner == owner && entry.answer.receipt.kind == privacy::ReleaseKind::kEvaluation)
        return entry.answer;
    return check(false), transcript_.entries[0].answer;
  }
};

TEST_F(VerifyEvaluation, AnHonestOneIsRecomputedAndPartOfEpsilon) {
  for (const char* place : {"one", "two"})
    given_.push_back(*ledger::read(ledger_file(place == std::string("one") ? 0 : 1)));
  const VerifyResult result = verified();
  EXPECT_TRUE(result.holds()) << result.findings[0].what;
  EXPECT_EQ(result.answers, 2 * (kRounds + 1));
  EXPECT_EQ(result.evaluation, model_.evaluation);
  EXPECT_NEAR(result.owners[0].epsilon, 1, 1e-6);
  EXPECT_LE(result.owners[0].epsilon, 1);
  EXPECT_NEAR(model_.card.owners[0].epsilon_evaluation, 0.2, 1e-6);
  EXPECT_EQ(model_.card.owners[0].receipts, kRounds + 1);
}

TEST_F(VerifyEvaluation, AnotherLossInTheModelIsFound) {
  model_.evaluation->loss = 0;
  expect_finding("", 0, "evaluation.loss");
}

TEST_F(VerifyEvaluation, AMissingOneIsFound) {
  std::erase_if(transcript_.entries, [](const wire::Entry& entry) {
    return entry.owner == "two" && entry.answer.receipt.kind == privacy::ReleaseKind::kEvaluation;
  });
  expect_finding("two", 0, "its evaluation is missing");
}

TEST_F(VerifyEvaluation, OtherNumbersAreFound) {
  evaluation_of("one").values[0] += 1;
  expect_finding("one", 0, "its evaluation has other numbers than its receipt");
}

TEST_F(VerifyEvaluation, OneAtAnotherModelIsFoundThoughItsOwnerSignedIt) {
  wire::ReceivedAnswer& answer = evaluation_of("one");
  answer.receipt.query = gate::query_hash(charter_.hash, 1, std::vector<double>{1, 1},
                                          privacy::ReleaseKind::kEvaluation);
  sign("one", answer);
  EXPECT_NE(finding().what.find("another question"), std::string::npos);
}

TEST_F(VerifyEvaluation, OneThatTheCharterDoesNotAskForIsFound) {
  const wire::Entry extra{"one", evaluation_of("one")};
  charter_ = some_charter();
  train();
  transcript_.entries.push_back(extra);
  sign("one", transcript_.entries.back().answer);
  EXPECT_NE(verified().findings.at(0).what.find("one more than the charter asks for"),
            std::string::npos);
}

}  // namespace verify_test
}  // namespace parley::protocol
