// The C interface through its shared library. Nothing else of the library is linked: two copies of
// it in one process would register the same messages twice.
#include "parley/c.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace parley {
namespace c_test {

using Json = nlohmann::json;

constexpr size_t kRows = 300;

struct Said {
  int status = 0;
  Json json{};
};

Said call(const std::string& command, const Json& arguments, const parley_tables* tables = nullptr,
          const parley_hooks* hooks = nullptr) {
  char* text = nullptr;
  Said said;
  said.status = parley_call(command.c_str(), arguments.dump().c_str(), tables, hooks, &text);
  if (text != nullptr) said.json = Json::parse(text, nullptr, false);
  parley_free(text);
  return said;
}

/// Two features, and classes that depend on them.
struct Records {
  std::vector<double> x, y;
  Records() {
    for (size_t i = 0; i < kRows; ++i) {
      const double a = std::sin(double(i)), b = std::cos(3.0 * double(i));
      x.insert(x.end(), {10 * a, 5 + b});
      y.push_back(a + b / 2 > 0);
    }
  }
};

struct Tables {
  Records records{};
  std::unique_ptr<parley_tables, decltype(&parley_tables_free)> handle{parley_tables_new(),
                                                                       parley_tables_free};
  const parley_tables* get() const { return handle.get(); }
  void add_labels(const char* table) {
    const char* const names[] = {"y"};
    EXPECT_EQ(parley_tables_add_doubles(handle.get(), table, names, records.y.data(), kRows, 1, 8,
                                        0, nullptr),
              PARLEY_OK);
  }
  Tables() {
    const char* const names[] = {"x0", "x1"};
    EXPECT_EQ(parley_tables_add_doubles(handle.get(), "records", names, records.x.data(), kRows, 2,
                                        16, 8, nullptr),
              PARLEY_OK);
    add_labels("records");
  }
};

Json settings(const Json& more = {}) {
  Json json = {{"loss", "logistic"}, {"epsilon", 2}, {"delta", 1e-6}, {"lower", {-10, 4}},
               {"upper", {10, 6}},   {"rounds", 5},  {"threads", 1}};
  if (more.is_object()) json.update(more);
  return json;
}

std::string scratch(const std::string& name) {
  const auto file = std::filesystem::path(testing::TempDir()) / ("c_test_" + name);
  std::filesystem::remove_all(file);
  return file.string();
}

TEST(CInterface, SaysWhatItIs) {
  EXPECT_EQ(parley_c_version(), PARLEY_C_VERSION);
  const Said said = call("about", Json::object());
  ASSERT_EQ(said.status, PARLEY_OK);
  EXPECT_EQ(said.json["version"], parley_version());
  for (const std::string command : said.json["commands"])  // Each refuses what it does not know.
    EXPECT_EQ(call(command, {{"no such argument", 1}}).status, PARLEY_INVALID) << command;
}

TEST(CInterface, ErrorsHaveCodePlaceAndHint) {
  const Said none = call("fits", Json::object());
  EXPECT_EQ(none.status, PARLEY_INVALID);
  EXPECT_EQ(none.json["format"], "parley.error/1");
  EXPECT_EQ(none.json["code"], "invalid");
  EXPECT_NE(none.json["hint"].get<std::string>().find("fit"), std::string::npos);
  const Said odd = call("charter.check", {{"charter", "[charter]\nversion = \"one\"\n"}});
  EXPECT_EQ(odd.status, PARLEY_INVALID);
  EXPECT_EQ(odd.json["where"]["line"], 2);
  EXPECT_EQ(parley_call("about", "[1]", nullptr, nullptr, nullptr), PARLEY_INVALID);
}

TEST(CInterface, Accounts) {
  const Said said = call("account", {{"gaussian", 12}, {"count", 100}, {"delta", 1e-6}});
  ASSERT_EQ(said.status, PARLEY_OK) << said.json;
  EXPECT_EQ(said.json["result"]["format"], "parley.account/1");
  EXPECT_FALSE(said.json["text"].get<std::string>().empty());
}

TEST(CInterface, SeededFitIsTheSimulationsModelBitForBit) {
  const Tables tables;
  const Said fit = call("fit", settings({{"seed", 7}}), tables.get());
  ASSERT_EQ(fit.status, PARLEY_OK) << fit.json;
  EXPECT_EQ(fit.json["private"], false);
  const std::filesystem::path folder = scratch("simulated");
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "bundle.json") << fit.json["bundle"].get<std::string>();
  Tables owners;
  const char* const names[] = {"x0", "x1"};
  EXPECT_EQ(parley_tables_add_doubles(owners.handle.get(), "analyst", names,
                                      owners.records.x.data(), kRows, 2, 16, 8, nullptr),
            PARLEY_OK);
  owners.add_labels("analyst");
  const Said run = call("simulate",
                        {{"charter", fit.json["charter"]},
                         {"folder", folder.string()},
                         {"seed", 7},
                         {"held_out", 0},
                         {"threads", 1}},
                        owners.get());
  ASSERT_EQ(run.status, PARLEY_OK) << run.json;
  const Json model = Json::parse(run.json["model"].get<std::string>());
  EXPECT_EQ(fit.json["model"]["model"]["theta"], model["model"]["theta"]);
  EXPECT_EQ(call("fit", settings({{"seed", 7}}), tables.get()).json["model"], fit.json["model"]);
  EXPECT_NE(call("fit", settings({{"seed", 8}}), tables.get()).json["model"], fit.json["model"]);
}

TEST(CInterface, CoefficientsAreInUnitsOfTheGivenFeatures) {
  const Tables tables;
  const Said fit = call("fit", settings({{"seed", 7}, {"epsilon", 100}}), tables.get());
  ASSERT_EQ(fit.status, PARLEY_OK) << fit.json;
  const auto predicted =
      call("predict", {{"model", fit.json["model"].dump()}, {"table", "records"}}, tables.get());
  ASSERT_EQ(predicted.status, PARLEY_OK) << predicted.json;
  const std::vector<double> slopes = fit.json["coefficients"];
  const double intercept = fit.json["intercept"];
  for (size_t i = 0; i < kRows; ++i)
    EXPECT_NEAR(
        predicted.json["result"]["values"][i].get<double>(),
        intercept + slopes[0] * tables.records.x[2 * i] + slopes[1] * tables.records.x[2 * i + 1],
        1e-9);
}

TEST(CInterface, FitsWithoutASeedArePrivateAndDiffer) {
  const Tables tables;
  const Said one = call("fit", settings(), tables.get()),
             two = call("fit", settings(), tables.get());
  ASSERT_EQ(one.status, PARLEY_OK) << one.json;
  EXPECT_EQ(one.json["private"], true);
  EXPECT_NE(one.json["coefficients"], two.json["coefficients"]);
  EXPECT_NE(one.json["charter"], two.json["charter"]);
  const Json owner = one.json["model"]["privacy_card"]["owners"][0];
  EXPECT_LE(owner["epsilon"].get<double>(), 2.0);
  EXPECT_GT(owner["epsilon"].get<double>(), 1.9);
}

TEST(CInterface, ALedgerPaysForManyFitsAndRefusesWhatItCannotPay) {
  const Tables tables;
  const std::string file = scratch("ledger.db");
  const Json how = settings({{"epsilon", 1}, {"delta", 1e-7}, {"ledger", file}});
  EXPECT_NE(call("fit", how, tables.get()).status, PARLEY_OK);  // There is none.
  ASSERT_EQ(call("ledger.create", {{"file", file}, {"epsilon", 1.5}, {"delta", 1e-6}}).status,
            PARLEY_OK);
  int paid = 0;
  Said last;
  while (paid < 10 && (last = call("fit", how, tables.get())).status == PARLEY_OK) ++paid;
  EXPECT_EQ(last.status, PARLEY_REFUSED);
  EXPECT_EQ(last.json["code"], "budget_exhausted");
  EXPECT_GE(paid, 1);
  EXPECT_LT(paid, 10);
  const Said shown = call("ledger.show", {{"file", file}});
  ASSERT_EQ(shown.status, PARLEY_OK);
  EXPECT_EQ(call("ledger.verify", {{"file", file}}).status, PARLEY_OK);
  const Said exported = call("ledger.export", {{"file", file}});
  ASSERT_EQ(exported.status, PARLEY_OK);
  EXPECT_EQ(exported.json["result"]["charges"],
            5 * paid);  // as many as rounds: nothing of the last
  EXPECT_EQ(call(
                "fit",
                [&] {
                  Json j = how;
                  j["seed"] = 1;
                  return j;
                }(),
                tables.get())
                .status,
            PARLEY_INVALID);
}

/// Whether bounds let rows stay sparse (a 0 is 0 as a feature) or not.
TEST(CInterface, SparseRowsAreTheSameRows) {
  Tables tables;
  std::vector<int64_t> indices, offsets = {0};
  for (size_t i = 0; i < kRows; ++i) {
    indices.insert(indices.end(), {1, 0});  // in any order
    offsets.push_back(int64_t(indices.size()));
  }
  std::vector<double> values;
  for (size_t i = 0; i < kRows; ++i)
    values.insert(values.end(), {tables.records.x[2 * i + 1], tables.records.x[2 * i]});
  const char* const names[] = {"x0", "x1"};
  ASSERT_EQ(parley_tables_add_sparse(tables.handle.get(), "sparse", names, values.data(),
                                     indices.data(), offsets.data(), kRows, 2, nullptr),
            PARLEY_OK);
  tables.add_labels("sparse");
  for (const double low : {4.0, -6.0})
    for (const char* const loss : {"logistic", "hinge", "squared", "huber"}) {
      Json how = settings({{"seed", 7}, {"loss", loss}, {"lower", {-10, low}}});
      if (low < 0) how.erase("rounds");  // also rule statistics
      const Said dense = call("fit", how, tables.get());
      how["table"] = "sparse";
      const Said sparse = call("fit", how, tables.get());
      ASSERT_EQ(sparse.status, PARLEY_OK) << sparse.json;
      EXPECT_EQ(dense.json["model"], sparse.json["model"]) << loss << low;
    }
  indices[5] = 2;
  EXPECT_EQ(parley_tables_add_sparse(tables.handle.get(), "odd", names, values.data(),
                                     indices.data(), offsets.data(), kRows, 2, nullptr),
            PARLEY_INVALID);
}

TEST(CInterface, PublicRowsAreThePilot) {
  Tables tables;
  const Said fit = call("fit", settings({{"seed", 7}, {"public", "records"}}), tables.get());
  ASSERT_EQ(fit.status, PARLEY_OK) << fit.json;
  EXPECT_NE(fit.json["charter"].get<std::string>().find("pilot_newton"), std::string::npos);
}

void expect_parts_to_add_up(const Json& how) {
  const Tables all;
  const Said fit = call("fit", how, all.get());
  ASSERT_EQ(fit.status, PARLEY_OK) << fit.json;
  const std::filesystem::path folder = scratch("partial");
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "bundle.json") << fit.json["bundle"].get<std::string>();
  const std::string arguments =
      Json{{"charter", fit.json["charter"]}, {"folder", folder.string()}, {"table", "records"}}
          .dump();
  const double theta[3] = {.1, -.2, .3};
  int64_t whole[3] = {}, sum[3] = {};
  ASSERT_EQ(parley_partial_sum(arguments.c_str(), all.get(), theta, whole, 3, nullptr), PARLEY_OK);
  for (const auto& [begin, end] : {std::pair<size_t, size_t>{0, 100}, {100, kRows}}) {
    parley_tables* part = parley_tables_new();
    const char* const x[] = {"x0", "x1"};
    const char* const y[] = {"y"};
    parley_tables_add_doubles(part, "records", x, all.records.x.data() + 2 * begin, end - begin, 2,
                              16, 8, nullptr);
    parley_tables_add_doubles(part, "records", y, all.records.y.data() + begin, end - begin, 1, 8,
                              0, nullptr);
    int64_t found[3] = {};
    EXPECT_EQ(parley_partial_sum(arguments.c_str(), part, theta, found, 3, nullptr), PARLEY_OK);
    for (int j = 0; j < 3; ++j) sum[j] += found[j];
    parley_tables_free(part);
  }
  for (int j = 0; j < 3; ++j) {
    EXPECT_EQ(sum[j], whole[j]);
    EXPECT_NE(sum[j], 0);
  }
  char* error = nullptr;
  EXPECT_EQ(parley_partial_sum(arguments.c_str(), all.get(), theta, whole, 2, &error),
            PARLEY_INVALID);
  parley_free(error);
}

TEST(CInterface, PartialSumsAddUp) {
  for (const std::string loss : {"logistic", "hinge", "squared", "huber"})
    for (const double delta : {0.0, 1e-6}) {
      SCOPED_TRACE(loss + (delta == 0 ? ", Laplace noise" : ", Gaussian noise"));
      expect_parts_to_add_up(settings({{"seed", 7}, {"loss", loss}, {"delta", delta}}));
    }
}

TEST(CInterface, ADeltaOfOneRowIsRefusedByItsOwnName) {
  const Tables tables;
  const Said one = call("fit", settings({{"delta", 1e-3}, {"seed", 7}}), tables.get());
  EXPECT_EQ(one.status, PARLEY_OK) << one.json;
  parley_tables* many = parley_tables_new();  // one row, a thousand times
  const double row[] = {1, 5, 1};
  const char* const names[] = {"x0", "x1", "y"};
  ASSERT_EQ(parley_tables_add_doubles(many, "records", names, row, 1000, 3, 0, 8, nullptr),
            PARLEY_OK);
  const Said refused = call("fit", settings({{"delta", 1e-3}, {"seed", 7}}), many);
  EXPECT_EQ(refused.status, PARLEY_INVALID);
  EXPECT_EQ(refused.json["where"]["key"], "delta");
  EXPECT_FALSE(refused.json["where"].contains("line")) << refused.json;
  EXPECT_NE(refused.json["hint"].get<std::string>().find("1e-4"), std::string::npos)
      << refused.json;
  parley_tables_free(many);
}

TEST(CInterface, CallsAreStopped) {
  const Tables tables;
  int heard = 0;
  const parley_hooks hooks{sizeof(parley_hooks), &heard, [](void* count, uint64_t, uint64_t) {
                             return int(++*static_cast<int*>(count) == 2);
                           }};
  for (const Json& more : {Json{{"seed", 1}}, Json::object()}) {
    heard = 0;
    const Said said = call("fit", settings(more), tables.get(), &hooks);
    EXPECT_EQ(said.status, PARLEY_FAILED);
    EXPECT_EQ(said.json["what"], "was stopped");
    EXPECT_EQ(heard, 2);
  }
  heard = 0;
  EXPECT_EQ(call("audit", {{"mechanism", "laplace"}, {"threads", 1}}, nullptr, &hooks).status,
            PARLEY_FAILED);
}

TEST(CInterface, EveryLossFits) {
  const Tables tables;
  for (const std::string loss : {"logistic", "hinge", "squared", "huber"})
    for (const double delta : {0.0, 1e-6})
      for (const bool intercept : {true, false}) {
        Json how = settings({{"loss", loss}, {"delta", delta}, {"intercept", intercept}});
        how.erase("rounds");
        const Said said = call("fit", how, tables.get());
        ASSERT_EQ(said.status, PARLEY_OK) << loss << delta << intercept << said.json;
        EXPECT_EQ(said.json["coefficients"].size(), 2u);
        if (!intercept) {
          EXPECT_EQ(said.json["intercept"], 0.0);
        }
      }
}

}  // namespace c_test
}  // namespace parley
