// The paper's owner that learns with its own exact gradient (section V), and what its peers make of
// the questions they are asked (theory (R10)).
#include <gtest/gtest.h>

#include <cmath>

#include "parley/learn/fitness.h"
#include "studies/paper/literal.h"
#include "studies/paper/sync.h"
#include "support/owner_charters.h"

namespace parley::paper {
namespace owner_learner_test {

using sim::SimulateInput, test::OwnerCharter;

/// Algorithm 1, T = 6: the learner is bank-a.
SimulateInput input_of(size_t owners, const std::string& how) {
  OwnerCharter charter;
  charter.owners = owners;
  charter.protocol = "rule = \"algorithm1\"\nrounds = 6\nstep = 5.0\n" + how;
  charter.privacy = "max_grad_norm = 8.0\nevaluate = 0.0\ncalibration = \"paper\"\n";
  charter.model = "loss = \"squared\"\nl2 = 0.05\nbox = 1.0\n";
  if (how.empty()) charter.learner = "[learner]\nname = \"central-bank\"\n";
  return charter.input();
}

std::vector<Sync::Seen> watched(const SimulateInput& input) {
  const auto sync = Sync::make(input, 1);
  EXPECT_TRUE(sync) << (sync ? "" : describe(sync.error()));
  std::vector<Sync::Seen> seen;
  sync->run(
      7, 0, [](size_t, std::span<const double>) {},
      [&](const Sync::Seen& round) { seen.push_back(round); });
  return seen;
}

/// What owners 2 .. N know: two questions, the charter, and their own answers to the first. The
/// step is theta[k] - theta[k+1] = a_k (l2 theta[k] + sum of v_i answer_i).
std::vector<double> attack(const SimulateInput& input, const Sync::Seen& now,
                           const Sync::Seen& next, size_t k) {
  const double rounds = 6, step = 5 / (rounds * rounds * double(k));
  const double part = 1.0 / double(input.owners.size());
  std::vector<double> found;
  for (size_t j = 0; j < now.theta.size(); ++j) {
    double sum = (now.theta[j] - next.theta[j]) / step - .05 * now.theta[j];
    for (size_t i = 1; i < now.answers.size(); ++i) sum -= part * now.answers[i][j];
    found.push_back(sum / part);
  }
  return found;
}

/// The largest difference from bank-a's exact mean gradient, over all questions but the last.
double error_of_attack(const SimulateInput& input) {
  const auto seen = watched(input);
  learn::Fitness exact(learn::Squared{}, 10, 0, 1);
  exact.add(*std::get<std::shared_ptr<const data::Rows>>(input.owners[0].rows));
  double error = 0;
  for (size_t k = 1; k < seen.size(); ++k) {
    const auto found = attack(input, seen[k - 1], seen[k], k);
    const auto truth = exact.gradient(seen[k - 1].theta);
    for (size_t j = 0; j < 10; ++j) error = std::fmax(error, std::fabs(found[j] - truth[j]));
  }
  return error;
}

TEST(PaperOwnerLearner, ItsPeerReadsItsExactGradientFromTwoQuestions) {
  EXPECT_LT(error_of_attack(input_of(2, "owner_learner = \"exact\"\n")), 1e-12);
}

TEST(PaperOwnerLearner, SoDoAllPeersTogether) {
  EXPECT_LT(error_of_attack(input_of(4, "owner_learner = \"exact\"\n")), 1e-12);
}

// The control: with noise of its own, as every owner's, the same attack finds the noisy answer.
// b = 2 * 8 * 6 / (300 * 10) = 0.032; that all of 50 coordinates lie within b/100 of the truth has
// probability below 1e-90.
TEST(PaperOwnerLearner, WithNoiseOfItsOwnTheAttackFindsNoise) {
  EXPECT_GT(error_of_attack(input_of(2, "")), .032 / 100);
}

TEST(PaperOwnerLearner, ItIsMarkedNotPrivateAndHasNeitherLedgerNorModelFile) {
  const auto result =
      sim::simulate(input_of(3, "owner_learner = \"exact\"\n"), {.seed = 1}, &literal());
  ASSERT_TRUE(result) << describe(result.error());
  EXPECT_EQ(result->job.calibration, "paper");
  EXPECT_TRUE(result->model.empty());
  EXPECT_EQ(result->owners[0].noise_scale, 0);
  EXPECT_GT(result->owners[1].noise_scale, 0);
  const SimulateInput other = input_of(3, "owner_learner = \"own_noise\"\n");
  const auto refused = sim::simulate(other, {.seed = 1}, &literal());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().where.key, "protocol.owner_learner");
}

}  // namespace owner_learner_test
}  // namespace parley::paper
