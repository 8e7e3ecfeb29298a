#include "parley/charter/policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/cells_charter.h"
#include "support/columns_charter.h"

namespace parley::charter {
namespace policy_test {

constexpr std::string_view kPolicy = R"([owner]
name = "bank-a"
state = "/var/lib/parley/bank-a"
charters = "/etc/parley/charters"
[[dataset]]
name = "loans"
source = "csv"
path = "/srv/loans.csv"
columns = { int_rate = "rate" }
where = { column = "status", not_in = ["draft"] }
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
consortium = "banks.example"
dataset = "loans"
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
epsilon = 100
[learner]
name = "central-bank"
)";

/// The number of the rule that decides, or -1.
int decided_by(const Policy& policy, const std::vector<Override>& changes = {}) {
  const auto charter = parse_charter(kCharter, "c.toml", "", changes);
  EXPECT_TRUE(charter) << (charter ? "" : describe(charter.error()));
  const Accept* rule = policy.first_match(*charter);
  return rule ? static_cast<int>(rule - policy.accept.data()) : -1;
}

TEST(Policy, KeepsWhatTheOwnerWrote) {
  const auto policy = parse_policy(kPolicy, "p.toml");
  ASSERT_TRUE(policy) << describe(policy.error());
  EXPECT_EQ(policy->owner, "bank-a");
  ASSERT_EQ(policy->datasets.size(), 2u);
  const Dataset& loans = policy->datasets[0];
  EXPECT_EQ(loans.columns.at("int_rate"), "rate");
  EXPECT_TRUE(loans.where->exclude);
  EXPECT_EQ(loans.where->values, std::vector<std::string>{"draft"});
  EXPECT_EQ(loans.unit_records, 3);
  EXPECT_EQ(loans.budget, *privacy::Budget::make(privacy::Epsilon{4}, 1e-6, 1));
  const Dataset& fraud = policy->datasets[1];
  EXPECT_EQ(fraud.budget, *privacy::Budget::make(privacy::Epsilon{2}, 0, 2)) << "all of it pure";
  EXPECT_FALSE(fraud.unit_records);
  EXPECT_TRUE(policy->accept[1].person) << "a person decides unless the owner said otherwise";
  EXPECT_FALSE(policy->identity);
}

TEST(Policy, AProxyNamesPeopleOnASocketOnly) {
  const auto with = [](const std::string& web) {
    return parse_policy(std::string(kPolicy) + "[web]\n" + web, "p.toml");
  };
  auto proxied =
      with("listen = \"unix:page.sock\"\nhosts = [\"x.example\"]\nperson_header = \"X-User\"\n");
  ASSERT_TRUE(proxied) << describe(proxied.error());
  EXPECT_EQ(proxied->web.person_header, "X-User");
  proxied->folder = "/etc/parley";
  EXPECT_EQ(proxied->listen_at(proxied->web.listen), "unix:/etc/parley/page.sock");
  EXPECT_EQ(proxied->listen_at("127.0.0.1:80"), "127.0.0.1:80");
  EXPECT_FALSE(with("listen = \"127.0.0.1:8443\"\nperson_header = \"X-User\"\n"));
  EXPECT_FALSE(with("hosts = [\"x.example\"]\n")) << "where?";
  EXPECT_TRUE(parse_policy(kPolicy, "p.toml")->web.listen.empty()) << "off unless it is asked for";
}

TEST(Policy, TheFirstMatchingRuleDecides) {
  const Policy policy = *parse_policy(kPolicy, "p.toml");
  EXPECT_EQ(decided_by(policy), 0);
  EXPECT_EQ(decided_by(policy, {{"owner.0.epsilon", "0.6"}}), 1);
  EXPECT_EQ(decided_by(policy, {{"owner.0.epsilon", "2.1"}}), -1);
  EXPECT_EQ(decided_by(policy, {{"learner.name", "stranger"}}), 1);
  EXPECT_EQ(decided_by(policy, {{"charter.consortium", "other.example"}}), -1);
  EXPECT_EQ(decided_by(policy, {{"owner.0.name", "bank-x"}}), -1);
  EXPECT_EQ(decided_by(policy, {{"privacy.calibration", "paper"}}), -1);
}

/// A charter that promises an epsilon at a larger delta promises less. Rule 0 takes 0.5, rule 1 2.
TEST(Policy, EpsilonsAreComparedAtTheDeltaOfTheDataSet) {
  const Policy policy = *parse_policy(kPolicy, "p.toml");
  const auto gaussian = [&](const std::string& epsilon, const std::string& delta) {
    return decided_by(policy, {{"privacy.mechanism", "gaussian"},
                               {"owner.0.epsilon", epsilon},
                               {"owner.0.delta", delta},
                               {"owner.1.delta", delta}});
  };
  EXPECT_EQ(gaussian("0.5", "1e-6"), 0);
  EXPECT_EQ(gaussian("0.5", "9e-4"), 1) << "0.5 at 9e-4 is more than 0.5 at 1e-6";
  EXPECT_EQ(gaussian("2", "9e-4"), -1);
  EXPECT_EQ(gaussian("0.55", "1e-9"), 0) << "and 0.55 at 1e-9 is less";
  EXPECT_EQ(gaussian("0.51", "1e-6"), 1);
}

TEST(Policy, SaysWhichOwnersACharterMustAndMayHave) {
  const auto with = [](const std::string& keys) {
    std::string text(kPolicy);
    text.insert(text.find("dataset = \"loans\""), keys);
    text.erase(text.rfind("[[accept]]"), text.find("[network]") - text.rfind("[[accept]]"));
    return *parse_policy(text, "p.toml");
  };
  EXPECT_EQ(decided_by(with("must_have = [\"bank-b\"]\n")), 0);
  EXPECT_EQ(decided_by(with("must_have = [\"bank-c\"]\n")), -1);
  EXPECT_EQ(decided_by(with("may_have = [\"bank-b\", \"bank-c\"]\n")), 0);
  EXPECT_EQ(decided_by(with("may_have = [\"bank-c\"]\n")), -1) << "bank-b may be invented";
  EXPECT_EQ(decided_by(with("may_have = [\"bank-a\", \"bank-c\"]\n")), -1);
  EXPECT_EQ(decided_by(with("others_min = 1\n")), 0);
  EXPECT_EQ(decided_by(with("others_min = 2\n")), -1);
}

TEST(Policy, ADraftIsNeverAccepted) {
  const Policy policy = *parse_policy(kPolicy, "p.toml");
  std::string draft(kCharter);
  draft.erase(draft.find("rounds = 10\n"), 12);
  EXPECT_EQ(policy.first_match(*parse_charter(draft, "c.toml", "")), nullptr);
}

struct Case {
  std::string from, to, key, what;
  std::string at = "";  // the line starts with this; empty: the line of the change
};

TEST(Policy, ErrorsNameKeyAndLine) {
  const std::vector<Case> cases = {
      {"name = \"bank-a\"", "name = \"Bank\"", "owner.name", "1 to 63 of a-z"},
      {"state = ", "stat = ", "owner.stat", "unknown key stat"},
      {"name = \"fraud\"", "name = \"loans\"", "dataset[1].name", "appears twice"},
      {"source = \"csv\"", "source = \"xls\"", "dataset[0].source", "\"csv\" | \"libsvm\""},
      {"path = \"/srv", "dsn = \"/srv", "dataset[0].dsn", "unknown key dsn"},
      {"service=parley", "password=x", "dataset[1].dsn", "must not hold a password"},
      {"columns = {", "separator = '.'\ncolumns = {", "dataset[0].decimal",
       "differ from the separator", "[[dataset]]"},
      {"columns = {", "separator = 'ab'\ncolumns = {", "dataset[0].separator", "one character"},
      {"{ int_rate = \"rate\" }", "{ int_rate = 1 }", "dataset[0].columns", "a text in quotes"},
      {"not_in = [\"draft\"]", "not_in = []", "dataset[0].where.not_in", "must have 1 to"},
      {"epsilon = 4.0", "epsilon = 0", "dataset[0].budget.epsilon", "above 0"},
      {"pure = 1.0", "pure = 5.0", "dataset[0].budget.pure", "at most 4"},
      {"epsilon = 2.0", "epsilon = 2.0\npure = 1.0", "dataset[1].budget.pure",
       "the whole epsilon is pure", "pure = 1.0\n[[accept]]"},
      {"[network]", "[worth]\nauc = 1\n[network]", "worth.auc", "below 1", "auc = 1"},
      {"records = 3", "records = 0", "dataset[0].unit.records", "at least 1"},
      {"protocol = [\"sync\"", "protocol = [\"synch\"", "accept[0].protocol",
       "unknown member \"synch\""},
      {"dataset = \"loans\"", "dataset = \"loan\"", "accept[0].dataset",
       "no [[dataset]] describes"},
      {"epsilon_max = 0.5\n", "", "accept[0].epsilon_max", "epsilon_max is missing", "[[accept]]"},
      {"dial = \"parley.banks.example:7443\"", "dial = \"x\"", "network.dial", "host:port"},
      {"dial = \"parley.banks.example:7443\"", "dial = [\"a.example:1\", \"x\"]", "network.dial",
       "has a member that must be host:port"},
      {"dial = \"parley.banks.example:7443\"", "dial = []", "network.dial", "must have 1 to 8"},
      {"dial = \"parley.banks.example:7443\"", "peers = { bank-b = [\"a.example:0\"] }",
       "network.peers", "has a member \"bank-b\" that has a member that must be host:port"},
      {"[network]", "[netwrk]", "netwrk", "unknown key netwrk"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.from + " -> " + each.to);
    std::string text(kPolicy);
    const size_t position = text.find(each.from);
    ASSERT_NE(position, std::string::npos);
    text.replace(position, each.from.size(), each.to);
    const auto policy = parse_policy(text, "p.toml");
    ASSERT_FALSE(policy);
    EXPECT_EQ(policy.error().where.key, each.key);
    EXPECT_NE(policy.error().what.find(each.what), std::string::npos) << policy.error().what;
    EXPECT_FALSE(policy.error().hint.empty());
    const size_t at = each.at.empty() ? position : text.find("\n" + each.at) + 1;
    EXPECT_EQ(policy.error().where.line,
              1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
  }
}

TEST(Policy, SeveralAddressesLeadToTheSameParty) {
  std::string text(kPolicy);
  const std::string one = "dial = \"parley.banks.example:7443\"";
  text.replace(text.find(one), one.size(),
               "dial = [\"a.example:1\", \"[::1]:2\"]\n"
               "peers = { bank-b = [\"b.example:1\", \"b.example:2\"], bank-c = \"c.example:3\" }");
  const auto policy = parse_policy(text, "p.toml");
  ASSERT_TRUE(policy) << describe(policy.error());
  EXPECT_EQ(to_text(policy->dial), "a.example:1, [::1]:2");
  EXPECT_EQ(to_text(policy->peers.at("bank-b")), "b.example:1, b.example:2");
  EXPECT_EQ(policy->peers.at("bank-c"), Addresses("c.example:3"));
}

/// The policy's first data set as the charter may use it, with changes to both texts.
Result<data::Source> source_with(std::string_view unit, std::string_view from = "",
                                 std::string_view to = "") {
  std::string policy_text(kPolicy), charter_text(kCharter);
  if (!from.empty()) policy_text.replace(policy_text.find(from), from.size(), to);
  if (!unit.empty())
    charter_text.replace(charter_text.find("[privacy]\n"), 10, "[privacy]\n" + std::string(unit));
  const auto policy = parse_policy(policy_text, "bank-a.policy.toml");
  const auto charter = parse_charter(charter_text, "c.toml", "");
  check(policy && charter);
  const Dataset* data = TRY(policy->dataset_for(*charter));
  return source_of(*policy, *data, *charter);
}

TEST(Policy, DescribesASourceOfRecords) {
  const auto source = source_with("unit = \"member_id\"\nunit_records = 2\n");
  ASSERT_TRUE(source) << describe(source.error());
  EXPECT_EQ(source->kind, data::Source::Kind::kCsv);
  EXPECT_EQ(source->path, "/srv/loans.csv");
  EXPECT_EQ(source->select.columns.at("int_rate"), "rate");
  EXPECT_EQ(source->select.where->column, "status");
  EXPECT_TRUE(source->select.where->exclude);
  EXPECT_EQ(source->select.rows, 1000u);
  EXPECT_EQ(source->select.unit->column, "member_id");
  EXPECT_EQ(source->select.unit->records, 2u) << "the charter's, which is smaller";
  EXPECT_EQ(source_with("unit = \"member_id\"\nunit_records = 9\n")->select.unit->records, 3u);
  EXPECT_EQ(source->unpacked_bytes_max, uint64_t{64} << 30);
  EXPECT_EQ(source->select.memory.bytes, uint64_t{3} << 30) << "of 4 GiB";
}

TEST(Policy, DescribesADriver) {
  constexpr std::string_view kUnit = "unit = \"member_id\"\n";
  const auto parquet =
      source_with(kUnit, "source = \"csv\"", "source = \"parquet\"\ndriver = \"lib/duck.so\"");
  ASSERT_TRUE(parquet) << describe(parquet.error());
  EXPECT_EQ(parquet->kind, data::Source::Kind::kAdbc);
  EXPECT_EQ(parquet->adbc.driver.driver, "lib/duck.so");
  EXPECT_EQ(parquet->adbc.driver.entry, "duckdb_adbc_init");
  EXPECT_EQ(parquet->adbc.query, "select * from read_parquet('/srv/loans.csv')");
  EXPECT_EQ(parquet->adbc.dialect, data::sql::Dialect::kDuckdb);
  EXPECT_EQ(parquet->adbc.memory_mb, 1024u) << "a quarter of 4 GiB";
  EXPECT_EQ(parquet->select.memory.bytes, uint64_t{3072 / 4 * 3} << 20);
  for (const char* option : {"memory_limit", "autoload_known_extensions"})
    EXPECT_TRUE(std::any_of(parquet->adbc.driver.options.begin(),
                            parquet->adbc.driver.options.end(),
                            [&](const auto& each) { return each.first == option; }))
        << option;
  std::string text(kPolicy);
  const std::string path = "path = \"/srv/loans.csv\"";
  ASSERT_NE(text.find(path), std::string::npos);
  text.replace(text.find("source = \"csv\""), 14, "source = \"adbc\"");
  text.replace(text.find(path), path.size(),
               "driver = \"a.so\"\nquery = \"select 1\"\noptions = { password = \"x\" }");
  EXPECT_EQ(parse_policy(text, "p.toml").error().where.key, "dataset[0].options");
}

TEST(Policy, ThatCapsUnitsRefusesACharterWithAnotherUnit) {
  for (const char* unit : {"", "unit = \"account\"\n"}) {
    const auto refused = source_with(unit);
    ASSERT_FALSE(refused) << unit;
    EXPECT_EQ(refused.error().code, Code::kPolicy);
    EXPECT_EQ(refused.error().where.key, "privacy.unit");
    EXPECT_NE(refused.error().what.find("member_id"), std::string::npos);
  }
  const auto renamed = source_with("unit = \"person\"\n", "columns = { int_rate = \"rate\" }",
                                   "columns = { person = \"member_id\" }");
  ASSERT_TRUE(renamed) << describe(renamed.error());
  EXPECT_EQ(renamed->select.unit->column, "member_id");
  EXPECT_EQ(renamed->select.unit->records, 1u);
}

TEST(Policy, MayNameTheColumnsAndFilterMissingValues) {
  std::string text(kPolicy);
  text.replace(text.find("not_in = [\"draft\"]"), 18, "in = [\"\", \"ok\"]");
  text.replace(text.find("columns ="), 0, "header = [\"rate\", \"status\"]\n");
  const auto policy = parse_policy(text, "p.toml");
  ASSERT_TRUE(policy) << describe(policy.error());
  EXPECT_EQ(policy->datasets[0].header, (std::vector<std::string>{"rate", "status"}));
  EXPECT_EQ(policy->datasets[0].where->values, (std::vector<std::string>{"", "ok"}));
  EXPECT_FALSE(policy->datasets[0].where->exclude);
}

TEST(Policy, TheSameRecordsLieInTheSamePlaceWhateverTheBlockCallsAndFilters) {
  Policy policy = *parse_policy(kPolicy, "p.toml");
  Dataset& loans = policy.datasets[0];
  const Place before = *records_at(policy, loans);
  EXPECT_EQ(before.is, "csv /srv/loans.csv");
  loans.name = "credits", loans.where.reset(), loans.columns.clear();
  loans.path = "/srv/archive/../loans.csv";
  EXPECT_EQ(records_at(policy, loans)->is, before.is);
  Dataset& fraud = policy.datasets[1];
  EXPECT_EQ(records_at(policy, fraud)->is, "postgres service=parley: fraud");
  for (const char* query : {"SELECT id FROM \"fraud\" WHERE 1 = 1",
                            "select * from (select * from Fraud) x", "select 'x'\nfrom fraud"}) {
    fraud.query = query;
    EXPECT_EQ(records_at(policy, fraud)->is, "postgres service=parley: fraud") << query;
  }
  fraud.query = "select * from fraud join members on a = b";
  EXPECT_EQ(records_at(policy, fraud)->is, "postgres service=parley: fraud, members");
  fraud.query = "select * from members m, fraud";
  EXPECT_EQ(records_at(policy, fraud)->is, "postgres service=parley: fraud, members");
  fraud.query = "table fraud";
  EXPECT_EQ(records_at(policy, fraud)->is, "postgres service=parley: table fraud");
}

TEST(Policy, AChartersDealerIsTrustedOnlyByARuleThatSaysSo) {
  const auto with = [](const std::string& rule) {
    std::string text(kPolicy);
    text.replace(text.find("bank-a"), 6, "agency-1");
    while (text.find("banks.example") != std::string::npos)
      text.replace(text.find("banks.example"), 13, "agencies.example");
    text.replace(text.find("central-bank"), 12, "office");
    text.replace(text.find("protocol = [\"sync\", \"async\"]"), 28, rule);
    const auto policy = parse_policy(text, "p.toml");
    EXPECT_TRUE(policy) << (policy ? "" : describe(policy.error()));
    return *policy;
  };
  std::vector<Charter> dealt;
  for (const char* rule : {"gradients", "statistics", "noisy_sharing"})
    dealt.push_back(*parse_charter(test::columns_charter(.1, 100, rule), "c.toml", "."));
  const Charter without = *parse_charter(test::cells_charter(.1, 100), "c.toml", ".");
  const Policy no = with("protocol = [\"sharing\"]");
  EXPECT_TRUE(no.dataset_for(without)) << describe(no.dataset_for(without).error());
  for (const Charter& charter : dealt) {
    const auto refused = no.dataset_for(charter);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kPolicy);
    EXPECT_NE(refused.error().hint.find("dealer = \"learner\""), std::string::npos)
        << refused.error().hint;
  }
  const Policy yes = with("protocol = [\"sharing\"]\ndealer = \"learner\"");
  EXPECT_TRUE(yes.dataset_for(without));
  for (const Charter& charter : dealt) EXPECT_TRUE(yes.dataset_for(charter));
  EXPECT_FALSE(with("dealer = \"learner\"").dataset_for(without)) << "nor does it name sharing";
}

TEST(Policy, MayNameAWitnessOfTheLedger) {
  EXPECT_EQ(parse_policy(kPolicy, "p.toml")->witness, "");
  const std::string text = std::string(kPolicy) + "[ledger]\nwitness = \"/mnt/w\"\n";
  EXPECT_EQ(parse_policy(text, "p.toml")->witness, "/mnt/w");
  EXPECT_FALSE(parse_policy(std::string(kPolicy) + "[ledger]\n", "p.toml"));
}

}  // namespace policy_test
}  // namespace parley::charter
