// The way of a bundle from pilot rows into a charter's schema.
#include <gtest/gtest.h>

#include "parley/base/files.h"
#include "parley/charter/charter.h"
#include "parley/data/readers/csv.h"
#include "support/ledgers.h"

namespace parley::charter {
namespace bundle_test {

constexpr std::string_view kPilot =
    "amount,term,rate\n100,36,7\n200,60,9\n400,36,8\n900,60,12\n100,60,9\n";

std::string charter_text(const Hash& pilot, const Hash& bundle) {
  return R"(
[charter]
version = 1
name = "rates"
consortium = "banks.example"
[pilot]
file = "pilot.csv"
sha256 = ")" +
         to_hex(pilot) + R"("
rows = 5
[preprocess]
bundle = "bundle.json"
sha256 = ")" +
         to_hex(bundle) + R"("
[target]
column = "rate"
bounds = [5, 29]
[[column]]
name = "amount"
kind = "number"
bounds = [0, 1000]
missing = 100
log = true
[[column]]
name = "term"
kind = "category"
levels = ["36", "60"]
encode = "integer"
[model]
loss = "squared"
bias = true
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
[learner]
name = "central-bank"
)";
}

struct LoadBundle : testing::Test {
  const std::filesystem::path folder = test::fresh_folder();
  const Hash pilot_hash = sha256(as_bytes(kPilot));

  Charter charter(const Hash& bundle, const Hash& pilot, std::vector<Override> changes = {}) {
    auto parsed = parse_charter(charter_text(pilot, bundle), "test.toml", folder, changes);
    EXPECT_TRUE(parsed) << describe(parsed.error());
    return *parsed;
  }
  /// Fits on the pilot and writes the file; returns its hash.
  Hash prepare() {
    EXPECT_TRUE(write_file(folder / "pilot.csv", kPilot));
    const auto schema = charter({}, pilot_hash).schema;
    const auto rows = data::read_csv(folder / "pilot.csv", data::encoding_of(schema));
    EXPECT_TRUE(rows) << describe(rows.error());
    const auto bundle = data::fit_bundle(*rows, schema, pilot_hash, {.whiten = true});
    EXPECT_TRUE(bundle) << describe(bundle.error());
    EXPECT_TRUE(write_file(folder / "bundle.json", to_json(*bundle)));
    return hash_of(*bundle);
  }
  Result<void> load(Charter& charter) {
    const std::filesystem::path folders[] = {folder / "empty", folder};
    return load_bundle(charter, folders);
  }
};

TEST_F(LoadBundle, MakesTheFeatures) {
  Charter ours = charter(prepare(), pilot_hash);
  const Hash before = ours.hash;
  ASSERT_TRUE(load(ours)) << describe(load(ours).error());
  EXPECT_EQ(ours.schema.features(), (std::vector<std::string>{"pc1", "pc2", "bias"}));
  EXPECT_EQ(ours.hash, before);
  const auto rows = data::read_csv(folder / "pilot.csv", ours.schema);
  ASSERT_TRUE(rows);
  for (size_t j : {0, 1}) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 5; ++i) {
      sum += rows->row(i)[j], squares += rows->row(i)[j] * rows->row(i)[j];
      EXPECT_EQ(rows->row(i)[2], 1);
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(squares / 4, 1, 1e-12);
  }
}

TEST_F(LoadBundle, RefusesAnotherFileThanTheChartersWithAnIntegrityError) {
  prepare();
  Charter ours = charter(sha256(as_bytes("another")), pilot_hash);
  const auto loaded = load(ours);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::kIntegrity);
  EXPECT_EQ(loaded.error().where.key, "preprocess.sha256");
  EXPECT_FALSE(ours.schema.bundle);
}

TEST_F(LoadBundle, RefusesOneMadeForOtherColumnsOrFromAnotherPilot) {
  const Hash bundle = prepare();
  Charter other_columns = charter(bundle, pilot_hash, {{"column.0.log", "false"}});
  EXPECT_EQ(load(other_columns).error().where.key, "made_from.columns_sha256");
  Charter other_pilot = charter(bundle, sha256(as_bytes("other rows")));
  EXPECT_EQ(load(other_pilot).error().where.key, "made_from.pilot_sha256");
  EXPECT_EQ(load(other_pilot).error().where.file, (folder / "bundle.json").string());
}

TEST_F(LoadBundle, SaysWhenThereIsNone) {
  Charter ours = charter({}, pilot_hash);
  EXPECT_EQ(load(ours).error().where.key, "preprocess.bundle");
  ours.preprocess.reset();
  EXPECT_TRUE(load(ours)) << "a charter without a bundle needs none";
}

}  // namespace bundle_test
}  // namespace parley::charter
