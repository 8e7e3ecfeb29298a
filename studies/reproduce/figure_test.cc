#include "studies/reproduce/figure.h"

#include <gtest/gtest.h>

namespace parley::reproduce {
namespace figure_test {

Measure slope(double value, double error) {
  return {.quantity = "slope", .value = value, .error = error, .least = -2.1, .most = -1.9};
}

TEST(Figure, IsReproducedInsideRefutedFarOutsideAndUndecidedBetween) {
  EXPECT_EQ(verdict_of(slope(-1.95, 0)), Verdict::kReproduced);
  EXPECT_EQ(verdict_of(slope(-1.8, 0.01)), Verdict::kRefuted);
  EXPECT_EQ(verdict_of(slope(-1.8, 0.05)), Verdict::kNotReproduced);
  EXPECT_EQ(verdict_of(slope(-2.3, 0.01)), Verdict::kRefuted);
  EXPECT_EQ(verdict_of(slope(kUnknown, 0.01)), Verdict::kNotReproduced);
  EXPECT_EQ(verdict_of(slope(-2, kUnknown)), Verdict::kNotReproduced);
}

TEST(Figure, IsNotRefutedByDataThatTheClaimDoesNotSpeakOf) {
  Measure measure = slope(-1.5, 0.01);
  measure.conclusive = false;
  EXPECT_EQ(verdict_of(measure), Verdict::kNotReproduced);
  measure.value = -2;
  EXPECT_EQ(verdict_of(measure), Verdict::kReproduced);
}

TEST(Figure, IsRefutedByOneDecidingMeasureAndNotByOthers) {
  Figure figure;
  EXPECT_EQ(verdict_of(figure), Verdict::kNotReproduced) << "nothing was measured";
  figure.measures = {slope(-2, 0.01), slope(-1, 0.01)};
  EXPECT_EQ(verdict_of(figure), Verdict::kRefuted);
  figure.measures[1].decides = false;
  EXPECT_EQ(verdict_of(figure), Verdict::kReproduced);
  figure.measures.push_back(slope(-1.8, 0.05));
  EXPECT_EQ(verdict_of(figure), Verdict::kNotReproduced);
}

TEST(Figure, WasFittedIfADecidingMeasureWas) {
  Figure figure;
  figure.measures = {slope(-2, 0.01), slope(-2, 0.01)};
  EXPECT_FALSE(fitted_to_claim(figure));
  figure.measures[1].fitted = true;
  EXPECT_TRUE(fitted_to_claim(figure));
  figure.measures[1].decides = false;
  EXPECT_FALSE(fitted_to_claim(figure));
}

}  // namespace figure_test
}  // namespace parley::reproduce
