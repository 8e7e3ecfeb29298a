#include "studies/reproduce/output/output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

TEST(Output, ThePapersSideIsItsNumberOrItsRange) {
  EXPECT_EQ(promised(small().measures[0]), "−2");
  EXPECT_EQ(promised({.least = 1}), "at least 1");
  EXPECT_EQ(promised({.least = 1, .most = 2}), "from 1 to 2");
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
  EXPECT_NE(verdicts_markdown({nothing}).find("**not reproduced**"), std::string::npos);
}

}  // namespace output_test
}  // namespace parley::reproduce
