// The public headers, used as an outside program would use them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "parley/parley.h"

namespace parley {
namespace api_test {

constexpr auto kCharter = R"(
[charter]
version = 1
name = "two-clinics"
consortium = "test.example"
[target]
column = "days"
bounds = [0.0, 10.0]
scale = 10.0
[[column]]
name = "age"
kind = "number"
bounds = [0.0, 1.0]
missing = 0.5
[[column]]
name = "ward"
kind = "category"
levels = ["a", "b"]
[model]
loss = "squared"
box = 1.0
[protocol]
name = "sync"
rule = "constant"
rounds = 3
step = 0.1
[privacy]
mechanism = "laplace"
max_grad_norm = 4.0
evaluate = 0.0
[[owner]]
name = "north"
rows = 40
epsilon = 2.0
[[owner]]
name = "south"
rows = 60
epsilon = 1.0
[learner]
name = "registry"
)";

struct Folder {
  explicit Folder(const std::string& name)
      : path(std::filesystem::path(testing::TempDir()) / ("api_test_" + name)) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

Table clinic(size_t rows) {
  std::vector<double> age, days;
  std::vector<std::string> ward;
  for (size_t i = 0; i < rows; ++i) {
    age.push_back(static_cast<double>(i % 8) / 8);
    ward.push_back(i % 3 == 0 ? "a" : "b");
    days.push_back(static_cast<double>(i % 8 + i % 3));
  }
  return {{{"age", age}, {"ward", ward}, {"days", days}}};
}

void write_csv(const Table& table, const std::filesystem::path& path) {
  std::ofstream file(path);
  file << "age,ward,days\n";
  const auto& age = std::get<std::vector<double>>(table.columns[0].values);
  for (size_t i = 0; i < age.size(); ++i)
    file << age[i] << "," << std::get<std::vector<std::string>>(table.columns[1].values)[i] << ","
         << std::get<std::vector<double>>(table.columns[2].values)[i] << "\n";
}

Charter two_clinics() {
  auto charter = Charter::parse(kCharter);
  EXPECT_TRUE(charter) << describe(charter.error());
  return *charter;
}

TEST(Api, CharterSaysWhatItsTextSays) {
  const Charter charter = two_clinics();
  EXPECT_EQ(charter.name(), "two-clinics");
  EXPECT_EQ(charter.consortium(), "test.example");
  EXPECT_TRUE(charter.complete());
  ASSERT_EQ(charter.owners().size(), 2u);
  EXPECT_EQ(charter.owners()[1].rows, 60u);
  EXPECT_EQ(charter.owners()[1].epsilon, 1.0);
  EXPECT_NE(charter.to_json().find(to_hex(charter.hash())), std::string::npos);
  EXPECT_NE(charter.explain().find("north"), std::string::npos);
  const auto other = Charter::parse(kCharter, {{"protocol.rounds", "4"}});
  ASSERT_TRUE(other);
  EXPECT_NE(other->hash(), charter.hash());
  EXPECT_EQ(Charter::parse(kCharter, {{"protocol.rounds", "many"}}).error().code, Code::kInvalid);
}

TEST(Api, TablesAndFilesTrainTheSameModel) {
  const Folder data("data"), of_tables("tables"), of_files("files");
  const Table north = clinic(40), south = clinic(60);
  write_csv(north, data.path / "north.csv");
  write_csv(south, data.path / "south.csv");
  uint64_t heard = 0, total = 0;
  const auto first =
      simulate(two_clinics(), OwnerTables{{{"north", north}, {"south", south}}},
               {.seed = 5, .out = of_tables.path, .progress = [&](auto done, auto of) {
                  heard = done, total = of;
                }});
  const auto second =
      simulate(two_clinics(), OwnerFolder{data.path}, {.seed = 5, .out = of_files.path});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(heard, 6u);
  EXPECT_EQ(total, 6u);
  EXPECT_EQ(first->model()->parameters(), second->model()->parameters());
  EXPECT_EQ(first->owners()[0].source, "memory");
  EXPECT_FALSE(first->why_not_private().empty());
  EXPECT_FALSE(simulate(two_clinics(), OwnerTables{{{"north", north}}}));
  const auto nowhere = simulate(two_clinics(), OwnerFolder{data.path});
  ASSERT_TRUE(nowhere);
  EXPECT_FALSE(nowhere->model());
}

TEST(Api, ModelPredictsAndLedgerTellsWhatItCost) {
  const Folder out("out");
  const auto run =
      simulate(two_clinics(), OwnerTables{{{"north", clinic(40)}, {"south", clinic(60)}}},
               {.out = out.path});
  ASSERT_TRUE(run);
  const auto model = run->model();
  ASSERT_TRUE(model);
  EXPECT_EQ(model->features(), (std::vector<std::string>{"age", "ward=a", "ward=b"}));
  const Table records{{{"age", std::vector<double>{0.5, std::numeric_limits<double>::quiet_NaN()}},
                       {"ward", std::vector<std::string>{"b", "b"}}}};
  const auto predictions = predict(*model, records);
  ASSERT_TRUE(predictions);
  EXPECT_EQ(predictions->values[0], predictions->values[1]);  // A missing age counts as 0.5.
  EXPECT_NEAR(predictions->values[0], 10 * (0.5 * model->parameters()[0] + model->parameters()[2]),
              1e-12);
  EXPECT_FALSE(predict(*model, Table{}));

  for (const auto& entry : std::filesystem::recursive_directory_iterator(out.path)) {
    if (entry.path().filename() != "ledger.db") continue;
    const auto ledger = Ledger::read(entry.path());
    ASSERT_TRUE(ledger);
    EXPECT_EQ(verify_ledger(entry.path())->head, ledger->head());
    const auto exported = export_ledger(entry.path());
    ASSERT_TRUE(exported);
    const auto cost = account(*events_from_json(*exported), {.at = {1e-9}, .accountant = "basic"});
    ASSERT_TRUE(cost);
    EXPECT_NEAR(*cost->rows[0].said[0].value, ledger->datasets()[0].pure_spent, 1e-9);
  }
}

TEST(Api, CalibratedNoiseKeepsItsPromise) {
  const Events events = {{GaussianEvent{1}, 10}};
  const auto found = calibrate(events, 1.0, 1e-6);
  ASSERT_TRUE(found);
  const Events noisier = {{GaussianEvent{found->factor}, 10}};
  const auto cost = account(noisier, {.at = {1e-6}, .accountant = found->accountant});
  ASSERT_TRUE(cost);
  EXPECT_LE(*cost->rows[0].said[0].value, 1.0);
}

TEST(Api, AnAuditOfAMechanismPassesAndCanBeStopped) {
  const auto audit = audit_mechanism("laplace", {.runs = 2'000});
  ASSERT_TRUE(audit);
  EXPECT_TRUE(audit->passes());
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(audit_mechanism("laplace", {.stop = stopped.get_token()}).error().code, Code::kFailed);
  EXPECT_EQ(audit_mechanism("no such", {}).error().code, Code::kInvalid);
}

TEST(Api, CredentialsFromAuthorityToCertificate) {
  const Folder folder("credentials");
  const auto authority = make_authority("test.example", {.folder = folder.path / "authority"});
  ASSERT_TRUE(authority) << describe(authority.error());
  const auto joined = join(authority->invitation, "north", {.folder = folder.path / "north"});
  ASSERT_TRUE(joined) << describe(joined.error());
  EXPECT_EQ(joined->authority_fingerprint, authority->fingerprint);
  const auto made = sign_request(joined->request, {.authority = folder.path / "authority"});
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_EQ(made->key_fingerprint, joined->key_fingerprint);
  EXPECT_EQ(made->certificate, joined->certificate);
  EXPECT_EQ(made->uri, "parley://test.example/owner/north");
}

}  // namespace api_test
}  // namespace parley
