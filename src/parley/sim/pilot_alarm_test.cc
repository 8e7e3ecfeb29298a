// Jobs whose pilot is unlike the owners (theory (W11)): what Newton steps with its curvature did,
// and what the test of the first paid answers does about it.
#include <gtest/gtest.h>

#include <cmath>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/fitness.h"
#include "parley/learn/objective.h"
#include "parley/plan/learner/pilot.h"
#include "parley/plan/learner/sync_plan.h"
#include "parley/protocol/make_learner.h"
#include "parley/protocol/trained_model.h"
#include "parley/protocol/verify/verify.h"
#include "parley/sim/engine/engine.h"
#include "parley/sim/outcome.h"
#include "parley/sim/simulate.h"

namespace parley::sim {
namespace pilot_alarm_test {

const char kAsk[] = "on_alarm = \"ask\"\n";
constexpr size_t kOwners = 3, kOwnerRows = 3000, kPilotRows = 300;

struct Job {
  double share = 0;  // of pilot rows with the level that a third of the owners' rows have
  bool sums = false;
  std::string protocol{};  // keys more
  double epsilon = 5;
  int rounds = 2;
  double evaluate = 0;
  int repeats = 1;
};

/// Two numbers, a level, a bias.
std::shared_ptr<data::Rows> rows_of(size_t count, double share, SeededRandom& random) {
  auto rows = std::make_shared<data::Rows>(4);
  for (size_t i = 0; i < count; ++i) {
    const double a = 2 * random.uniform() - 1, b = 2 * random.uniform() - 1;
    const double level = random.uniform() < share ? 1 : 0;
    const double y = .3 * a - .2 * b + .5 * level - .1 + .1 * random.normal();
    rows->add(std::vector<double>{a, b, level, 1}, std::clamp(y, -1.0, 1.0));
  }
  return rows;
}

SimulateInput input_of(const Job& job, uint64_t seed = 1) {
  std::string text =
      "[charter]\nversion = 1\nname = \"levels\"\nconsortium = \"banks.example\"\n"
      "[pilot]\nfile = \"pilot.csv\"\nsha256 = \"" +
      std::string(64, '0') + "\"\nrows = " + std::to_string(kPilotRows) +
      "\n[target]\ncolumn = \"y\"\nbounds = [-1.0, 1.0]\n";
  for (const char* name : {"a", "b", "level"})
    text += "[[column]]\nname = \"" + std::string(name) +
            "\"\nkind = \"number\"\nbounds = [-1.0, 1.0]\nmissing = 0.0\n";
  text +=
      "[model]\nloss = \"squared\"\nbox = 50.0\nl2 = 1e-3\nbias = true\n"
      "[protocol]\nname = \"sync\"\nrule = \"pilot_newton\"\nstep = 1.0\nrounds = " +
      std::to_string(job.rounds) + "\n" + job.protocol +
      "[privacy]\nmechanism = \"gaussian\"\ndelta = 1e-6\nmax_grad_norm = 2.0\nevaluate = " +
      std::to_string(job.evaluate) + "\n" +
      (job.sums ? "[secure_aggregation]\nrepeats = " + std::to_string(job.repeats) + "\n" : "");
  for (size_t i = 0; i < kOwners; ++i)
    text += "[[owner]]\nname = \"bank-" + std::to_string(i) +
            "\"\nrows = " + std::to_string(kOwnerRows) +
            "\nepsilon = " + std::to_string(job.epsilon) + "\n";
  auto charter = charter::parse_charter(text + "[learner]\nname = \"center\"\n", "test", ".");
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  SeededRandom random(seed, 1);
  SimulateInput input{.charter = *charter, .owners = {}, .pilot = {}, .policies = {}};
  for (size_t i = 0; i < kOwners; ++i)
    input.owners.push_back({rows_of(kOwnerRows, 1. / 3, random), "test"});
  input.pilot = rows_of(kPilotRows, job.share, random);
  return as_trained(input);
}

learn::Fitness pooled(const SimulateInput& input) {
  learn::Fitness fitness(learn::Squared{}, 4, input.charter.model.l2);
  for (const OwnerData& owner : input.owners) fitness.add(*std::get<0>(owner.rows));
  return fitness;
}

SimulateResult result_of(const SimulateInput& input, const SimulateOptions& options) {
  auto result = simulate(input, options);
  EXPECT_TRUE(result) << (result ? "" : describe(result.error()));
  return *std::move(result);
}

// The level is in no row of the pilot: its Hessian has l2 there and nothing else. One whole Newton
// step with that, even without any noise, ends far above the pilot's own model.
TEST(PilotAlarm, ThePilotsWholeHessianLeadsAstray) {
  const SimulateInput input = input_of({});
  const learn::Fitness owners = pooled(input);
  const auto start = plan::pilot_optimum(input.charter, *input.pilot);
  const auto inverse = learn::inverse(
      learn::clipped_hessian(learn::Squared{}, *input.pilot, start, learn::ClipIn::kL2, 2, 1e-3),
      4);
  ASSERT_TRUE(inverse);
  const auto gradient = owners.gradient(start);
  auto theta = start;
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) theta[i] -= (*inverse)[i * 4 + j] * gradient[j];
  EXPECT_GT(owners.at(theta), 100 * owners.at(start));
}

TEST(PilotAlarm, EndsTheJobBeforeASecondPayment) {
  for (const bool sums : {false, true})
    for (const std::string on_alarm : {kAsk, "on_alarm = \"stop\"\n"}) {
      const SimulateInput input =
          input_of({.sums = sums, .protocol = on_alarm, .rounds = 4, .evaluate = .1});
      const SimulateResult result = result_of(input, {.seed = 3});
      ASSERT_TRUE(result.quality.pilot);
      EXPECT_TRUE(result.quality.pilot->alarm && result.quality.stopped);
      EXPECT_GT(result.quality.pilot->statistic, 10 * result.quality.pilot->threshold);
      EXPECT_GT(result.quality.pilot->gap, 0);
      EXPECT_FALSE(result.quality.evaluation);
      EXPECT_EQ(result.quality.by_round.size(), 4u);
      for (const auto& owner : result.owners) {
        EXPECT_EQ(owner.answers, 1u);
        EXPECT_LT(owner.epsilon_spent, .7 * owner.epsilon);
        EXPECT_NEAR(owner.joint, *owner.pilot_only, 1e-9);  // The pilot's model is kept.
      }
    }
}

TEST(PilotAlarm, ToldToGoOnTrainingIsSafe) {
  for (const bool sums : {false, true})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const std::string on_alarm = seed % 2 ? kAsk : "";  // Told, or by default.
      const SimulateInput input =
          input_of({.sums = sums, .protocol = on_alarm, .rounds = 3, .evaluate = .1}, seed);
      const SimulateResult result = result_of(input, {.seed = seed, .continue_after_alarm = true});
      EXPECT_TRUE(result.quality.pilot->alarm && !result.quality.stopped);
      EXPECT_TRUE(result.quality.evaluation);
      for (const auto& owner : result.owners) {
        EXPECT_EQ(owner.answers, 3u);
        EXPECT_LT(owner.joint, *owner.pilot_only);
      }
    }
}

// A pilot of the owners' own kind: what 1,000 of them do is in learn/pilot/wrong_pilot_test.cc.
// Nominally one in 1,000 has an alarm; four of 60 or more with probability 5e-7.
TEST(PilotAlarm, LikePilotsTrainToTheEnd) {
  int alarms = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed)
    for (const bool sums : {false, true}) {
      const SimulateInput input = input_of({.share = 1. / 3, .sums = sums, .epsilon = 1}, seed);
      const SimulateResult result = result_of(input, {.seed = seed});
      ASSERT_TRUE(result.quality.pilot);
      alarms += result.quality.pilot->alarm;
    }
  EXPECT_LE(alarms, 3);
}

/// The job as a learner's journal holds it.
struct Played {
  JobRun run{};
  wire::Transcript transcript{};
  learn::Model model{};
};
Played played(const SimulateInput& input, bool go_on, const Faults& faults = {}) {
  const SimulateOptions options{.seed = 4, .continue_after_alarm = go_on};
  auto run = run_job({.input = input, .options = options, .faults = faults});
  EXPECT_TRUE(run) << (run ? "" : describe(run.error()));
  Played all{.run = *std::move(run), .transcript = {}, .model = {}};
  all.transcript = {.charter = input.charter.hash,
                    .started = "2026-11-16T08:00:00Z",
                    .entries = all.run.journal,
                    .notes = all.run.notes};
  all.model =
      protocol::trained_model(input.charter, all.run.trained, {.started = all.transcript.started});
  return all;
}

VerifyResult verified(const SimulateInput& input, const Played& all) {
  auto found = protocol::verify({input.charter, input.pilot.get(), all.model, all.transcript});
  EXPECT_TRUE(found) << (found ? "" : describe(found.error()));
  return *std::move(found);
}

TEST(PilotAlarm, VerifyFindsTheSameAlarmAndModel) {
  for (const bool go_on : {false, true}) {
    const SimulateInput input = input_of({.sums = true, .protocol = kAsk, .rounds = 3});
    const Played all = played(input, go_on);
    EXPECT_EQ(all.run.trained.stopped, !go_on);
    const VerifyResult result = verified(input, all);
    EXPECT_TRUE(result.holds()) << result.findings[0].what;
    EXPECT_TRUE(result.recomputed);
    EXPECT_EQ(result.rounds, go_on ? 3u : 1u);
    ASSERT_TRUE(result.pilot_check);
    EXPECT_TRUE(result.pilot_check->alarm);
  }
}

// Without the note of what a person said, answers after the first do not follow; and nobody can say
// that the job was stopped where no alarm was.
TEST(PilotAlarm, VerifyRefusesWhatNobodySaid) {
  const SimulateInput input = input_of({.sums = true, .protocol = kAsk, .rounds = 3});
  Played all = played(input, true);
  std::erase_if(all.transcript.notes,
                [](const wire::Note& note) { return note.kind == wire::Note::Kind::kAlarm; });
  EXPECT_FALSE(verified(input, all).holds());
  const SimulateInput like = input_of({.share = 1. / 3, .sums = true, .rounds = 3});
  Played quiet = played(like, false);
  EXPECT_FALSE(quiet.run.trained.stopped);
  EXPECT_TRUE(verified(like, quiet).holds());
  quiet.transcript.notes.push_back(
      {.kind = wire::Note::Kind::kAlarm, .round = 0, .answers = quiet.transcript.entries.size()});
  EXPECT_FALSE(verified(like, quiet).holds());
}

// The learner dies and resumes, before and after the decision.
TEST(PilotAlarm, ReplaysFromItsJournal) {
  for (const bool sums : {false, true}) {
    const SimulateInput input =
        input_of({.sums = sums, .protocol = kAsk, .rounds = 4, .repeats = 40});
    const JobRun calm = played(input, true).run;
    const JobRun run = played(input, true, {.learner = .2, .delay = .1}).run;
    EXPECT_GT(run.resumed, 0u);
    if (!sums) {  // Shares are paid anew.
      EXPECT_EQ(run.trained.theta, calm.trained.theta);
    }
    ASSERT_TRUE(run.trained.pilot);
    EXPECT_TRUE(run.trained.pilot->alarm && !run.trained.stopped);
  }
}

}  // namespace pilot_alarm_test
}  // namespace parley::sim
