#include "studies/paper/admm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "parley/base/files.h"
#include "parley/learn/fitness.h"
#include "parley/learn/vertical/admm/admm.h"
#include "parley/learn/vertical/model_part.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/vertical_terms.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"
#include "studies/paper/literal.h"
#include "support/columns_charter.h"
#include "support/entropy.h"

namespace parley::sim {
namespace admm_test {

constexpr size_t kRecords = 80;

using Changes = std::vector<std::pair<std::string, std::string>>;
using Columns = std::vector<std::shared_ptr<data::Rows>>;

Result<SimulateResult> simulated(const SimulateInput& input, const SimulateOptions& options = {}) {
  return simulate(input, options, &paper::literal());
}

charter::Charter admm_charter(const Changes& changes = {}) {
  std::string text = test::columns_charter(1, kRecords, "admm");
  for (const auto& [old, replacement] : changes) {
    const size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), replacement);
  }
  const auto charter = charter::parse_charter(text, "columns.toml", {});
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  return *charter;
}

/// Entries are multiples of 1/1024 and rows short, so that shortening and rounding change nothing.
/// Labels follow the first columns of all three.
Columns some_columns(const std::function<double(size_t owner, size_t column, double own)>& value) {
  test::SeededEntropy entropy(7, "columns");
  Columns columns;
  for (size_t m = 0; m < 3; ++m) columns.push_back(std::make_shared<data::Rows>(2));
  for (size_t i = 0; i < kRecords; ++i) {
    std::vector<std::vector<double>> z(3, std::vector<double>(2));
    double sum = double(int64_t(entropy.word() % 401) - 200) / 1024;  // not quite
    for (size_t m = 0; m < 3; ++m)
      for (size_t j = 0; j < 2; ++j)
        z[m][j] = value(m, j, double(int64_t(entropy.word() % 801) - 400) / 1024);
    for (const auto& part : z) sum += part[0];
    for (size_t m = 0; m < 3; ++m) columns[m]->add(z[m], sum > 0 ? 1 : -1);
  }
  return columns;
}

double as_drawn(size_t, size_t, double own) { return own; }

SimulateInput input_of(const charter::Charter& charter, const Columns& columns) {
  SimulateInput input{.charter = charter, .owners = {}, .pilot = nullptr, .policies = {}};
  for (const auto& rows : columns)
    input.owners.push_back({std::shared_ptr<const data::Rows>(rows), "test", Hash{1}});
  return input;
}

SimulateInput some_input(const Changes& changes = {}) {
  return input_of(admm_charter(changes), some_columns(as_drawn));
}

learn::AdmmResult by_the_library(const Columns& columns, const learn::AdmmOptions& options) {
  std::vector<double> labels;
  for (size_t i = 0; i < kRecords; ++i) labels.push_back(columns[0]->label(i));
  auto result = learn::share_by_admm({columns.begin(), columns.end()}, labels, options);
  EXPECT_TRUE(result) << (result ? "" : describe(result.error()));
  return *result;
}

std::filesystem::path empty_folder(const std::string& name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  return folder;
}

std::string key_of_refusal(const SimulateInput& input) {
  const auto result = simulated(input, {});
  EXPECT_FALSE(result);
  return result ? "" : result.error().where.key;
}

struct Case {
  std::string name;
  Changes changes;
  learn::AdmmOptions options;
};

class AdmmSimulated : public testing::TestWithParam<Case> {};
const double kL2 = .02 * kRecords;
INSTANTIATE_TEST_SUITE_P(
    All, AdmmSimulated,
    testing::Values(
        Case{"Squares",
             {},
             {.loss = learn::Squared{}, .lam = kL2, .rho = 1, .rounds_max = 6, .tolerance = 1e-3}},
        Case{"LogisticInThePapersScalingFromZero",
             {{"\"squared\"", "\"logistic\""},
              {"step = 1.0", "step = 0.6\nscaling = \"paper\"\nwarm_start = false"}},
             {.lam = kL2,
              .rho = .6,
              .scaling = learn::Scaling::kPaper,
              .warm = false,
              .rounds_max = 6,
              .tolerance = 1e-3}},
        Case{"HingeUntilItStops",
             {{"\"squared\"", "\"hinge\""}, {"rounds = 6", "rounds = 400\ntolerance = 0.01"}},
             {.loss = learn::Hinge{}, .lam = kL2, .rho = 1, .rounds_max = 400, .tolerance = .01}},
        Case{"Lasso",
             {{"l2 = 0.02", "l1 = 0.02"}},
             {.loss = learn::Squared{},
              .penalty = learn::Penalty::kSizes,
              .lam = kL2,
              .rho = 1,
              .rounds_max = 6,
              .tolerance = 1e-3}}),
    [](const auto& each) { return each.param.name; });

TEST_P(AdmmSimulated, IsTheLibrarysBitForBitAndLeavesPartsUnderAManifest) {
  const auto folder = empty_folder("admm-" + GetParam().name);
  const Columns columns = some_columns(as_drawn);
  const SimulateInput input = input_of(admm_charter(GetParam().changes), columns);
  const auto result = simulated(input, {.seed = 3, .out = folder});
  ASSERT_TRUE(result) << describe(result.error());
  const auto expected = by_the_library(columns, GetParam().options);
  ASSERT_EQ(result->quality.by_round.size(), expected.rounds.size());
  EXPECT_EQ(result->owners[0].answers, expected.rounds.size());
  const double best = result->quality.optimum.fitness;
  for (size_t k = 0; k < expected.rounds.size(); ++k)
    EXPECT_NEAR(best * (1 + result->quality.by_round[k].p50), expected.rounds[k].objective, 1e-12);
  const auto manifest =
      *learn::manifest_from_json(*read_file(folder / "manifest.json"), "manifest.json");
  ASSERT_EQ(manifest.parts.size(), 3u);
  for (size_t m = 0; m < 3; ++m) {
    const auto own = folder / "simulated" / input.charter.owners[m].name;
    const std::string text = *read_file(own / "part.json");
    const auto part = learn::part_from_json(text, "part.json");
    ASSERT_TRUE(part) << describe(part.error());
    EXPECT_EQ(part->model.theta, expected.models[m]);
    EXPECT_EQ(manifest.parts[m].sha256, sha256(as_bytes(text)));
    EXPECT_FALSE(part->model.card.is_private);
    EXPECT_TRUE(part->model.card.owners.empty()) << "nothing is promised to anybody";
    EXPECT_FALSE(std::filesystem::exists(ledger_file(folder, input.charter.owners[m].name)));
  }
  std::filesystem::remove_all(folder);
}

TEST(Admm, ProtectsNobodyAndSaysSo) {
  const auto result = simulated(some_input());
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_NE(result->why_not_private.front().find("adds no noise"), std::string::npos);
  EXPECT_EQ(result->traffic.bytes_up + result->traffic.bytes_down, 0u);
  for (const auto& owner : result->owners) {
    EXPECT_TRUE(std::isinf(owner.epsilon));
    EXPECT_TRUE(std::isinf(owner.epsilon_spent));
    EXPECT_EQ(owner.noise_scale, 0);
  }
}

TEST(Admm, ComesToTheBestOfAllColumnsWhichIsBetterThanAnyOwnersOwn) {
  for (const std::string loss : {"squared", "logistic", "huber"})
    for (const std::string penalty : {"l2 = 0.02", "l1 = 0.02"}) {
      const auto result = simulated(some_input({{"loss = \"squared\"", "loss = \"" + loss + "\""},
                                                {"l2 = 0.02", penalty},
                                                {"rounds = 6", "rounds = 3000\ntolerance = 0.0"},
                                                {"step = 1.0", "step = 0.3"}}),
                                    {});
      ASSERT_TRUE(result) << loss << penalty << describe(result.error());
      EXPECT_LT(result->quality.optimum.relative_gap, 1e-8) << loss << penalty;
      EXPECT_NEAR(result->quality.relative_fitness.mean, 0, 1e-7) << loss << penalty;
      for (const auto& owner : result->owners) EXPECT_TRUE(owner.gains) << loss << penalty;
      EXPECT_EQ(result->quality.by_round.size(), 3000u);
    }
}

TEST(Admm, AConstantColumnAndColumnsThatDependOnEachOtherDoNoHarm) {
  const auto columns = some_columns([](size_t owner, size_t column, double own) {
    return owner == 0 && column == 1 ? .25 : owner == 2 && column == 1 ? 0 : own;
  });
  auto twice = std::make_shared<data::Rows>(2);
  for (size_t i = 0; i < kRecords; ++i)
    twice->add(std::vector{columns[1]->row(i)[0], columns[1]->row(i)[0]}, columns[1]->label(i));
  const auto result = simulated(
      input_of(admm_charter({{"rounds = 6", "rounds = 300"}}), {columns[0], twice, columns[2]}),
      {});
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_LT(result->quality.relative_fitness.mean, 1e-4);
}

TEST(Admm, TheGuardEndsADivergingRunAndNamesTheStep) {
  const auto columns = some_columns([first = 0.0](size_t owner, size_t column, double own) mutable {
    if (owner == 0 && column == 0) first = own;
    return column == 0 ? first : own;
  });
  Columns alike;  // with labels of which a third say the opposite
  for (size_t m = 0; m < 3; ++m) {
    alike.push_back(std::make_shared<data::Rows>(2));
    for (size_t i = 0; i < kRecords; ++i)
      alike[m]->add(columns[m]->row(i), columns[m]->label(i) * (i % 3 == 0 ? -1 : 1));
  }
  const Changes small = {{"\"squared\"", "\"logistic\""},
                         {"rounds = 6", "rounds = 60"},
                         {"l2 = 0.02", "l2 = 0.0001"},
                         {"box = 4.0", "box = 1000.0"},
                         {"step = 1.0", "step = 0.03\nscaling = \"paper\""}};
  const auto diverged = simulated(input_of(admm_charter(small), alike), {});
  ASSERT_FALSE(diverged);
  EXPECT_EQ(diverged.error().where.key, "protocol.step");
  EXPECT_NE(diverged.error().what.find("diverges"), std::string::npos);
  EXPECT_NE(diverged.error().hint.find("boyd"), std::string::npos);
  Changes boyd = small;
  boyd.back().second = "step = 0.03";
  EXPECT_TRUE(simulated(input_of(admm_charter(boyd), alike), {}));
}

TEST(Admm, RefusesWhatItCannotTrainOnNamingTheKey) {
  EXPECT_EQ(key_of_refusal(some_input({{"l2 = 0.02", "l2 = 0.0"}})), "model.l2");
  EXPECT_EQ(key_of_refusal(some_input({{"box = 4.0", "box = 0.1"}})), "model.box");
  EXPECT_EQ(key_of_refusal(some_input({{"levels = [\"low\", \"high\"]", "bounds = [0, 3]"}})),
            "target.bounds");
  SimulateInput policies = some_input();
  policies.policies["agency-1"] = {};
  EXPECT_EQ(key_of_refusal(policies), "protocol.rule");

  const Columns columns = some_columns(as_drawn);
  auto odd = std::make_shared<data::Rows>(2);
  for (size_t i = 0; i < kRecords; ++i) odd->add(columns[1]->row(i), i == 5 ? 0 : 1);
  EXPECT_EQ(key_of_refusal(input_of(admm_charter(), {columns[0], odd, columns[2]})),
            "target.levels");

  SimulateInput others = some_input();
  others.owners[2].records = Hash{2};
  const auto mismatch = simulated(others, {});
  ASSERT_FALSE(mismatch);
  EXPECT_NE(mismatch.error().what.find("agency-1 and agency-3 are not the same"),
            std::string::npos);
}

/// Owners, learners, dealers and auditors all begin with one of these.
TEST(Admm, HasNoPlaceOutsideASimulation) {
  const SimulateInput input = some_input();
  const SimulateOptions options;
  const auto expect_refused = [](const auto& result) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().where.key, "protocol.rule");
    EXPECT_NE(result.error().what.find("\"admm\" adds no noise"), std::string::npos);
    EXPECT_NE(result.error().what.find("parley simulate"), std::string::npos);
    EXPECT_NE(result.error().hint.find("\"gradients\""), std::string::npos);
  };
  expect_refused(plan::vertical_terms(input.charter));
  expect_refused(plan::learners_job(input.charter, ""));
  expect_refused(charter::Policy{}.dataset_for(input.charter));
  expect_refused(run_job({.input = input, .options = options}));
}

}  // namespace admm_test
}  // namespace parley::sim
