#include "studies/reproduce/plot/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>

#include "studies/reproduce/plot/panel.h"

namespace parley::reproduce {
namespace plot_test {

TEST(Plot, LogScaleNamesDecadesAndPutsThemAtEqualDistances) {
  const Scale scale({.label = "", .log = true}, {0.02, 500}, 0, 100);
  std::vector<double> named;
  for (const Tick& tick : scale.ticks())
    if (!tick.label.empty()) named.push_back(tick.value);
  EXPECT_EQ(named, (std::vector<double>{0.1, 1, 10, 100}));
  EXPECT_NEAR(scale.at(10) - scale.at(1), scale.at(1) - scale.at(0.1), 1e-9);
  EXPECT_FALSE(scale.has(0)) << "zero has no place on a logarithmic axis";
}

TEST(Plot, ShortLogScaleNamesWhatLiesBetweenDecades) {
  const Scale scale({.label = "", .log = true}, {10'000, 90'000}, 0, 100);
  std::string labels;
  for (const Tick& tick : scale.ticks()) labels += tick.label + " ";
  EXPECT_NE(labels.find("20,000"), std::string::npos);
  EXPECT_NE(labels.find("50,000"), std::string::npos);
}

TEST(Plot, BarsStartAtZero) {
  const Scale scale({}, {90, 100}, 0, 1, true);
  EXPECT_EQ(scale.low(), 0);
  EXPECT_GT(Scale({}, {90, 100}, 0, 1).low(), 80);
}

TEST(Plot, AValueOutsideIsDrawnAtTheEdge) {
  const Scale scale({}, {0, 10}, 100, 200);
  EXPECT_EQ(scale.at(1e9), 200);
  EXPECT_EQ(scale.at(-1e9), 100);
}

TEST(Plot, NumbersAreWrittenForPeople) {
  EXPECT_EQ(plain(0.01172), "0.0117");
  EXPECT_EQ(plain(-2.0), "−2");
  EXPECT_EQ(plain(250'000), "250,000");
  EXPECT_EQ(plain(1.7e-5), "1.7×10⁻⁵");
  EXPECT_EQ(plain(2.1e9), "2.1×10⁹");
  EXPECT_EQ(plain(540.3, 2), "540");
  EXPECT_EQ(plain(std::nan("")), "–");
}

TEST(Plot, NamesAreMovedApartAndStayInside) {
  const std::vector<double> places = moved_apart({50, 50, 51, 99}, 12, 0, 100);
  for (size_t i = 1; i < places.size(); ++i) EXPECT_GE(places[i] - places[i - 1], 12 - 1e-9);
  EXPECT_LE(places.back(), 100);
  EXPECT_EQ(moved_apart({10, 40}, 12, 0, 100), (std::vector<double>{10, 40}));
  for (double place : moved_apart({95, 96, 97, 98}, 12, 0, 100)) EXPECT_GE(place, 0);
}

Figure figure_with(Series series) {
  Figure figure{.id = "X", .title = "a <title> & \"more\""};
  figure.panels = {{.title = "n_i",
                    .x = {.label = "x", .log = true},
                    .y = {.label = "y", .log = true},
                    .series = {std::move(series)}}};
  return figure;
}

TEST(Plot, EscapesTextsAndLowersSubscripts) {
  const std::string svg = svg_of(figure_with({.name = "a<b", .x = {1, 10}, .y = {1, 2}}));
  EXPECT_NE(svg.find("a &lt;title&gt; &amp; &quot;more&quot;"), std::string::npos);
  EXPECT_NE(svg.find("a&lt;b</text>"), std::string::npos);
  EXPECT_EQ(svg.find("n_i"), std::string::npos);
}

/// Every number of the drawing.
std::vector<double> coordinates(const std::string& svg) {
  const std::regex number(R"re( (?:x|y|x1|y1|x2|y2|cx|cy)="([^"]+)")re");
  std::vector<double> found;
  for (auto at = std::sregex_iterator(svg.begin(), svg.end(), number); at != std::sregex_iterator();
       ++at)
    found.push_back(std::stod((*at)[1]));
  return found;
}

TEST(Plot, DrawsNothingThatHasNoPlace) {
  const std::string svg = svg_of(figure_with({.name = "s",
                                              .x = {1, 10, 100},
                                              .y = {1, 0, kUnknown},
                                              .low = {0, -1, kUnknown},
                                              .high = {2, 3, kUnknown}}));
  for (double value : coordinates(svg)) {
    EXPECT_TRUE(std::isfinite(value));
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 900);
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plot, CurvesCanBeToldApartWithoutColour) {
  std::set<std::pair<std::string, int>> looks;
  for (size_t k = 0; k < 5; ++k) {
    const Style style = style_of(k, false);
    looks.insert({style.dash, style.marker});
  }
  EXPECT_EQ(looks.size(), 5u);
}

TEST(Plot, AMapHasItsNumbersInItAndFramesWhatIsMarked) {
  Figure figure{.id = "X"};
  Surface surface{.x = {0.1, 1}, .y = {10, 20}, .z = {.label = "z", .log = true}};
  surface.value = {123.4, 0.00012, 5.6, 7}, surface.marked = {false, false, false, true};
  surface.mark_means = "wins";
  figure.panels = {{.x = {.label = "x"}, .y = {.label = "y"}, .surface = surface}};
  const std::string svg = svg_of(figure);
  for (const char* text : {">123<", ">1.2e-4<", ">5.6<", ">7<", ">wins<"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  const std::regex frame("fill=\"none\" stroke=\"#d9480f\"");
  EXPECT_EQ(std::distance(std::sregex_iterator(svg.begin(), svg.end(), frame), {}), 2)
      << "one cell, and its key";
}

}  // namespace plot_test
}  // namespace parley::reproduce
