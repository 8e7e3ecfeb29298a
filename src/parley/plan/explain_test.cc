#include "parley/plan/explain.h"

#include <gtest/gtest.h>

namespace parley::plan {
namespace explain_test {

using namespace charter;

constexpr std::string_view kCharter = R"(
[charter]
version = 1
name = "rates"
consortium = "banks.example"
purpose = "Interest rates"
[target]
column = "rate"
bounds = [5, 29]
[[column]]
name = "amount"
kind = "number"
bounds = [500, 35000]
missing = 12700
[model]
loss = "squared"
box = 1
[protocol]
name = "sync"
rule = "constant"
rounds = 10
step = 0.1
[privacy]
max_grad_norm = 2
evaluate = 0.5
[[owner]]
name = "bank-a"
rows = 1000
epsilon = 2
[[owner]]
name = "bank-b"
rows = 200000
epsilon = 0.5
[learner]
name = "central-bank"
)";

std::string explained(const std::vector<Override>& changes = {}) {
  const auto charter = parse_charter(kCharter, "t.toml", "", changes);
  return charter ? explain(*charter) : describe(charter.error());
}

void expect_sentence(const std::string& text, const std::string& sentence) {
  EXPECT_NE(text.find(sentence), std::string::npos) << sentence << "\nnot in\n" << text;
}

TEST(Explain, SaysWhoTrainsWhatAndWhatLeaves) {
  const std::string text = explained();
  expect_sentence(text, "Charter rates, run 1, of banks.example. Purpose: Interest rates.");
  expect_sentence(text, "2 owners with 201,000 records in all: bank-a, bank-b.");
  expect_sentence(text, "central-bank coordinates and has no private input.");
  expect_sentence(text, "a linear model of \"rate\" from 1 column (1 feature), squared loss");
  expect_sentence(text, "every coefficient between -1 and 1.");
  expect_sentence(text, "a noisy gradient sum, 10 in all, each record's part clipped to L1 norm 2");
  expect_sentence(text, "paid with 50 % of epsilon");
  expect_sentence(text, "the number of records of each owner, and the trained model.");
  expect_sentence(text, "Complete: nothing is left");
  const auto charter = parse_charter(kCharter, "t.toml", "");
  expect_sentence(text, "SHA-256: " + to_hex(charter->hash));
}

TEST(Explain, SaysWhenARoundIsClosed) {
  expect_sentence(explained(), "An answer is due within 60 seconds.");
  expect_sentence(
      explained({{"network.quorum", "1"}}),
      "within 60 seconds; after that a round is closed with the answers of at least 1 of 2 "
      "owners.");
}

TEST(Explain, PutsANumberOnTheNoiseOfEveryOwner) {
  // 2 Xi T / (n epsilon) = 2 * 2 * 10 / (1000 * 1), half of epsilon being kept for the evaluation.
  expect_sentence(explained(),
                  "bank-a, 1,000 records: epsilon 2, delta 0; each answer's mean "
                  "gradient carries Laplace noise of scale 0.04.");
  // 2 Xi T m kappa / (n epsilon).
  expect_sentence(explained({{"privacy.unit_records", "3"}, {"privacy.overlap", "2"}}),
                  "Laplace noise of scale 0.24.");
  // (2 C / n) sqrt(T / (2 rho)), rho = 0.024356 at epsilon = 1, delta = 1e-6 (theory
  // (N5)).
  expect_sentence(explained({{"privacy.mechanism", "gaussian"}, {"privacy.delta", "1e-6"}}),
                  "gaussian noise of deviation 0.0573.");
}

TEST(Explain, SaysWhomThePromiseCovers) {
  expect_sentence(explained(), "replacing one record changes");
  expect_sentence(explained({{"privacy.unit_records", "3"}}), "replacing any 3 records changes");
  expect_sentence(explained({{"privacy.unit", "member"}, {"privacy.unit_records", "3"}}),
                  "all records of one \"member\" (at most 3 records used)");
  expect_sentence(explained({{"privacy.overlap", "2"}}), "One unit may sit in 2 data sets");
}

TEST(Explain, MarksWhatIsNotPrivateAndWhatIsNotComplete) {
  EXPECT_EQ(explained().find("NOT PRIVATE"), std::string::npos);
  expect_sentence(explained({{"privacy.calibration", "paper"}}), "NOT PRIVATE");
  std::string draft(kCharter);
  draft.erase(draft.find("rounds = 10\n"), 12);
  const auto charter = parse_charter(draft, "t.toml", "");
  ASSERT_TRUE(charter);
  expect_sentence(explain(*charter), "Draft: protocol.rounds, protocol.momentum, protocol.average");
  expect_sentence(explain(*charter), "rounds (undecided)");
}

}  // namespace explain_test
}  // namespace parley::plan
