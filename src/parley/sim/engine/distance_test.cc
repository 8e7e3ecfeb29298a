// Rule "distance" with every party in one process: how far owners differ, in one secure sum.
#include "parley/plan/sums/distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/objective.h"
#include "parley/ledger/read.h"
#include "parley/plan/explain.h"
#include "parley/plan/secagg_terms.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/trained_model.h"
#include "parley/protocol/verify/verify.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/engine/party.h"
#include "parley/sim/outcome.h"
#include "support/ledgers.h"

namespace parley::sim {
namespace distance_test {

constexpr size_t kColumns = 4;

/// y = (theta + b).z + noise, b the owner's own; with a bias, whose b is twice as large.
std::shared_ptr<data::Rows> rows_of(size_t count, double spread, bool bias, SeededRandom& random) {
  auto rows = std::make_shared<data::Rows>(kColumns + bias);
  std::vector<double> theta(kColumns), z(kColumns + bias, 1);
  for (double& value : theta) value = .2 + spread * random.normal();
  const double shift = bias ? 2 * spread * random.normal() : 0;
  for (size_t i = 0; i < count; ++i) {
    double y = shift + .3 * random.normal();
    for (size_t j = 0; j < kColumns; ++j) y += theta[j] * (z[j] = random.normal());
    rows->add(z, y);
  }
  return rows;
}

struct Job {
  std::vector<size_t> rows{120, 400, 250, 50, 180};
  double epsilon = 1, spread = .2;
  bool bias = false;
  std::string secure{}, privacy{}, protocol{};
};

std::string text_of(const Job& job) {
  std::string text =
      "[charter]\nversion = 1\nname = \"banks\"\nconsortium = \"banks.example\"\n"
      "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
      std::string(64, 'a') +
      "\"\nrows = 300\n[target]\ncolumn = \"y\"\nbounds = [-9.0, 9.0]\n"
      "[[column]]\nname = \"x\"\ncount = 4\nkind = \"number\"\nbounds = [-9.0, 9.0]\n"
      "missing = 0.0\n[model]\nloss = \"squared\"\nl2 = 1e-3\nbox = 2.0\n" +
      (job.bias ? "bias = true\n" : "") + "[protocol]\nname = \"sync\"\nrule = \"distance\"\n" +
      job.protocol + "[privacy]\nmax_grad_norm = 2.0\ndelta = 1e-6\n" + job.privacy +
      "[network]\ndeadline_s = 60\n[secure_aggregation]\n" + job.secure;
  for (size_t i = 0; i < job.rows.size(); ++i)
    text += "[[owner]]\nname = \"bank-" + std::to_string(i) +
            "\"\nrows = " + std::to_string(job.rows[i]) +
            "\nepsilon = " + std::to_string(job.epsilon) + "\n";
  return text + "[learner]\nname = \"registry\"\n";
}

SimulateInput input_of(const Job& job) {
  auto charter = charter::parse_charter(text_of(job), "test.charter.toml", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  SimulateInput input;
  input.charter = *charter;
  SeededRandom random(7, 0);
  input.pilot = rows_of(300, 0, job.bias, random);
  for (size_t count : job.rows)
    input.owners.push_back(
        {.rows = std::shared_ptr<const data::Rows>(rows_of(count, job.spread, job.bias, random)),
         .source = "drawn"});
  return as_trained(input);
}

JobRun run_of(const SimulateInput& input, uint64_t seed, const Faults& faults = {}) {
  const SimulateOptions options{.seed = seed};
  const auto run = run_job({input, options, 0, faults});
  EXPECT_TRUE(run) << (run ? "" : describe(run.error()));
  return run ? *run : JobRun{};
}

/// The mean of v_i r_i in plain doubles, and without noise: of the coordinates from `first` on, up
/// to `end`.
double mean_norm(const SimulateInput& input, const std::vector<double>& theta, size_t without = 99,
                 size_t first = 0, size_t end = 99) {
  const charter::Charter& charter = input.charter;
  const auto metric = *plan::distance_metric(charter, input.pilot.get());
  const auto weights = plan::distance_weights(charter);
  double sum = 0, total = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (i == without) continue;
    const auto there = std::get<0>(metric->rows(input.owners[i].rows));
    const auto mean =
        learn::mean_gradient(charter::loss_of(charter.model), *there, metric->point(theta),
                             learn::ClipIn::kL2, charter.privacy.max_grad_norm);
    double square = 0;
    for (size_t j = first; j < std::min(end, mean.size()); ++j) square += mean[j] * mean[j];
    sum += weights[i] * std::sqrt(square), total += weights[i];
  }
  return sum / total;
}

TEST(Distance, IsTheMeanLengthOfTheOwnersGradients) {
  const SimulateInput input = input_of({.epsilon = 10'000});
  const JobRun run = run_of(input, 1);
  ASSERT_TRUE(run.trained.distance);
  const learn::Distance& distance = *run.trained.distance;
  const double plain = mean_norm(input, run.trained.theta);
  EXPECT_NEAR(distance.norm, plain, 6 * distance.norm_error);
  EXPECT_LT(50 * distance.norm_error, plain) << "shows nothing";
  EXPECT_EQ(distance.rows, (std::vector<uint64_t>{120, 400, 250, 50, 180}));
  EXPECT_EQ(distance.pilot, std::string(64, 'a'));
  // What is left beside it is the pilot's optimum, which costs nothing.
  learn::Fitness pilot(learn::Squared{}, kColumns, 1e-3);
  pilot.add(*input.pilot);
  EXPECT_EQ(run.trained.theta, pilot.minimum(2).theta);
}

TEST(Distance, InterceptsAreMeasuredApart) {
  const SimulateInput input = input_of({.epsilon = 10'000, .bias = true});
  const JobRun run = run_of(input, 1);
  ASSERT_TRUE(run.trained.distance && run.trained.distance->intercept);
  const learn::Distance& distance = *run.trained.distance;
  const double slopes = mean_norm(input, run.trained.theta, 99, 1);
  const double intercept = mean_norm(input, run.trained.theta, 99, 0, 1);
  EXPECT_NEAR(distance.norm, slopes, 6 * distance.norm_error);
  EXPECT_NEAR(*distance.intercept, intercept, 6 * distance.norm_error);
  EXPECT_GT(std::abs(slopes - intercept), 20 * distance.norm_error) << "shows nothing";
  const learn::Model model = protocol::trained_model(input.charter, run.trained, {});
  EXPECT_EQ(learn::model_from_json(to_json(model), "model.json")->distance, distance);
  EXPECT_FALSE(run_of(input_of({}), 1).trained.distance->intercept) << "no intercept";
}

TEST(Distance, NoiseIsTheOneThatIsStatedBefore) {
  const SimulateInput input = input_of({});
  const auto stated = plan::distance_noise(input.charter);
  ASSERT_TRUE(stated) << describe(stated.error());
  EXPECT_NEAR(*stated, run_of(input, 1).trained.distance->norm_error, 1e-15);
  // s = 2 cw sqrt(k) / (mu V): v = 120 180 180 50 180, k = 5 / (4 - 1), mu = sqrt(2 rho).
  const double rho = privacy::Budget::make(privacy::Epsilon{1.0}, 1e-6, 0)->rho_max;
  EXPECT_NEAR(*stated, 2 * 2.0 * std::sqrt(5 / 3.) / (std::sqrt(2 * rho) * 710), 1e-6);
  EXPECT_NE(plan::explain(input.charter).find("noise of deviation"), std::string::npos);
  double squares = 0;
  constexpr int kRuns = 100;
  const double exact = mean_norm(input, run_of(input, 1).trained.theta);
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    const double off = run_of(input, 100 + seed).trained.distance->norm - exact;
    squares += off * off / kRuns;
  }
  // The mean of 100 squares is off by 4 of its standard errors in 6e-5 of seeds.
  EXPECT_NEAR(squares / (*stated * *stated), 1, 4 * std::sqrt(2. / kRuns));
}

TEST(Distance, WithoutAnOwnerItIsThatOfTheOthers) {
  const SimulateInput input =
      input_of({.epsilon = 10'000, .secure = "survivors = 4\nthreshold = 3\n"});
  const JobRun run = run_of(input, 1, {.down = {1}});
  ASSERT_TRUE(run.trained.distance);
  const learn::Distance& distance = *run.trained.distance;
  EXPECT_NEAR(distance.norm, mean_norm(input, run.trained.theta, 1), 6 * distance.norm_error);
  EXPECT_EQ(distance.rows, (std::vector<uint64_t>{120, 250, 50, 180}));
  EXPECT_EQ(distance.weights.size(), 4u);
}

TEST(Distance, IsPaidOnceBeforeItLeavesAndTheFileTellsIt) {
  const auto out = test::fresh_folder();
  const SimulateInput input = input_of({});
  const auto result = simulate(input, {.seed = 2, .out = out});
  ASSERT_TRUE(result) << describe(result.error());
  ASSERT_EQ(result->quality.distances.size(), 1u);
  EXPECT_TRUE(result->figures.empty());
  const auto plan = plan::secagg_plan(input.charter);
  for (size_t i = 0; i < result->owners.size(); ++i) {
    EXPECT_LE(result->owners[i].epsilon_spent, 1);
    const auto ledger = ledger::read(ledger_file(out, result->owners[i].name));
    ASSERT_TRUE(ledger) << describe(ledger.error());
    EXPECT_EQ(ledger->rows.size(), 2u);  // The budget, and one payment.
    EXPECT_EQ(ledger->rows.back().event, plan->owners[i].event());
  }
  // One of 400 rows counts for 180, so that a record of it moves the number by less.
  EXPECT_GT(result->owners[0].epsilon_spent, .99);
  EXPECT_LT(result->owners[1].epsilon_spent, .5);
  EXPECT_EQ(learn::read_model(out / "model.json")->distance, result->quality.distances[0]);
}

/// A networked job's evidence: what the journal has is enough to compute the number again, and a
/// learner that tells another one is found out.
TEST(Distance, IsVerifiedFromItsTranscript) {
  const SimulateInput input = input_of({.secure = "survivors = 4\nthreshold = 3\nrepeats = 3\n"});
  const JobRun run = run_of(input, 5, {.drop = .02, .crash = .02});
  ASSERT_TRUE(run.trained.distance);
  const wire::Transcript transcript{.charter = input.charter.hash,
                                    .started = "2026-11-15T08:00:00Z",
                                    .entries = run.journal,
                                    .notes = run.notes};
  learn::Model model =
      protocol::trained_model(input.charter, run.trained, {.started = transcript.started});
  const auto verified = [&] {
    const auto result =
        protocol::verify({input.charter, input.pilot.get(), model, transcript, {}, {}, {}});
    EXPECT_TRUE(result) << (result ? "" : describe(result.error()));
    return *result;
  };
  const auto right = verified();
  for (const auto& finding : right.findings) ADD_FAILURE() << finding.owner << finding.what;
  EXPECT_EQ(right.distance, run.trained.distance);
  model.distance->norm *= 1.001;
  ASSERT_EQ(verified().findings.size(), 1u);
  EXPECT_NE(verified().findings[0].what.find("distance.norm"), std::string::npos);
}

TEST(Distance, WhatCannotBeRunIsRefusedByName) {
  const auto refused = [](const std::string& text) {
    const auto charter = charter::parse_charter(text, "test.charter.toml", ".");
    EXPECT_FALSE(charter);
    return charter ? "" : charter.error().where.key;
  };
  EXPECT_EQ(refused(text_of({.privacy = "evaluate = 0.1\n"})), "privacy.evaluate");
  EXPECT_EQ(refused(text_of({.privacy = "mechanism = \"laplace\"\n"})), "privacy.mechanism");
  EXPECT_EQ(refused(text_of({.protocol = "rounds = 2\n"})), "protocol.rounds");
  std::string text = text_of({});
  text.replace(text.find("squared"), 7, "hinge");
  EXPECT_EQ(refused(text), "protocol.rule");
  text = text_of({});
  const size_t begin = text.find("[pilot]");
  text.erase(begin, text.find("[target]") - begin);
  EXPECT_EQ(refused(text), "protocol.rule");
}

/// An owner that has not got the public rows says so before it opens its gate.
TEST(Distance, NeedsThePublicRowsAtTheOwner) {
  SimulateInput input = input_of({});
  input.pilot = nullptr;
  const auto run = run_job({input, {.seed = 1}, 0, {}});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().where.key, "pilot");
}

}  // namespace distance_test
}  // namespace parley::sim
