#include "parley/plan/budget.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace parley::plan {
namespace {

TEST(BudgetOfJobs, EpsilonsAddUpWithoutADelta) {
  EXPECT_EQ(*epsilon_of_jobs(.5, 0, 1), .5);
  EXPECT_EQ(*epsilon_of_jobs(.5, 0, 12), 6);
  EXPECT_EQ(*epsilon_of_jobs(.5, 0, .5), .25);
}

TEST(BudgetOfJobs, WithOneTheyGrowMoreSlowly) {
  const double one = *epsilon_of_jobs(1, 1e-6, 1);
  EXPECT_LE(one, 1 + 1e-9);
  EXPECT_GT(one, 1 - 1e-3);
  double before = 0;
  for (const double jobs : {.1, 1., 2., 4., 16., 64.}) {
    const double now = *epsilon_of_jobs(1, 1e-6, jobs);
    EXPECT_GT(now, before);
    EXPECT_LT(now, std::max(jobs, 1.0) + 1e-9);
    before = now;
  }
  EXPECT_GT(*epsilon_of_jobs(1, 1e-6, 4), 2)
      << "the noise of four jobs is that of one twice as dear";
}

}  // namespace
}  // namespace parley::plan
