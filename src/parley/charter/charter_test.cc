#include "parley/charter/charter.h"

#include <gtest/gtest.h>

#include <fstream>

namespace parley::charter {
namespace charter_test {

/// Only what has no default.
constexpr std::string_view kMinimal = R"(
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
bounds = [500, 35000]
missing = 12700
[[column]]
name = "term"
kind = "category"
levels = ["36", "60"]
[model]
loss = "squared"
box = 1
[protocol]
name = "sync"
rule = "algorithm2"
rounds = 3
step = 0.1
[privacy]
max_grad_norm = 8
[[owner]]
name = "bank-a"
rows = 1000
epsilon = 1
[[owner]]
name = "bank-b"
rows = 2000
epsilon = 0.5
[learner]
name = "central-bank"
)";

/// The same agreement, written by someone else.
constexpr std::string_view kElaborate = R"(
network = { quorum = 2, deadline_s = 60.0 }   # other order, other notation, every default
[learner]
address = ""
name = "central-bank"
[privacy]
delta = 0
evaluate = 5e-2
grid_bits = 24
max_grad_norm = 8.0
mechanism = "laplace"
overlap = 1.0
unit_records = 1
unit = "record"
adjacency = "replace_one"
calibration = "sound"
[protocol]
weights = "rows"
start = "zero"
average = "paper"
momentum = -0.0
step = 1e-1
rounds = 3.0
rule = "algorithm2"
name = "sync"
[model]
box = 1.0
bias = false
l2 = 0.0
loss = 'squared'
[[owner]]
epsilon = 1.0
delta = 0.0
rows = 1_000
name = "bank-a"
[[owner]]
name = "bank-b"
rows = 0x7d0
epsilon = 0.5
[target]
scale = 1
center = 0.0
bounds = [5.0, 29.0]
column = "rate"
strip = ""
[[column]]
log = false
missing = 12700.0
bounds = [5e2, 3.5e4]
kind = "number"
name = "amount"
[[column]]
other = false
encode = "one_hot"
levels = ["36", "60"]
kind = "category"
name = "term"
[charter]
purpose = ""
run = 1
consortium = "banks.example"
name = "rates"
version = 1.0
)";

constexpr std::string_view kCanonical =
    R"({"charter":{"consortium":"banks.example","name":"rates","purpose":"","run":1,"version":1},)"
    R"("column":[{"bounds":[500,35000],"kind":"number","log":false,"missing":12700,)"
    R"("name":"amount","strip":""},{"encode":"one_hot","kind":"category","levels":["36","60"],)"
    R"("name":"term","other":false,"strip":""}],"learner":{"address":"","name":"central-bank"},)"
    R"("model":{"bias":false,"box":1,"l2":0,"loss":"squared"},)"
    R"("network":{"deadline_s":60,"quorum":2},)"
    R"("owner":[{"delta":0,"epsilon":1,"name":"bank-a","rows":1000},)"
    R"({"delta":0,"epsilon":0.5,"name":"bank-b","rows":2000}],)"
    R"("privacy":{"adjacency":"replace_one","calibration":"sound",)"
    R"("evaluate":0.05,"grid_bits":24,"max_grad_norm":8,"mechanism":"laplace","overlap":1,)"
    R"("unit":"record","unit_records":1},)"
    R"("protocol":{"average":"paper","momentum":0,"name":"sync","rounds":3,"rule":"algorithm2",)"
    R"("start":"zero","step":0.1,"weights":"rows"},)"
    R"("target":{"bounds":[5,29],"center":0,"column":"rate","scale":1,"strip":""}})";

Result<Charter> parse(std::string_view toml, const std::vector<Override>& changes = {},
                      const std::filesystem::path& folder = {}) {
  return parse_charter(toml, "test.toml", folder, changes);
}

std::string error_of(const Result<Charter>& charter) {
  return charter ? "no error" : describe(charter.error());
}

std::string without(std::string_view toml, const std::string& line) {
  std::string text(toml);
  return text.erase(text.find("\n" + line) + 1, line.size() + 1);
}

TEST(Charter, NamesEveryListedLossAndGivesItItsConstants) {
  ASSERT_EQ(kNames<Loss>.size(), std::variant_size_v<learn::Losses>);
  for (size_t i = 0; i < kNames<Loss>.size(); ++i) {
    const Model model{.loss = static_cast<Loss>(i), .huber_delta = 1, .class_weights = {1, 1}};
    EXPECT_EQ(loss_of(model), learn::loss_named(kNames<Loss>[i])) << i;
  }
  const auto huber = parse(kMinimal, {{"model.loss", "huber"}, {"model.huber_delta", "0.5"}});
  ASSERT_TRUE(huber) << error_of(huber);
  EXPECT_EQ(loss_of(huber->model), learn::Losses(learn::Huber{.5}));
  EXPECT_NE(huber->canonical.find(R"("huber_delta":0.5)"), std::string::npos);
  EXPECT_NE(parse(kMinimal, {{"model.loss", "huber"}})->hash, huber->hash);
}

TEST(Charter, FillsInSoundDefaults) {
  const auto charter = parse(kMinimal);
  ASSERT_TRUE(charter) << error_of(charter);
  EXPECT_TRUE(charter->complete());
  EXPECT_EQ(charter->privacy.calibration, Calibration::kSound);
  EXPECT_EQ(charter->privacy.mechanism, MechanismName::kLaplace);
  EXPECT_EQ(charter->privacy.grid_bits, 24);
  EXPECT_EQ(charter->privacy.evaluate, 0.05);
  EXPECT_EQ(charter->protocol.as<Sync>()->average, Average::kPaper)
      << "the output Algorithm 2 was made for";
  EXPECT_EQ(charter->protocol.weights, Weights::kRows);
  EXPECT_EQ(charter->network.quorum, 2);
  EXPECT_EQ(charter->answers(), 3);
  EXPECT_EQ(charter->schema.columns[1].encode, data::Column::Encode::kOneHot);
  EXPECT_EQ(charter->schema.features(), (std::vector<std::string>{"amount", "term=36", "term=60"}));
  EXPECT_EQ(charter->owners[1].rows, 2000);
  EXPECT_FALSE(charter->owners[1].sign_key);
}

TEST(Charter, IsNamedByTheHashOfItsCanonicalText) {
  const auto charter = parse(kMinimal);
  ASSERT_TRUE(charter) << error_of(charter);
  EXPECT_EQ(charter->canonical, kCanonical);
  // By sha256sum of the text above.
  EXPECT_EQ(to_hex(charter->hash),
            "6e7ab0b1d9799961b5cee79f58360566eb47ad28f164adf6a987d9a0aad7e13b");
}

TEST(Charter, HashCoversTheMeaningNotTheText) {
  const auto charter = parse(kElaborate);
  ASSERT_TRUE(charter) << error_of(charter);
  EXPECT_EQ(charter->canonical, kCanonical);
}

TEST(Charter, EveryChangedValueChangesTheHash) {
  const Hash before = parse(kMinimal)->hash;
  const std::vector<Override> changes = {
      {"charter.name", "other"},
      {"charter.consortium", "b.example"},
      {"charter.run", "2"},
      {"charter.purpose", "\"why\""},
      {"target.column", "\"price\""},
      {"target.bounds", "[5, 30]"},
      {"target.center", "1"},
      {"target.scale", "2"},
      {"target.strip", "\"+\""},
      {"column.0.name", "\"sum\""},
      {"column.0.bounds", "[0, 1e5]"},
      {"column.0.missing", "12701"},
      {"column.0.log", "true"},
      {"column.1.levels", "[\"60\", \"36\"]"},
      {"column.1.other", "true"},
      {"column.1.encode", "integer"},
      {"model.loss", "huber"},
      {"model.l2", "1e-9"},
      {"model.bias", "true"},
      {"model.box", "1.0000000000000002"},
      {"protocol.rule", "constant"},
      {"protocol.rounds", "4"},
      {"protocol.step", "0.2"},
      {"protocol.momentum", "0.1"},
      {"protocol.average", "none"},
      {"privacy.calibration", "paper"},
      {"privacy.unit", "\"person\""},
      {"privacy.unit_records", "2"},
      {"privacy.overlap", "2"},
      {"privacy.max_grad_norm", "9"},
      {"privacy.grid_bits", "25"},
      {"privacy.evaluate", "0"},
      {"owner.0.name", "bank-x"},
      {"owner.0.rows", "1001"},
      {"owner.0.epsilon", "2"},
      {"owner.1.sign_key", "\"ed25519:6kpsY+KcUgq+9VB7Eey7F+ZVHdq6+vnuSQh7qaRRG0o=\""},
      {"learner.name", "office"},
      {"learner.address", "\"a.example:1\""},
      {"network.deadline_s", "61"},
      {"network.quorum", "1"}};
  for (const Override& change : changes) {
    const auto charter = parse(kMinimal, {change});
    ASSERT_TRUE(charter) << error_of(charter);
    EXPECT_NE(charter->hash, before) << change.key;
  }
  const auto gaussian = [](const char* delta) {
    return parse(kMinimal, {{"privacy.mechanism", "gaussian"}, {"privacy.delta", delta}});
  };
  EXPECT_NE(gaussian("1e-6")->hash, gaussian("1e-7")->hash);
  EXPECT_EQ(gaussian("1e-6")->owners[1].delta, 1e-6);
}

TEST(Charter, ALearnerMayHaveSeveralAddresses) {
  const auto with = [](const char* address) {
    const auto charter = parse(kMinimal, {{"learner.address", address}});
    EXPECT_TRUE(charter) << error_of(charter);
    return *charter;
  };
  const Charter two = with("[\"a.example:1\", \"b.example:2\"]");
  EXPECT_EQ(to_text(two.learner.address), "a.example:1, b.example:2");
  EXPECT_NE(two.hash, with("[\"b.example:2\", \"a.example:1\"]").hash) << "the order counts";
  EXPECT_EQ(with("[\"a.example:1\"]").hash, with("\"a.example:1\"").hash) << "a list of one";
}

TEST(Charter, OnlyTheHashOfAPublicFileCounts) {
  const std::string sections = R"(
[pilot]
file = "pilot.csv"
sha256 = "5b1d6f0c2a9e4c7d8b3f1a6e0d9c8b7a6f5e4d3c2b1a09f8e7d6c5b4a3928170"
rows = 10
[preprocess]
bundle = "bundle.json"
sha256 = "0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff0"
)";
  const std::string text = std::string(kMinimal) + sections;
  const Hash before = parse(text)->hash;
  EXPECT_NE(before, parse(kMinimal)->hash);
  EXPECT_EQ(before, parse(text, {{"pilot.file", "\"elsewhere/rows.csv\""}})->hash);
  EXPECT_EQ(before, parse(text, {{"preprocess.bundle", "\"b.json\""}})->hash);
  EXPECT_NE(before, parse(text, {{"pilot.rows", "11"}})->hash);
  const auto sites = parse(text, {{"pilot.group", "\"hospital\""}});
  EXPECT_NE(before, sites->hash);
  EXPECT_EQ(sites->pilot->group, "hospital");
  EXPECT_EQ(parse(text)->canonical.find("group"), std::string::npos);  // Older hashes stay.
  const std::string other = "\"" + std::string(64, 'a') + "\"";
  EXPECT_NE(before, parse(text, {{"pilot.sha256", other}})->hash);
  EXPECT_NE(before, parse(text, {{"preprocess.sha256", other}})->hash);
}

TEST(Charter, ADraftListsWhatTheForecasterChooses) {
  const std::string no_rounds = without(kMinimal, "rounds = 3");
  const auto draft = parse(without(no_rounds, "max_grad_norm = 8"));
  ASSERT_TRUE(draft) << error_of(draft);
  EXPECT_FALSE(draft->complete());
  EXPECT_EQ(draft->undecided,
            (std::vector<std::string>{"protocol.rounds", "protocol.momentum", "protocol.average",
                                      "privacy.max_grad_norm"}));
  EXPECT_EQ(draft->canonical.find("rounds"), std::string::npos);
  EXPECT_EQ(draft->canonical.find("max_grad_norm"), std::string::npos);
  const auto complete = parse(without(no_rounds, "max_grad_norm = 8"),
                              {{"protocol.rounds", "3"}, {"privacy.max_grad_norm", "8"}});
  EXPECT_EQ(complete->hash, parse(kMinimal)->hash);
}

TEST(Charter, ADraftWithoutARuleIsNotCheckedForOne) {
  const auto draft = parse(without(kMinimal, "rule = \"algorithm2\""), {{"network.quorum", "1"}});
  ASSERT_TRUE(draft) << error_of(draft);
  EXPECT_EQ(draft->undecided.front(), "protocol.rule");
}

TEST(Charter, PaperCalibrationCountsPointsInsteadOfAnswers) {
  EXPECT_EQ(parse(kMinimal, {{"privacy.calibration", "paper"}})->answers(), 2);
}

TEST(Charter, PilotNewtonStartsAtThePilot) {
  const std::string pilot = std::string(kMinimal) + "[pilot]\nfile = 'p'\nrows = 1\nsha256 = '" +
                            std::string(64, '0') + "'\n";
  const auto charter = parse(pilot, {{"protocol.rule", "pilot_newton"}});
  ASSERT_TRUE(charter) << error_of(charter);
  EXPECT_EQ(charter->protocol.start, Start::kPilot);
  EXPECT_EQ(charter->protocol.as<Sync>()->average, Average::kTail);
  const auto weighted =
      parse(pilot, {{"protocol.rule", "pilot_newton"}, {"protocol.weights", "noise_optimal"}});
  EXPECT_NE(weighted->hash, charter->hash);
}

/// A charter whose owners stand in a table; gives the charter's text.
std::string with_table(const std::string& csv, const std::filesystem::path& folder) {
  std::ofstream(folder / "owners.csv", std::ios::binary) << csv;
  std::string text(kMinimal.substr(0, kMinimal.find("[[owner]]")));
  return text + "[learner]\nname = \"central-bank\"\n[owners]\nfile = \"owners.csv\"\nsha256 = \"" +
         to_hex(sha256(as_bytes(csv))) + "\"\n";
}

std::filesystem::path fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(OwnersTable, MeansTheSameAsBlocks) {
  const auto folder = fresh_folder("parley_owners_same");
  const std::string text =
      with_table("rows,name, epsilon\r\n1000,bank-a,1.0\r\n2e3,bank-b,0.5", folder);
  const auto charter = parse(text, {}, folder);
  ASSERT_TRUE(charter) << error_of(charter);
  EXPECT_EQ(charter->hash, parse(kMinimal)->hash);
  EXPECT_EQ(parse(text, {{"owner.1.epsilon", "3"}}, folder)->owners[1].epsilon, 3);
}

TEST(OwnersTable, ErrorsNameItsLines) {
  const auto folder = fresh_folder("parley_owners_errors");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"name,rows,epsilon\nbank-a,1,1\nbank-b,1,-1\n",
       "owners.csv:3:10: owner[1].epsilon: epsilon must"},
      {"name,rows,epsilon\nbank-a,x,1\n", "owners.csv:2:8: owner[0].rows: rows must be a whole"},
      {"name,rows,epsilon\nbank-a,,1\n", "owners.csv:2:1: owner[0].rows: rows is missing"},
      {"name,rows,epsilom\nbank-a,1,1\n", "owners.csv:2:10: owner[0].epsilom: unknown key"},
      {"name,rows,epsilon\nbank-a,1\n", "owners.csv:2:1: the row has 2 fields"},
      {"name,name\n", "owners.csv:1:6: column \"name\" appears twice"},
      {"name,rows\n\"bank-a,1\n", "owners.csv:2:1: the quote"},
      {"name,rows,epsilon\nbank-a,1,1\nbank-a,1,1\n",
       "owners.csv:3:1: owner[1].name: name appears twice"},
      {"", "test.toml:1:1: owner: owner is missing"}};
  for (const auto& [csv, expected] : cases) {
    const auto charter = parse(with_table(csv, folder), {}, folder);
    EXPECT_NE(error_of(charter).find(expected), std::string::npos) << csv << "\n"
                                                                   << error_of(charter);
  }
}

TEST(OwnersTable, MustBeTheOneThatWasAgreedOn) {
  const auto folder = fresh_folder("parley_owners_hash");
  const std::string text = with_table("name,rows,epsilon\nbank-a,1,1\n", folder);
  with_table("name,rows,epsilon\nbank-a,1,2\n", folder);
  const auto changed = parse(text, {}, folder);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::kIntegrity);
  EXPECT_EQ(changed.error().where.key, "owners.sha256");
  const auto elsewhere = parse(text, {{"owners.file", "\"../owners.csv\""}}, folder);
  EXPECT_NE(error_of(elsewhere).find("beside the charter"), std::string::npos);
  std::filesystem::remove(folder / "owners.csv");
  EXPECT_NE(error_of(parse(text, {}, folder)).find("owners.csv: cannot read"), std::string::npos);
}

TEST(Charter, AMissingFileIsAnErrorThatNamesIt) {
  const auto charter = read_charter("no-such-folder/no.charter.toml");
  ASSERT_FALSE(charter);
  EXPECT_EQ(charter.error().where.file, "no-such-folder/no.charter.toml");
}

TEST(Charter, ABlockWithACountIsThatManyColumns) {
  std::string many(kMinimal), each(kMinimal);
  const std::string block = "[[column]]\nname = \"amount\"\n", at = "[[column]]\nname = \"term\"\n";
  const std::string rest = "kind = \"number\"\nbounds = [500, 35000]\nmissing = 12700\n";
  many.insert(many.find(block) + block.size(), "count = 3\n");
  each.replace(each.find("\"amount\""), 8, "\"amount1\"");
  for (const char* name : {"amount2", "amount3"})
    each.insert(each.find(at), "[[column]]\nname = \"" + std::string(name) + "\"\n" + rest);
  const auto a = parse(many), b = parse(each);
  ASSERT_TRUE(a) << error_of(a);
  ASSERT_TRUE(b) << error_of(b);
  EXPECT_EQ(a->canonical, b->canonical);
  EXPECT_EQ(a->schema.columns.size(), 4u);
  EXPECT_EQ(a->schema.columns[2].name, "amount3");
  EXPECT_EQ(parse(many, {{"column.0.count", "1"}})->schema.columns.size(), 2u);
  for (const char* wrong : {"0", "-1", "4097", "1.5", "\"many\"", "true"}) {
    const auto refused = parse(many, {{"column.0.count", wrong}});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().where.key, "column[0].count") << wrong;
  }
  EXPECT_FALSE(parse(many, {{"column.0.count", "4096"}})) << "with the other column, too many";
  const auto twice = parse(many, {{"column.1.name", "\"amount2\""}});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().what.find("twice"), std::string::npos);
}

}  // namespace charter_test
}  // namespace parley::charter
