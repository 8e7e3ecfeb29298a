#include "studies/reproduce/output/output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "studies/reproduce/output/parts.h"
#include "support/ledgers.h"

namespace parley::reproduce {
namespace output_test {

Figure small() {
  Figure figure{.id = "A-F4", .paper = "Farokhi et al.", .title = "three, banks"};
  figure.panels = {{.title = "a, b", .series = {{.name = "s", .x = {1, 2}, .y = {3, kUnknown}}}}};
  figure.measures = {{.quantity = "slope",
                      .value = -2.0042,
                      .error = 0.0061,
                      .paper = -2,
                      .least = -2.1,
                      .most = -1.9}};
  return figure;
}

TEST(Output, NumbersHaveAsManyDigitsAsTheirErrorAllows) {
  const auto text = [](double value, double error) {
    return with_error({.quantity = "", .value = value, .error = error});
  };
  EXPECT_EQ(text(-2.0042, 0.0061), "−2.0042 ± 0.0061");
  EXPECT_EQ(text(94.513, 3.04), "94.5 ± 3.0");
  EXPECT_EQ(text(361303, 15538), "361,303 ± 15,538");
  EXPECT_EQ(text(3.312e7, 1516788), "(3.31 ± 0.15)×10⁷");
  EXPECT_EQ(text(-3.99e-4, 7.4e-5), "(−3.99 ± 0.74)×10⁻⁴");
  EXPECT_EQ(text(71.2, 12.3), "71.2 ± 12");
  EXPECT_EQ(text(8, 0), "8");
  EXPECT_EQ(text(kUnknown, 0.1), "no value");
}

TEST(Output, ThePapersSideIsItsNumberAndTheRangeOurs) {
  EXPECT_EQ(promised(small().measures[0]), "−2");
  Measure scanned = small().measures[0];
  scanned.read_as = true;
  EXPECT_EQ(promised(scanned), "read as −2");
  EXPECT_EQ(accepted(small().measures[0]), "−2.1 to −1.9");
  EXPECT_EQ(promised({.least = 1}), "");
  EXPECT_EQ(accepted({.least = 1}), "at least 1");
  EXPECT_EQ(accepted({.most = 1}), "at most 1");
  EXPECT_EQ(accepted({.least = 8, .most = 8}), "8");
}

TEST(Output, CsvQuotesTextsAndLeavesUnknownNumbersEmpty) {
  EXPECT_EQ(csv_of(small()),
            "panel,series,x,y,z,p25,p75,standard_error,marked\n"
            "\"a, b\",s,1,3,,,,,\n\"a, b\",s,2,,,,,,\n");
}

TEST(Output, JsonPageAndTableSayTheSameVerdict) {
  const Reproduction reproduction{.figures = {small()}, .seed = 7};
  const auto json = nlohmann::json::parse(to_json(reproduction));
  EXPECT_EQ(json["figures"][0]["verdict"], "reproduced");
  EXPECT_EQ(json["summary"]["reproduced"], 1);
  EXPECT_EQ(json["seed"], 7);
  const std::string page = page_of(reproduction);
  EXPECT_NE(page.find(">reproduced</span>"), std::string::npos);
  EXPECT_NE(page.find("−2.0042 ± 0.0061"), std::string::npos);
  EXPECT_NE(page.find("NOT PRIVATE"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos) << "the page needs no other file";
  EXPECT_NE(verdicts_markdown(reproduction.figures).find("**reproduced**"), std::string::npos);
  Figure nothing = small();
  nothing.measures.clear();
  EXPECT_NE(verdicts_markdown({nothing}).find("**not decided**"), std::string::npos);
}

TEST(Output, WhatIsBeyondThePapersHasAHeadingOfItsOwn) {
  Figure beyond = small();
  beyond.id = "B-sync", beyond.paper = "";
  const std::string table = verdicts_markdown({small(), beyond});
  EXPECT_LT(table.find("A-F4"), table.find("## Beyond the papers"));
  EXPECT_GT(table.find("B-sync"), table.find("## Beyond the papers"));
  EXPECT_NE(table.find("| reproduced | 1 |"), std::string::npos)
      << "counts are of the papers' items";
}

TEST(Output, ItemsReproducedByCalibrationAreCountedApart) {
  Figure fitted = small(), standin = small();
  fitted.measures[0].fitted = true;
  standin.kind = DataKind::kExcerpt;
  standin.on_standin = fitted.measures;
  const std::string table = verdicts_markdown({small(), fitted, standin});
  EXPECT_NE(table.find("| reproduced | 3 | 1 | 1 |"), std::string::npos) << table;
  EXPECT_NE(table.find("a deciding measure was fitted | 2 | 1 | 0 |"), std::string::npos) << table;
}

TEST(Output, MutationsSayWhatIsNoticedByConstruction) {
  const Mutation mutation = mutated({small()});
  EXPECT_EQ(mutation.measures, 1u);
  EXPECT_EQ(mutation.breaks, 3u);
  EXPECT_EQ(mutation.items, 3u);
  EXPECT_EQ(mutation.by_construction, 3u) << "a range of 0.2 notices all of them";
  EXPECT_NE(mutation.text.find("sign: the item's verdict changes (by construction)"),
            std::string::npos)
      << mutation.text;
}

/// A figure with everything in it, numbers that have no decimal form among them.
Figure rich() {
  Figure figure = small();
  figure.kind = DataKind::kExcerpt;
  figure.measures[0].most = HUGE_VAL, figure.measures[0].value = 1.0 / 3;
  figure.measures[0].tally = "steps", figure.measures[0].draws = 8;
  figure.measures[0].runs = 4, figure.measures[0].counts = figure.measures[0].read_as = true;
  figure.on_standin = {{.quantity = "q", .value = kUnknown, .kind = Quantity::kExponent}};
  figure.settings = {{"a", "b"}};
  figure.panels.push_back({.title = "map",
                           .surface = Surface{.x = {1},
                                              .y = {2},
                                              .z = {.label = "z", .log = true, .names = {"n"}},
                                              .value = {1e-300},
                                              .error = {0.1},
                                              .marked = {true},
                                              .mark_means = "better"}});
  return figure;
}

TEST(Parts, GiveTheSameBytesAsOneRun) {
  Reproduction whole{.figures = {small(), rich()}, .seed = 7, .data = "d", .draws = 8};
  whole.figures[1].id = "A-F5";
  const auto folder = test::fresh_folder();
  for (uint64_t k = 1; k <= 2; ++k) {
    Reproduction half = whole;
    half.figures = {whole.figures[k - 1]};
    ASSERT_TRUE(write_part({k, 2, half}, folder / std::to_string(k)));
  }
  const auto all = merged({folder / "2", folder / "1"});
  ASSERT_TRUE(all) << describe(all.error());
  EXPECT_EQ(to_json(*all), to_json(whole));
  EXPECT_EQ(page_of(*all), page_of(whole));
  EXPECT_EQ(verdicts_csv(all->figures), verdicts_csv(whole.figures));
  for (size_t k = 0; k < 2; ++k) EXPECT_EQ(csv_of(all->figures[k]), csv_of(whole.figures[k]));
  EXPECT_FALSE(merged({folder / "1"})) << "a part is missing";
  EXPECT_FALSE(merged({folder / "1", folder / "1"})) << "a part is there twice";
  EXPECT_FALSE(merged({folder / "1", folder / "3"})) << "there is no such folder";
  Reproduction other = whole;
  other.seed = 8;
  ASSERT_TRUE(write_part({2, 2, other}, folder / "other"));
  EXPECT_FALSE(merged({folder / "1", folder / "other"})) << "of another seed";
}

}  // namespace output_test
}  // namespace parley::reproduce
