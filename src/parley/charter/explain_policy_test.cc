#include "parley/charter/explain_policy.h"

#include <gtest/gtest.h>

namespace parley::charter {
namespace explain_policy_test {

constexpr std::string_view kPolicy = R"([owner]
name = "bank-a"
state = "state"
charters = "charters"
[[dataset]]
name = "loans"
source = "csv"
path = "/srv/loans.csv"
where = { column = "status", not_in = ["draft", "test"] }
[dataset.budget]
epsilon = 4.0
delta = 1e-6
pure = 1.0
[dataset.unit]
column = "member_id"
records = 3
[[dataset]]
name = "fraud"
source = "postgres"
dsn = "service=parley"
query = "select * from fraud"
[dataset.budget]
epsilon = 2.0
[[accept]]
consortium = "banks.example"
learner = "central-bank"
protocol = ["sync", "async"]
dataset = "loans"
epsilon_max = 0.5
person = false
[[accept]]
consortium = "insurers.example"
dataset = "fraud"
epsilon_max = 2.0
[network]
dial = "parley.banks.example:7443"
)";

constexpr std::string_view kCharter = R"(
[charter]
version = 1
name = "rates"
consortium = "banks.example"
[target]
column = "rate"
bounds = [5, 29]
[[column]]
name = "amount"
kind = "number"
bounds = [0, 1]
missing = 0
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
[[owner]]
name = "bank-a"
rows = 1000
epsilon = 0.5
[[owner]]
name = "bank-b"
rows = 1000
epsilon = 1
[learner]
name = "central-bank"
)";

Policy some_policy(std::string_view toml = kPolicy) { return *parse_policy(toml, "p.toml"); }

void expect_sentence(const std::string& text, const std::string& sentence) {
  EXPECT_NE(text.find(sentence), std::string::npos) << sentence << "\nnot in\n" << text;
}

TEST(ExplainPolicy, SaysWhatWillBeAnsweredToWhomAndForHowMuch) {
  const std::string text = explain(some_policy(), {});
  expect_sentence(text, "Policy of bank-a; dials parley.banks.example:7443.\n");
  expect_sentence(text,
                  "  1. charters of banks.example with the learner central-bank, protocol "
                  "sync or async: answered from loans, each up to epsilon 0.5, without "
                  "asking anyone.\n");
  expect_sentence(text,
                  "  2. charters of insurers.example: answered from fraud, each up to "
                  "epsilon 2, once a person has approved.\n");
  expect_sentence(text, "Everything else is refused.\n");
}

TEST(ExplainPolicy, SaysWhatIsLeftOnEveryTrack) {
  const std::string text = explain(some_policy(), {{"loans", {.pure = 0.25, .rho = 0.01}}});
  expect_sentence(text,
                  "Data set loans (/srv/loans.csv): in its lifetime epsilon 4, delta 1e-06. "
                  "Without delta: epsilon 0.25 of 1 spent, 0.75 left. With delta: rho 0.01 "
                  "of ");
  expect_sentence(text,
                  "At most 3 records of one \"member_id\". Only rows whose \"status\" is not "
                  "in a list of 2 values.\n");
  expect_sentence(text,
                  "Data set fraud (postgres, service=parley): in its lifetime epsilon 2. "
                  "Without delta: epsilon 0 of 2 spent, 2 left.\n");
}

TEST(ExplainPolicy, APolicyWithoutRulesRefusesEverything) {
  std::string text(kPolicy);
  text.erase(text.find("[[accept]]"), text.find("[network]") - text.find("[[accept]]"));
  const Policy policy = some_policy(text);
  expect_sentence(explain(policy, {}), "every charter is refused");
  EXPECT_EQ(why_refused(policy, *parse_charter(kCharter, "c.toml", "")), "the policy has no rules");
}

TEST(ExplainPolicy, ARefusalSaysWhatEveryRuleDidNotLike) {
  const auto why = [](const std::vector<Override>& changes) {
    return why_refused(some_policy(), *parse_charter(kCharter, "c.toml", "", changes));
  };
  EXPECT_EQ(why({}), "");
  EXPECT_EQ(why({{"owner.0.epsilon", "0.75"}}),
            "rule 1 allows epsilon 0.5, the charter asks 0.75; rule 2 is for insurers.example, not "
            "banks.example");
  EXPECT_EQ(why({{"charter.consortium", "insurers.example"}, {"owner.0.epsilon", "3"}}),
            "rule 1 is for banks.example, not insurers.example; rule 2 allows epsilon 2, the "
            "charter asks 3");
  expect_sentence(why({{"learner.name", "other"}}),
                  "rule 1 is for the learner central-bank, not other");
  expect_sentence(why({{"owner.0.name", "bank-z"}}), "it does not name bank-a");
  expect_sentence(why({{"privacy.calibration", "paper"}}), "its calibration is \"paper\"");
  std::string draft(kCharter);
  draft.erase(draft.find("rounds = 10\n"), 12);
  expect_sentence(why_refused(some_policy(), *parse_charter(draft, "c.toml", "")),
                  "it is a draft: protocol.rounds is undecided");
}

TEST(ExplainPolicy, AProspectSaysWhatLeavesAndWhatThatLeaves) {
  Preflight preflight{.name = "rates",
                      .learner = "central-bank",
                      .address = "host:7443",
                      .rule = 1,
                      .dataset = "loans",
                      .rows = 1000,
                      .rows_counted = true,
                      .answers = 10,
                      .answered = 4,
                      .numbers = 1,
                      .price = 0.5,
                      .left = 0.9,
                      .left_after = 0.6};
  std::string text = explain(preflight);
  expect_sentence(text, "Charter rates (000000000000) would run.\n");
  expect_sentence(text, "Data set loans has the 1,000 rows it names.\n");
  expect_sentence(text,
                  "To central-bank at host:7443 go 10 answers of 1 noisy number each, of "
                  "which the ledger has 4 already. No record leaves.\n");
  expect_sentence(text, "epsilon 0.5 in all; of data set loans 0.9 is left now, 0.6 afterwards.\n");
  preflight.person = true;
  preflight.obstacles.push_back({Code::kPolicy, "it waits", "Approve it."});
  text = explain(preflight);
  expect_sentence(text, "would NOT run.\n  Because: it waits. Approve it.\n");
  expect_sentence(text, "once a person has approved, which nobody has yet.\n");
}

}  // namespace explain_policy_test
}  // namespace parley::charter
