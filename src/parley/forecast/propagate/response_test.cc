#include "parley/forecast/propagate/response.h"

#include <gtest/gtest.h>

namespace parley::forecast {
namespace response_test {

TEST(Response, OfAQuadraticIsALine) {
  const auto line = Response::line(2, 3);
  EXPECT_DOUBLE_EQ(line.at(0), 2);
  EXPECT_DOUBLE_EQ(line.at(50), 152);
  EXPECT_DOUBLE_EQ(line.gain(.01), 3);
  EXPECT_DOUBLE_EQ(line.variance_for(152), 50);
  EXPECT_EQ(line.variance_for(1.5), 0);
  EXPECT_DOUBLE_EQ(line.scaled(.5).at(50), 76);
}

TEST(Response, GoesThroughItsPointsAndFollowsPowersBetweenThem) {
  const auto table = Response::table({{0, 1}, {1, 2}, {100, 11}});  // exponent 1/2 above the floor
  for (const auto& [variance, excess] :
       {std::pair(0.0, 1.0), {1, 2}, {100, 11}, {25, 6}, {.5, 1.5}})
    EXPECT_NEAR(table.at(variance), excess, 1e-12);
  EXPECT_NEAR(table.at(400), 21, 1e-12);  // beyond the last: the same power
  EXPECT_NEAR(table.gain(25), .5 * 5 / 25, 1e-12);
}

TEST(Response, IsInvertedWhereItRises) {
  const auto table = Response::table({{0, 1}, {1, 2}, {100, 11}, {200, 10}});
  for (const double variance : {.3, 1.0, 7.0, 99.0})
    EXPECT_NEAR(table.variance_for(table.at(variance)), variance, 1e-9 * variance);
}

}  // namespace response_test
}  // namespace parley::forecast
