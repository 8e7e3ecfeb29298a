#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "parley/protocol/vertical/dealer.h"
#include "parley/protocol/vertical/dealt/owner.h"
#include "parley/protocol/vertical/setting.h"
#include "parley/sim/columns.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"
#include "support/columns_charter.h"
#include "support/entropy.h"

namespace parley::sim {
namespace sharing_test {

constexpr size_t kRecords = 80;

/// Labels follow the first columns of all three.
SimulateInput some_input(double epsilon, const std::string& rule = "gradients") {
  auto charter =
      charter::parse_charter(test::columns_charter(epsilon, kRecords, rule), "columns.toml", {});
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  SimulateInput input{.charter = *charter, .owners = {}, .pilot = nullptr, .policies = {}};
  test::SeededEntropy entropy(7, "columns");
  std::vector<std::shared_ptr<data::Rows>> rows;
  for (size_t m = 0; m < 3; ++m) rows.push_back(std::make_shared<data::Rows>(2));
  for (size_t i = 0; i < kRecords; ++i) {
    std::vector<std::vector<double>> z(3, std::vector<double>(2));
    double sum = 0;
    for (auto& part : z)
      for (double& value : part) value = double(int64_t(entropy.word() % 2001) - 1000) / 1000;
    for (const auto& part : z) sum += part[0];
    for (size_t m = 0; m < 3; ++m) rows[m]->add(z[m], sum > 0 ? 1 : -1);
  }
  for (size_t m = 0; m < 3; ++m)
    input.owners.push_back({std::shared_ptr<const data::Rows>(rows[m]), "test", Hash{1}});
  return input;
}

/// The same training without masks and noise, in ordinary numbers.
std::vector<std::vector<double>> plain_training(const SimulateInput& input) {
  const auto terms = *plan::vertical_terms(input.charter);
  std::vector<learn::IntegerRows> rows;
  std::vector<learn::PartyDescent> descents;
  for (size_t m = 0; m < 3; ++m) {
    rows.emplace_back(input.owners[m].rows, terms.plan.bits, terms.plan.row_norms[m]);
    descents.emplace_back(terms.steps, 2, terms.plan.balls[m]);
  }
  const auto at = [&](size_t m, size_t i, size_t k) {
    return std::ldexp(double(rows[m].values(i)[k]), -terms.plan.bits);
  };
  for (uint32_t round = 0; round < terms.rounds; ++round) {
    std::vector<std::vector<double>> gradient(3, std::vector<double>(2));
    for (size_t i = 0; i < kRecords; ++i) {
      double residual = -std::get<0>(input.owners[1].rows)->label(i);
      for (size_t m = 0; m < 3; ++m)
        for (size_t k = 0; k < rows[m].at(i).size(); ++k)
          residual += at(m, i, k) * descents[m].point()[rows[m].at(i)[k]];
      for (size_t m = 0; m < 3; ++m)
        for (size_t k = 0; k < rows[m].at(i).size(); ++k)
          gradient[m][rows[m].at(i)[k]] += at(m, i, k) * residual;
    }
    for (size_t m = 0; m < 3; ++m) descents[m].take(gradient[m], kRecords);
  }
  std::vector<std::vector<double>> parts;
  for (const auto& descent : descents) parts.push_back(descent.model());
  return parts;
}

Result<JobRun> play(const SimulateInput& input, const Faults& faults = {}, uint64_t seed = 3) {
  const SimulateOptions options{.seed = seed};
  return run_job({.input = input, .options = options, .faults = faults});
}

class SharingRules : public testing::TestWithParam<std::string> {
 protected:
  uint32_t rounds() const { return GetParam() == "statistics" ? 1 : 6; }
  /// Where fewer messages travel, each goes wrong more often.
  double often() const { return GetParam() == "statistics" ? 3 : 1; }
};
INSTANTIATE_TEST_SUITE_P(All, SharingRules,
                         testing::Values("gradients", "statistics", "noisy_sharing"),
                         [](const auto& rule) { return rule.param; });

TEST(Sharing, TrainsAsIfAllColumnsLayInOnePlace) {
  const SimulateInput input = some_input(1e4);  // Noise of about 1e-3 in each mean gradient.
  const auto run = play(input);
  ASSERT_TRUE(run) << describe(run.error());
  const auto expected = plain_training(input);
  ASSERT_EQ(run->parts.size(), 3u);
  for (size_t m = 0; m < 3; ++m)
    for (size_t j = 0; j < 2; ++j) EXPECT_NEAR(run->parts[m][j], expected[m][j], .05);
  EXPECT_GT(expected[0][0], .2) << "there is something to learn";
}

TEST_P(SharingRules, EveryLedgerIsChargedForEveryRoundAndTheLearnerGetsDigestsOnly) {
  const SimulateInput input = some_input(1, GetParam());
  const auto run = play(input);
  ASSERT_TRUE(run) << describe(run.error());
  const auto terms = *plan::vertical_terms(input.charter);
  for (size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(run->owners[m].answered, rounds());
    EXPECT_LE(run->owners[m].spent.epsilon, 1);
    EXPECT_GT(run->owners[m].spent.epsilon, .99);
    EXPECT_NEAR(run->owners[m].spent.epsilon, *plan::sharing_epsilon(input.charter, terms, m),
                1e-9);
  }
  EXPECT_EQ(run->journal.size(), 3 * rounds());
  for (const wire::Entry& entry : run->journal) EXPECT_EQ(entry.answer.values.size(), 4u);
  EXPECT_TRUE(run->trained.theta.empty());
}

TEST(Sharing, TheStrictestOwnerDecidesTheNoise) {
  SimulateInput input = some_input(3);
  const double before = plan::vertical_terms(input.charter)->noise.scale();
  input.charter.owners[2].epsilon = 1;
  EXPECT_GT(plan::vertical_terms(input.charter)->noise.scale(), 2 * before);
  const auto run = play(input);
  ASSERT_TRUE(run);
  for (const auto& owner : run->owners) EXPECT_LE(owner.spent.epsilon, 1);
}

/// Crashes of owners and of the learner, lost, doubled, damaged and overtaking messages: the model
/// is the same bit for bit, and nothing is paid twice.
TEST_P(SharingRules, FaultsChangeNeitherTheModelNorThePrice) {
  const SimulateInput input = some_input(1, GetParam());
  const auto calm = play(input);
  ASSERT_TRUE(calm) << describe(calm.error());
  EXPECT_EQ(calm->parts.size(), 3u);
  uint64_t broken = 0, resumed = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const double p = .01 * often();
    Faults faults{.drop = p, .duplicate = p, .corrupt = p / 2, .crash = p, .learner = p};
    faults.delay = .01 * double(seed);
    faults.reorder = p / 5;
    const SimulateOptions options{.seed = 3};
    JobSetting setting{.input = input, .options = options, .faults = faults};
    setting.fault_seed = seed;
    const auto run = run_job(setting);
    ASSERT_TRUE(run) << describe(run.error());
    EXPECT_EQ(run->parts, calm->parts) << seed;
    for (size_t m = 0; m < 3; ++m) {
      EXPECT_EQ(run->owners[m].answered, rounds());
      EXPECT_EQ(run->owners[m].spent.epsilon, calm->owners[m].spent.epsilon);
    }
    broken += run->broken, resumed += run->resumed;
  }
  EXPECT_GT(broken, 6u);
  EXPECT_GT(resumed, 0u);
}

/// What a killed learner had not written yet is asked for again, and given for nothing.
TEST_P(SharingRules, AJournalThatLostItsLastReceiptsIsFilledAgain) {
  const SimulateInput input = some_input(1, GetParam());
  const auto calm = play(input);
  ASSERT_TRUE(calm);
  uint64_t resumed = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SimulateOptions options{.seed = 3};
    JobSetting setting{.input = input, .options = options, .faults = {.learner = .03 * often()}};
    setting.fault_seed = seed;
    const auto run = run_job(setting);
    ASSERT_TRUE(run) << describe(run.error());
    EXPECT_EQ(run->parts, calm->parts) << seed;
    EXPECT_EQ(run->journal.size(), calm->journal.size()) << seed;
    resumed += run->resumed;
  }
  EXPECT_GT(resumed, 10u);
}

TEST(Sharing, AnOwnerThatStaysAwayEndsTheJobAndCostsNothing) {
  const auto run = play(some_input(1), {.down = {1}});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::kUnavailable);
}

TEST(Sharing, OtherRecordsStopTheJobBeforeAnythingIsPaid) {
  SimulateInput input = some_input(1);
  input.owners[2].records = Hash{2};
  const auto run = play(input);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::kInvalid);
  EXPECT_NE(run.error().what.find("agency-1 and agency-3 are not the same"), std::string::npos);
}

TEST(Sharing, ChartersThatCannotBeRunSoundlyAreRefusedByKey) {
  const auto refused = [](const std::string& old, const std::string& replacement) {
    std::string text = test::columns_charter(1, kRecords, "gradients");
    const size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), replacement);
    const auto charter = charter::parse_charter(text, "columns.toml", {});
    EXPECT_TRUE(charter) << describe(charter.error());
    const auto terms = plan::vertical_terms(*charter);
    EXPECT_FALSE(terms);
    return terms ? std::string() : terms.error().where.key;
  };
  EXPECT_EQ(refused("levels = [\"low\", \"high\"]", "bounds = [0, 3]"), "target.bounds");
  EXPECT_EQ(refused("box = 4.0", "box = 3.0"), "model.box");
  EXPECT_EQ(refused("delta = 1e-5", "delta = 1e-5\nunit = \"person\""), "privacy.unit");
}

/// What a restarted owner would send again must be what it sent: else two things under one mask.
TEST_P(SharingRules, TheSameJobAgainIsFreeAndWithOtherDataItIsRefused) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("sharing-again-" + GetParam());
  SimulateInput input = some_input(1, GetParam());
  ASSERT_TRUE(clear_ledgers(input.charter, folder));
  const SimulateOptions options{.seed = 3, .out = folder};
  const auto first = run_job({.input = input, .options = options});
  ASSERT_TRUE(first) << describe(first.error());
  const auto again = run_job({.input = input, .options = options});
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(again->parts, first->parts);
  for (size_t m = 0; m < 3; ++m) {
    EXPECT_EQ(again->owners[m].answered, rounds());
    EXPECT_EQ(again->owners[m].spent.epsilon, first->owners[m].spent.epsilon);
  }
  auto rows = std::make_shared<data::Rows>(*std::get<0>(input.owners[2].rows));
  auto other = std::make_shared<data::Rows>(2);
  for (size_t i = 0; i < kRecords; ++i) {
    const std::vector<double> row = {rows->row(i)[0], i == 5 ? .5 : rows->row(i)[1]};
    other->add(row, rows->label(i));
  }
  input.owners[2].rows = std::shared_ptr<const data::Rows>(other);
  const auto changed = run_job({.input = input, .options = options});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::kIntegrity);
  EXPECT_NE(changed.error().what.find("round 1 was answered for another query"), std::string::npos)
      << changed.error().what;
  std::filesystem::remove_all(folder);
}

/// Whoever sits between the owners cannot put his own key in place of another owner's, nor bring in
/// an owner that has signed another charter.
TEST(Sharing, AKeyThatItsOwnerDidNotSignForThisCharterIsRefused) {
  const SimulateInput input = some_input(1);
  const SigningKey keys[] = {SigningKey::make(), SigningKey::make(), SigningKey::make()};
  const auto party = *Party::make({.charter = input.charter,
                                   .owner = 0,
                                   .rows = input.owners[0].rows,
                                   .policy = nullptr,
                                   .seed = 1,
                                   .run = 0,
                                   .ledger = {},
                                   .threads = 1});
  auto gate = *party->open_columns_gate();
  auto setting = *protocol::vertical_setting(input.charter, gate.terms(), 0, {});
  for (size_t m = 0; m < 3; ++m) setting.owners[m].sign_key = keys[m].public_key();
  protocol::DealtOwner owner(std::move(setting), std::move(gate), party->entropy(), keys[0]);
  enum Signed { kRight, kByAnother, kForAnother };
  for (const Signed how : {kRight, kByAnother, kForAnother}) {
    wire::Stream stream(input.charter.hash);
    const auto hello = *stream.receive_from_owner(owner.connect());
    const auto& said = *std::get<wire::Hello>(hello.body).sharing;
    wire::Session session{.session = 1, .first_round = 1};
    session.peers.push_back({"agency-1", said.key, said.signature});
    for (size_t m = 1; m < 3; ++m) {
      const auto key = protocol::AgreementKey::draw(party->entropy());
      const std::string name = "agency-" + std::to_string(m + 1);
      const Hash charter = how == kForAnother ? Hash{9} : input.charter.hash;
      const Bytes text = wire::signed_key(charter, name, key.public_key());
      session.peers.push_back({name, key.public_key(), keys[how == kByAnother ? 0 : m].sign(text)});
    }
    ASSERT_TRUE(owner.step(stream.send(wire::Welcome{wire::kVersion, 1})));
    const auto begun = owner.step(stream.send(session));
    EXPECT_EQ(bool(begun), how == kRight);
    if (!begun) {
      EXPECT_NE(begun.error().what.find("was not signed"), std::string::npos);
    }
  }
}

/// Masks follow from the key and the data: the same again, or all different.
TEST(Sharing, TheDealerRepeatsItselfForTheSameDataOnly) {
  const auto terms = *plan::vertical_terms(some_input(1).charter);
  const Hash data[] = {{1}, {2}, {3}}, other[] = {{1}, {2}, {4}};
  protocol::Dealer one(terms, Secret32{7}, data), same(terms, Secret32{7}, data),
      changed(terms, Secret32{7}, other);
  EXPECT_EQ(one.corrections(2), same.corrections(2));
  EXPECT_EQ(one.round_seed(0, 2), same.round_seed(0, 2));
  for (size_t m = 0; m < 3; ++m) {
    EXPECT_NE(one.setup_seed(m), changed.setup_seed(m));
    EXPECT_NE(one.round_seed(m, 2), changed.round_seed(m, 2));
    EXPECT_NE(one.round_seed(m, 2), one.round_seed(m, 3));
    EXPECT_NE(one.round_seed(m, 2), one.round_seed((m + 1) % 3, 2));
  }
}

/// Every owner fits its part to the same noisy moments; with next to no noise to the exact ones.
TEST(Sharing, StatisticsAreReleasedOnceAndChargedToEveryOwner) {
  const auto result = simulate(some_input(1e4, "statistics"), {.seed = 4});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_LT(result->quality.relative_fitness.mean, .02);
  const auto paid = simulate(some_input(1, "statistics"), {.seed = 4});
  ASSERT_TRUE(paid);
  for (const auto& owner : paid->owners) {
    EXPECT_EQ(owner.answers, 1u);
    EXPECT_GT(owner.epsilon_spent, .99);
    EXPECT_LE(owner.epsilon_spent, 1);
  }
}

/// It learns where noise is next to nothing; at a usual epsilon the noise is larger than any score.
TEST(Sharing, NoisySharingIsSoundAndWeak) {
  const auto result = simulate(some_input(1e4, "noisy_sharing"), {.seed = 4});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_LT(result->quality.relative_fitness.mean, .3);
  const auto paid = simulate(some_input(1, "noisy_sharing"), {.seed = 4});
  ASSERT_TRUE(paid);
  for (const auto& owner : paid->owners) {
    EXPECT_EQ(owner.answers, 6u);
    EXPECT_GT(owner.epsilon_spent, .99);
    EXPECT_LE(owner.epsilon_spent, 1);
    EXPECT_GT(owner.noise_scale, 4) << "a score is at most that";
  }
}

TEST(Sharing, AConstantColumnAndRecordsThatAreNothingDoNoHarm) {
  SimulateInput input = some_input(1);
  auto rows = std::make_shared<data::Rows>(2);
  for (size_t i = 0; i < kRecords; ++i) rows->add(std::vector<double>{1, i % 2 ? NAN : 0}, 0);
  input.owners[0].rows = std::shared_ptr<const data::Rows>(rows);
  const auto run = play(input);
  ASSERT_TRUE(run) << describe(run.error());
  for (const auto& part : run->parts)
    for (const double value : part) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace sharing_test
}  // namespace parley::sim
