#include "parley/sim/output_perturbation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/entropy.h"

namespace parley::sim {
namespace output_perturbation_test {

using test::uniform;

/// One owner with `rows` random records, the first of which may be another.
SimulateInput one_owner(size_t rows, double epsilon, const std::string& model, bool changed = false,
                        const std::string& privacy = "") {
  const std::string text =
      "[charter]\nversion = 1\nname = \"one\"\nconsortium = \"banks.example\"\n"
      "[target]\ncolumn = \"y\"\nlevels = [\"no\", \"yes\"]\n"
      "[[column]]\nname = \"a\"\nkind = \"number\"\nbounds = [-4, 4]\nmissing = 0\n"
      "[[column]]\nname = \"b\"\nkind = \"number\"\nbounds = [-4, 4]\nmissing = 0\n"
      "[model]\nbox = 3\n" +
      model +
      "[protocol]\nname = \"sync\"\nrule = \"algorithm2\"\nrounds = 3\nstep = 1\n"
      "[privacy]\nmax_grad_norm = 1\nevaluate = 0\n" +
      privacy + "[[owner]]\nname = \"north\"\nrows = " + std::to_string(rows) +
      "\nepsilon = " + std::to_string(epsilon) + "\n[learner]\nname = \"learner\"\n";
  auto made = std::make_shared<data::Rows>(2);
  test::SeededEntropy entropy(5, "rows");
  for (size_t i = 0; i < rows; ++i) {
    const std::array z = {4 * uniform(entropy) - 2, 4 * uniform(entropy) - 2};
    const bool other = changed && i == 0;
    made->add(other ? std::array{3.0, -3.0} : z, z[0] > z[1] ? 1 : -1);
  }
  return {.charter = *charter::parse_charter(text, "one.toml", ""),
          .owners = {{made, "north.csv"}},
          .pilot = nullptr,
          .policies = {}};
}

const char kLogistic[] = "loss = \"logistic\"\nl2 = 0.2\n";

TEST(OutputPerturbation, ReplacingARecordMovesTheModelByAtMostItsSensitivity) {
  for (const char* model :
       {kLogistic, "loss = \"squared\"\nl2 = 0.2\n", "loss = \"huber\"\nl2 = 0.1\n"}) {
    const auto before = *OutputPerturbation::make(one_owner(50, 1e4, model));
    const auto after = *OutputPerturbation::make(one_owner(50, 1e4, model, true));
    const auto a = before.run(1, 0), b = after.run(1, 0);
    const double moved = std::hypot(a[0] - b[0], a[1] - b[1]);
    EXPECT_GT(moved, 0) << model;
    EXPECT_LE(moved, before.sensitivity(0) * (1 + 1e-6)) << model;
    const double l2 = std::string(model).find("0.1") == std::string::npos ? .2 : .1;
    EXPECT_NEAR(before.sensitivity(0), 2 * 1 / (50 * l2), .01 * before.sensitivity(0))
        << "the solver's gap adds next to nothing";
  }
}

// Gamma(2) has mean 2: over 4000 runs the mean length has a standard error of 1.1 %; six of them.
TEST(OutputPerturbation, PureNoiseHasTheLengthThatEpsilonAsksFor) {
  const auto noisy = *OutputPerturbation::make(one_owner(4000, 1, kLogistic));
  const auto exact = OutputPerturbation::make(one_owner(4000, 1e4, kLogistic))->run(1, 0);
  double mean = 0;
  for (uint64_t run = 0; run < 4000; ++run) {
    const auto theta = noisy.run(1, run);
    mean += std::hypot(theta[0] - exact[0], theta[1] - exact[1]) / 4000;
  }
  EXPECT_NEAR(mean, 2 * noisy.sensitivity(0), 2 * noisy.sensitivity(0) * .067);
}

TEST(OutputPerturbation, RefusesWhatItsProofDoesNotCover) {
  const auto key_of = [](const std::string& model) {
    return OutputPerturbation::make(one_owner(50, 1, model)).error().where.key;
  };
  EXPECT_EQ(key_of("loss = \"logistic\"\nl2 = 0\n"), "model.l2");
  EXPECT_EQ(key_of("loss = \"hinge\"\nl2 = 1\n"), "model.loss");
}

}  // namespace output_perturbation_test
}  // namespace parley::sim
