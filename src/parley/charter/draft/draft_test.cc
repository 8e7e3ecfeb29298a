#include "parley/charter/draft/draft.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parley/base/files.h"
#include "parley/base/math/seeded_random.h"
#include "parley/charter/charter.h"
#include "parley/charter/draft/guess.h"
#include "parley/charter/policy.h"
#include "support/ledgers.h"

namespace parley::charter {
namespace draft_test {

/// Loans with an id, a url, a constant and a home with a rare level.
std::string loans(uint64_t seed, int rows) {
  SeededRandom random(seed, 0);
  std::string text = "id,url,rate,amount,income,home,country,default,note\n";
  for (int i = 0; i < rows; ++i) {
    const double wealth = random.normal();
    const int home = random.index(200);
    text += std::to_string(int(seed) * 100000 + i) + ",\"https://x/" + std::to_string(i) + "\"," +
            std::to_string(12 + 3 * random.normal()) + "%," + std::to_string(random.index(35000)) +
            "," + std::to_string(60000 * std::exp(wealth)) + "," +
            (home == 0    ? "CAVE"
             : home < 100 ? "RENT"
                          : "OWN \\ \"x\"") +
            ",NL," + (random.index(5) == 0 ? "1" : "0") + "," + (i % 10 == 0 ? "" : "3") + "\n";
  }
  return text;
}

struct DraftTest : testing::Test {
  const std::filesystem::path folder = test::fresh_folder();

  DraftInput input(const std::string& target, bool pilot = true, int owners = 2) {
    EXPECT_TRUE(write_file(folder / "pilot.csv", loans(1, 2000)));
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < owners; ++i) {
      files.push_back(folder / ("Bank_" + std::to_string(i) + ".csv"));
      EXPECT_TRUE(write_file(files.back(), loans(2 + i, 50 + i)));
    }
    DraftInput input{.target = target};
    if (pilot) input.pilot = *draft_pilot(folder / "pilot.csv");
    input.owners = *draft_owners(files);
    return input;
  }
};

std::string reason_for(const Draft& draft, const std::string& column) {
  for (const auto& [name, reason] : draft.left_out)
    if (name == column) return reason;
  return "kept";
}

TEST_F(DraftTest, IsADraftThatTheCharterReaderTakes) {
  for (const char* target : {"rate", "default"}) {
    const auto draft = draft_charter(input(target));
    ASSERT_TRUE(draft) << describe(draft.error());
    const auto charter = parse_charter(draft->charter, "draft", folder);
    ASSERT_TRUE(charter) << describe(charter.error()) << draft->charter;
    EXPECT_FALSE(charter->complete());
    EXPECT_EQ(charter->owners.size(), 2u);
    EXPECT_EQ(charter->owners[1].name, "bank-1");
    EXPECT_EQ(charter->owners[1].rows, 51);
    EXPECT_EQ(charter->pilot->rows, 2000);
    EXPECT_EQ(charter->pilot->sha256, *hash_file(folder / "pilot.csv"));
    EXPECT_EQ(charter->schema.target.levels.size(), std::string(target) == "rate" ? 0u : 2u);
    EXPECT_GT(draft->confirm, 5u);
  }
}

/// Columns of the same records: decided but for bounds, each column with the one that holds it.
TEST_F(DraftTest, OfColumnsInSeveralPlacesIsComplete) {
  EXPECT_TRUE(write_file(folder / "bank.csv", "person,rate,amount,both\n1,3,4,5\n2,4,5,6\n"));
  EXPECT_TRUE(write_file(folder / "bureau.csv", "income,person,both\n1,1,2\n2,2,3\n3,3,3\n"));
  const std::filesystem::path files[] = {folder / "bank.csv", folder / "bureau.csv"};
  DraftInput input{.target = "rate", .id = "person", .owners = *draft_owners(files), .delta = 1e-6};
  const auto draft = draft_charter(input);
  ASSERT_TRUE(draft) << describe(draft.error());
  const auto charter = parse_charter(draft->charter, "draft", folder);
  ASSERT_TRUE(charter) << describe(charter.error()) << draft->charter;
  EXPECT_TRUE(charter->complete());
  EXPECT_TRUE(charter->columns_apart());
  EXPECT_EQ(charter->records->count, 2);
  EXPECT_EQ(draft->kept, (std::vector<std::string>{"amount", "income"}));
  EXPECT_EQ(reason_for(*draft, "both"), "in bank.csv and bureau.csv");
  EXPECT_NE(draft->charter.find("\"intersect\""), std::string::npos) << "files differ in rows";
  EXPECT_NE(draft_policy(input.owners[0], true).find("[\"sharing\"]"), std::string::npos);
  EXPECT_TRUE(write_file(folder / "tax.csv", "person,debt\n1,8\n2,9\n"));
  const std::filesystem::path three[] = {files[0], files[1], folder / "tax.csv"};
  const auto of_three = draft_charter(
      {.target = "rate", .id = "person", .owners = *draft_owners(three), .delta = 1e-6});
  ASSERT_TRUE(of_three) << describe(of_three.error());
  const auto whole = parse_charter(of_three->charter, "draft", folder);
  ASSERT_TRUE(whole) << describe(whole.error()) << of_three->charter;
  EXPECT_TRUE(whole->protocol.without_dealer());
  input.id = "income";
  EXPECT_FALSE(draft_charter(input)) << "not in every file";
  input.id = "person", input.target = "both";
  EXPECT_FALSE(draft_charter(input)) << "two owners hold it";
}

TEST_F(DraftTest, GuessesFromThePilot) {
  const auto draft = draft_charter(input("rate"));
  ASSERT_TRUE(draft);
  EXPECT_EQ(reason_for(*draft, "id"), "unique values");
  EXPECT_EQ(reason_for(*draft, "url"), "unique values");
  EXPECT_EQ(reason_for(*draft, "country"), "constant");
  EXPECT_EQ(reason_for(*draft, "note"), "constant");
  EXPECT_EQ(draft->kept, (std::vector<std::string>{"amount", "income", "home", "default"}));
  const auto schema = parse_charter(draft->charter, "draft", folder)->schema;
  EXPECT_FALSE(schema.columns[0].log);
  EXPECT_TRUE(schema.columns[1].log) << "money has a long tail";
  EXPECT_EQ(schema.columns[2].levels.size(), 2u) << "a rare level goes to `other`";
  EXPECT_TRUE(schema.columns[2].other);
  const double largest =
      std::max(schema.target.high - schema.target.center, schema.target.center - schema.target.low);
  EXPECT_LE(largest / schema.target.scale, 1);
  EXPECT_GT(largest / schema.target.scale, .98);
}

// The draft may depend on private files through their header and their number of rows only.
TEST_F(DraftTest, PrivateRowsDoNotShowInTheDraft) {
  for (bool pilot : {true, false}) {
    const auto before = draft_charter(input("rate", pilot));
    DraftInput other = input("rate", pilot);
    for (const DraftOwner& owner : other.owners) {
      std::string text = *read_file(owner.file);
      const size_t start = text.find('\n');
      for (size_t i = start; i < text.size(); ++i)
        if (text[i] >= '0' && text[i] <= '9') text[i] = '7';
      ASSERT_TRUE(write_file(owner.file, text));
    }
    std::vector<std::filesystem::path> files;
    for (const DraftOwner& owner : other.owners) files.push_back(owner.file);
    other.owners = *draft_owners(files);
    EXPECT_EQ(draft_charter(other)->charter, before->charter);
  }
}

TEST_F(DraftTest, WithoutAPilotEverythingIsAPlaceholderToConfirm) {
  const auto draft = draft_charter(input("rate", false));
  ASSERT_TRUE(draft);
  const auto charter = parse_charter(draft->charter, "draft", folder);
  ASSERT_TRUE(charter) << describe(charter.error());
  EXPECT_EQ(charter->schema.columns.size(), 8u);
  EXPECT_FALSE(charter->pilot);
  EXPECT_GE(draft->confirm, 3u * 8u);
  EXPECT_NE(draft->charter.find("parley data prepare THIS-FILE --paid"), std::string::npos);
  EXPECT_EQ(draft_charter(input("rate"))->charter.find("--paid"), std::string::npos);
}

TEST_F(DraftTest, ColumnsThatAnOwnerLacksAreLeftOut) {
  DraftInput some = input("rate");
  some.owners[1].outline.names = {"rate", "amount"};
  const auto draft = draft_charter(some);
  EXPECT_EQ(draft->kept, (std::vector<std::string>{"amount"}));
  EXPECT_EQ(reason_for(*draft, "home"), "not in Bank_1.csv");
  some.target = "home";
  EXPECT_EQ(draft_charter(some).error().where.key, "home");
  EXPECT_FALSE(draft_charter(input("url"))) << "no number, not two classes";
}

TEST_F(DraftTest, APersonCanLeaveOutMore) {
  DraftInput some = input("rate");
  some.without = {"home", "id"};
  EXPECT_EQ(reason_for(*draft_charter(some), "home"), "as you say");
  some.without = {"moon"};
  EXPECT_EQ(draft_charter(some).error().where.key, "moon");
}

TEST_F(DraftTest, PoliciesAreReadAndAcceptTheDraftOnceComplete) {
  const DraftInput some = input("rate");
  const auto policy = parse_policy(draft_policy(some.owners[0]), "bank-0.policy.toml");
  ASSERT_TRUE(policy) << describe(policy.error());
  const std::vector<Override> complete = {
      {"protocol.name", "sync"}, {"privacy.mechanism", "laplace"}, {"protocol.rule", "algorithm2"},
      {"protocol.rounds", "3"},  {"protocol.step", "0.1"},         {"privacy.max_grad_norm", "8"}};
  const auto charter = parse_charter(draft_charter(some)->charter, "draft", folder, complete);
  ASSERT_TRUE(charter) << describe(charter.error());
  ASSERT_NE(policy->first_match(*charter), nullptr);
  EXPECT_TRUE(policy->first_match(*charter)->person);
}

// What is left to the forecast is everything but what people know.
TEST_F(DraftTest, LeavesProtocolAndMechanismOpenAndSaysWhichDeltaIsAccepted) {
  DraftInput some = input("rate");
  some.delta = usual_delta(some.owners);
  EXPECT_EQ(some.delta, 1e-6);
  some.owners[1].epsilon = .25, some.owners[1].delta = some.delta;
  const auto charter = parse_charter(draft_charter(some)->charter, "draft", folder);
  ASSERT_TRUE(charter) << describe(charter.error());
  for (const char* key : {"protocol.name", "privacy.mechanism", "protocol.rule"})
    EXPECT_EQ(std::count(charter->undecided.begin(), charter->undecided.end(), key), 1) << key;
  EXPECT_EQ(charter->owners[0].epsilon, 1);
  EXPECT_EQ(charter->owners[1].epsilon, .25);
  EXPECT_EQ(charter->owners[1].delta, 1e-6);
  const auto policy = parse_policy(draft_policy(some.owners[1]), "bank-1.policy.toml");
  ASSERT_TRUE(policy) << describe(policy.error());
  EXPECT_EQ(policy->accept[0].epsilon_max, .25);
  some.owners[0].outline.rows = 1'000'000;
  EXPECT_LT(usual_delta(some.owners) * 1e6, 1e-2) << "far below 1/rows";
}

TEST_F(DraftTest, AnyHeaderGivesAnErrorOrADraftThatIsRead) {
  SeededRandom random(5, 0);
  for (int run = 0; run < 200; ++run) {
    std::string text = "rate";
    for (int i = random.index(6); i >= 0; --i) {
      text += ',';
      for (int c = random.index(4); c > 0; --c) text += "ab\t\\'#=[] é\x01"[random.index(13)];
    }
    const auto columns = std::count(text.begin(), text.end(), ',');
    text += "\n";
    for (int row = 0; row < 60; ++row) {
      text += std::to_string(random.index(9));
      for (int i = 0; i < columns; ++i)
        text += "," + std::string(1, "xyz\\\x02\x80"[random.index(6)]) + "k";
      text += "\n";
    }
    ASSERT_TRUE(write_file(folder / "pilot.csv", text));
    auto pilot = draft_pilot(folder / "pilot.csv");
    if (!pilot) continue;
    const auto draft = draft_charter({.target = "rate", .pilot = *pilot});
    if (!draft) continue;
    const auto charter = parse_charter(draft->charter, "draft", folder);
    EXPECT_TRUE(charter) << describe(charter.error()) << draft->charter;
  }
}

TEST(Rounding, GoesOutwardsToTwoDigits) {
  for (double value : {5.42, 24.59, 0.001234, 123456., 1e-7, 99.5, 35000., -17.3, -0.999}) {
    EXPECT_LE(rounded_down(value, 2), value);
    EXPECT_GE(rounded_up(value, 2), value);
    EXPECT_LE(rounded_up(value, 2) - rounded_down(value, 2), std::fabs(value) * .11);
  }
  EXPECT_EQ(rounded_down(5.42, 2), 5.4);
  EXPECT_EQ(rounded_up(24.59, 2), 25);
  EXPECT_EQ(rounded_up(.3, 2), .3);
  EXPECT_EQ(rounded_down(0, 2), 0);
}

TEST(OwnerName, IsOneThatACharterTakes) {
  EXPECT_EQ(owner_name("data/Bank_A (2019).csv"), "bank-a-2019");
  EXPECT_EQ(owner_name("é.csv"), "unnamed");
}

}  // namespace draft_test
}  // namespace parley::charter
