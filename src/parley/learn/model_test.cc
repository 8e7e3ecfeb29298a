#include "parley/learn/model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "parley/base/files.h"
#include "parley/base/math/portable.h"
#include "parley/data/readers/csv.h"
#include "parley/data/transforms/transform.h"

namespace parley::learn {
namespace model_test {

Model example() {
  Model model;
  model.name = "three-banks-rates";
  model.theta = {0.1 + 0.2, -1.0 / 3, 5e-324, -0.0, 1e6, 0x1.fffffffffffffp-1};
  model.box = 1e6;
  model.l2 = 1e-5;
  model.schema.columns = {
      {.name = "loan_amnt", .low = 500, .high = 35000, .missing = 12700, .log = true, .strip = "$"},
      {.name = "term",
       .kind = data::Column::Kind::kCategory,
       .levels = {"36 months", "60 months"},
       .encode = data::Column::Encode::kInteger},
      {.name = "home",
       .kind = data::Column::Kind::kCategory,
       .levels = {"RENT", "ÖWN \"\\\n"},
       .other = true}};
  model.schema.target = {
      .column = "int_rate", .low = 5, .high = 29, .center = 13.25, .scale = 15.75, .strip = "%"};
  model.schema.bias = true;
  model.card = {.is_private = true,
                .statement = "One record changes little.",
                .charter = "sha256:9d8e",
                .protocol = "sync",
                .mechanism = "laplace",
                .max_grad_norm = 8,
                .norm = "l1",
                .rounds = 3,
                .owners = {{"bank-a", 100000, 1, 0, .05, 4}, {"bank-b", ~0ull, .1, 1e-9, 0, 3}},
                .not_covered = {"the pilot rows are public", "answer times"}};
  model.training = {.started = "2026-11-15T08:00:00Z",
                    .rounds = 3,
                    .parley = "0.1.0",
                    .transcript_sha256 = "77aa",
                    .seed = ~0ull};
  return model;
}

Result<Model> read(const std::string& text) { return model_from_json(text, "some.model.json"); }

/// The example's text with one part replaced.
std::string edited(const std::string& from, const std::string& to) {
  std::string text = to_json(example());
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Model, ComesBackBitForBit) {
  const Model model = example();
  const auto back = read(to_json(model));
  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_EQ(*back, model);
  EXPECT_TRUE(std::signbit(back->theta[3]));
  EXPECT_EQ(to_json(*back), to_json(model));
}

Model with_product() {
  Model model = example();
  const auto category = [](const std::string& name, std::vector<std::string> levels) {
    return data::Column{.name = name,
                        .kind = data::Column::Kind::kCategory,
                        .levels = std::move(levels),
                        .cell = 8};
  };
  model.schema.columns = {category("job", {"a", "b"}), category("sex", {"f", "m"}),
                          category("both", {"a*f", "a*m", "b*f", "b*m"})};
  model.schema.columns[2].product_of = {"job", "sex"};
  model.theta.assign(9, .5);
  return model;
}

TEST(Model, AProductComesBackAndOnlyWithTheLevelsOfItsFactors) {
  const Model model = with_product();
  const std::string text = to_json(model);
  const auto back = read(text);
  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_EQ(*back, model);
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return !read(changed.replace(at, from.size(), to));
  };
  EXPECT_TRUE(refused("\"b*f\"", "\"b*g\""));
  EXPECT_TRUE(refused("\"job\",\n        \"sex\"", "\"sex\",\n        \"job\""));
  EXPECT_TRUE(refused("\"job\",\n        \"sex\"", "\"job\",\n        \"both\""));
  EXPECT_TRUE(refused("\"job\",\n        \"sex\"", "\"job\""));
}

TEST(Model, RandomNumbersComeBackBitForBit) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 3000; ++run) {
    Model model = example();
    for (double& value : model.theta) do
        value = std::bit_cast<double>(random());
      while (!std::isfinite(value));
    const auto back = read(to_json(model));
    ASSERT_TRUE(back);
    ASSERT_EQ(back->theta, model.theta);
  }
}

TEST(Model, ComesBackWithTwoClassesAndWithoutASeed) {
  Model model = example();
  model.schema.target = {.column = "readmitted", .levels = {"NO", "<30"}};
  model.training.seed.reset();
  model.training.transcript_sha256.reset();
  model.card.owners.clear();
  const auto back = read(to_json(model));
  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_EQ(*back, model);
}

TEST(Model, ComesBackWithEveryLossAndItsConstants) {
  for (const Losses& loss : {Losses(Hinge{{1, 5}}), Losses(Logistic{{.1, 1}}), Losses(Huber{.3})}) {
    Model model = example();
    model.loss = loss;
    const auto back = read(to_json(model));
    ASSERT_TRUE(back) << describe(back.error());
    EXPECT_EQ(*back, model);
  }
  Model huber = example();
  huber.loss = Huber{.3};
  std::string text = to_json(huber);
  text.replace(text.find("0.3,"), 4, "0.0,");
  EXPECT_EQ(read(text).error().where.key, "model.huber_delta");
}

TEST(Model, HasTheShapeOfTheFormat) {
  const std::string text = to_json(example());
  EXPECT_TRUE(text.starts_with("{\n  \"format\": \"parley.model/1\",\n  \"name\": "));
  size_t last = 0;
  for (const char* key : {"\"model\"", "\"loss\"", "\"theta\"", "\"bias\"", "\"box\"", "\"l2\"",
                          "\"prediction\"", "\"features\"", "\"preprocess\"", "\"columns\"",
                          "\"target\"", "\"privacy_card\"", "\"private\"", "\"training\""}) {
    const size_t at = text.find(key);
    ASSERT_NE(at, std::string::npos) << key;
    EXPECT_GT(at, last) << key;
    last = at;
  }
  EXPECT_NE(text.find("\"home=other\""), std::string::npos);
}

TEST(Model, OneThatIsNotPrivateAlwaysSaysSo) {
  Model model = example();
  model.card.is_private = false;
  const auto back = read(to_json(model));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->card.statement, "NOT PRIVATE. One record changes little.");
  EXPECT_EQ(to_json(*back), to_json(model)) << "marked once";
  const auto unmarked = read(edited("\"private\": true", "\"private\": false"));
  ASSERT_FALSE(unmarked);
  EXPECT_EQ(unmarked.error().where.key, "privacy_card.statement");
  const auto paper = read(edited("\"sound\"", "\"paper\""));
  ASSERT_FALSE(paper) << "the paper's calibration is never private";
  EXPECT_EQ(paper.error().where.key, "privacy_card.private");
}

TEST(Model, ErrorsNameTheKey) {
  const struct {
    std::string from, to, key, what;
  } cases[] = {
      {"parley.model/1", "parley.model/2", "format", "parley.model/1"},
      {"\"format\"", "\"farmat\"", "format", "missing"},
      {"\"name\": \"three-banks-rates\"", "\"name\": 3", "name", "a text"},
      {"\"theta\"", "\"thata\"", "model.theta", "missing"},
      {"-0.0", "\"0\"", "model.theta", "finite number"},
      {"-0.0", "null", "model.theta", "finite number"},
      {"-0.0,", "", "model.theta", "5 numbers for 6 features"},
      {"\"home=other\"", "\"home=others\"", "model.features", "columns"},
      {"\"squared\"", "\"cubed\"", "model.loss", "loss"},
      {"\"bias\": true", "\"bias\": 1", "model.bias", "true or false"},
      {"\"sha256\": null,\n    \"bundle\": null", "\"sha256\": \"00\", \"bundle\": {}",
       "preprocess.bundle.format", "missing"},
      {"\"bundle\": null", "\"bundle\": {}", "preprocess.sha256", "a text"},
      {"\"preprocess\": {", "\"preprocess\": 1, \"x\": {", "preprocess", "object"},
      {"\"columns\": [", "\"columns\": [7, ", "columns[0]", "object"},
      {"\"kind\": \"category\"", "\"kind\": \"word\"", "columns[1].kind", "word"},
      {"500.0", "50000.0", "columns[0].bounds", "lower first"},
      {"500.0,", "", "columns[0].bounds", "two numbers"},
      {"\"scale\": 15.75", "\"scale\": 0", "target.scale", "not be 0"},
      {"\"rows\": 100000", "\"rows\": -1", "privacy_card.owners[0].rows", "whole number"},
      {"\"rows\": 100000", "\"rows\": 1.5", "privacy_card.owners[0].rows", "whole number"},
      {"\"epsilon\": 0.1", "\"epsilon\": \"0.1\"", "privacy_card.owners[1].epsilon", "number"},
      {"\"answer times\"", "8", "privacy_card.not_covered", "text"},
      {"\"transcript_sha256\": \"77aa\"", "\"transcript_sha256\": 1", "training.transcript_sha256",
       "null"},
  };
  for (const auto& c : cases) {
    const auto model = read(edited(c.from, c.to));
    ASSERT_FALSE(model) << c.from << " -> " << c.to;
    EXPECT_EQ(model.error().code, Code::kInvalid);
    EXPECT_EQ(model.error().where.file, "some.model.json");
    EXPECT_EQ(model.error().where.key, c.key);
    EXPECT_NE(model.error().what.find(c.what), std::string::npos) << model.error().what;
    EXPECT_FALSE(model.error().hint.empty());
  }
}

TEST(Model, WhatIsNotJsonIsAnErrorWithItsPlace) {
  const auto cut = read("{\n  \"format\": oops}");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().where.line, 2);
  EXPECT_EQ(cut.error().where.column, 13);
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("null"), std::string("{}"),
        edited("0.05", "1e999"), std::string(100000, '['), std::string("{\"format\":\"\xFF\"}")}) {
    const auto model = read(text);
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, Code::kInvalid);
  }
}

TEST(Model, NoMutationCrashes) {
  const std::string honest = to_json(example());
  std::mt19937_64 random(2);
  int good = 0, bad = 0;
  for (int run = 0; run < 3000; ++run) {
    std::string text = honest;
    for (size_t edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % text.size();
      const char c = random() % 2 ? "\"{}[],:0-en"[random() % 11] : char(random() % 256);
      const int kind = random() % 4;
      if (kind == 0) text[at] = c;
      if (kind == 1) text.insert(at, 1, c);
      if (kind == 2) text.erase(at, 1 + random() % 20);
      if (kind == 3) text.insert(at, text.substr(random() % text.size(), random() % 40));
    }
    const auto model = read(text);
    ++(model ? good : bad);
    if (!model) {
      ASSERT_EQ(model.error().code, Code::kInvalid);
    }
  }
  EXPECT_GT(good, 30);
  EXPECT_GT(bad, 300);
}

struct ModelFile : testing::Test {
  void TearDown() override { std::filesystem::remove(file); }
  const std::filesystem::path file = testing::TempDir() + "model_test_" +
                                     testing::UnitTest::GetInstance()->current_test_info()->name() +
                                     ".json";
};

TEST_F(ModelFile, IsWrittenAndRead) {
  ASSERT_TRUE(write_model(file, example()));
  const auto back = read_model(file);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, example());
}

TEST_F(ModelFile, IsNotWrittenIfItCouldNotBeRead) {
  const std::function<void(Model&)> spoilers[] = {
      [](Model& m) { m.theta[1] = std::nan(""); },
      [](Model& m) { m.l2 = std::numeric_limits<double>::infinity(); },
      [](Model& m) { m.theta.pop_back(); }, [](Model& m) { m.card.calibration = "paper"; },
      [](Model& m) { m.schema.columns.pop_back(); }};
  for (const auto& spoil : spoilers) {
    Model model = example();
    spoil(model);
    const auto written = write_model(file, model);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::kInvalid);
    EXPECT_FALSE(std::filesystem::exists(file));
  }
}

TEST_F(ModelFile, ThatIsMissingIsAnError) {
  const auto model = read_model(file);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, Code::kInvalid);
  EXPECT_EQ(model.error().where.file, file.string());
}

TEST_F(ModelFile, PredictsFromACsvFileWithoutAnythingElse) {
  Model model = example();
  model.theta = {.5, .25, 0, 1, -2, .125};
  const auto back = read(to_json(model));
  ASSERT_TRUE(back);
  ASSERT_TRUE(write_file(file, "home,term,loan_amnt\nRENT,60 months,$999\ncave,36 months,\n"));
  const auto rows = data::read_csv(file, back->schema, {.labels = false});
  ASSERT_TRUE(rows) << describe(rows.error());
  const std::vector<double> values = predict(*back, *rows);
  ASSERT_EQ(values.size(), 2u);
  // Features: log1p(amount), term, home=RENT, home=ÖWN..., home=other, bias.
  EXPECT_NEAR(values[0], 13.25 + 15.75 * (.5 * std::log1p(999) + .25 + 0 + .125), 1e-12);
  EXPECT_NEAR(values[1], 13.25 + 15.75 * (.5 * std::log1p(12700) - 2 + .125), 1e-12);
}

/// The example with a bundle that was fitted on some rows of its encoded columns.
Model example_with_bundle() {
  Model model = example();
  data::Rows pilot(5);
  std::mt19937_64 random(1);
  const auto some = [&] { return double(random() % 1000) / 1000; };
  for (int i = 0; i < 300; ++i)
    pilot.add(std::vector{some(), some(), some(), some(), some()}, some());
  model.schema.bundle =
      *data::fit_bundle(pilot, model.schema, {}, {.components = 2, .whiten = true});
  model.theta = {.5, -.25, .125};
  return model;
}

TEST_F(ModelFile, CarriesItsBundleAndPredictsWithIt) {
  const Model model = example_with_bundle();
  EXPECT_EQ(model.schema.features(), (std::vector<std::string>{"pc1", "pc2", "bias"}));
  const auto back = read(to_json(model));
  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_EQ(*back, model);
  ASSERT_TRUE(write_file(file, "home,term,loan_amnt\nRENT,60 months,$999\ncave,36 months,\n"));
  const auto rows = data::read_csv(file, back->schema, {.labels = false});
  ASSERT_TRUE(rows) << describe(rows.error());
  std::vector<double> z(2);
  data::Transform(*model.schema.bundle).apply(std::vector{portable_log1p(999), 1., 1., 0., 0.}, z);
  EXPECT_EQ(std::vector(rows->row(0).begin(), rows->row(0).end()), (std::vector{z[0], z[1], 1.}));
  EXPECT_NEAR(predict(*back, *rows)[0], 13.25 + 15.75 * (.5 * z[0] - .25 * z[1] + .125), 1e-12);
}

TEST(Model, ABundleThatWasChangedIsRefused) {
  const std::string text = to_json(example_with_bundle());
  for (const auto& [from, to, key] : {std::tuple{"\"max_l1\": ", "\"max_l1\": 1", "sha256"},
                                      {"\"whiten\": true", "\"whiten\": false", "sha256"},
                                      {"35000.0", "36000.0", "bundle"}}) {
    std::string changed = text;
    const size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    const auto model = read(changed.replace(at, std::string(from).size(), to));
    ASSERT_FALSE(model) << from;
    EXPECT_EQ(model.error().where.key, "preprocess." + std::string(key));
  }
}

TEST(Model, PredictsTheScoreOfTwoClasses) {
  Model model;
  model.theta = {2, -1};
  model.schema.target.levels = {"no", "yes"};
  data::Rows rows(2);
  rows.add(std::vector<double>{3, 1}, 0);
  EXPECT_EQ(predict(model, rows), (std::vector<double>{5}));
}

}  // namespace model_test
}  // namespace parley::learn
