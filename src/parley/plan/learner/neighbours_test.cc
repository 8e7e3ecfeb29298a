#include "parley/plan/learner/neighbours.h"

#include <gtest/gtest.h>

#include "support/federated_job.h"

namespace parley::plan {
namespace neighbours_test {

charter::Charter charter_of(size_t owners, const std::string& secure = "") {
  return test::clinics_charter(owners, secure);
}

std::string refused_key(size_t owners, const std::string& secure) {
  const auto found = neighbours_of(charter_of(owners, secure));
  return found ? "" : found.error().where.key;
}

TEST(Neighbours, DefaultsHoldAgainstAnActiveLearnerAndAllowDropouts) {
  for (size_t owners = 3; owners <= 1100; owners += owners < 120 ? 1 : 140) {
    const auto charter = charter_of(owners);
    const charter::SecureAggregation& secure = *charter.secure_aggregation;
    const auto near = neighbours_of(charter);
    ASSERT_TRUE(near) << owners << ": " << describe(near.error());
    const size_t colluders = size_t(secure.colluders), survivors = size_t(secure.survivors);
    EXPECT_GT(2 * (near->consents + 1), owners + colluders) << owners;
    EXPECT_LT(near->consents, survivors) << owners;
    if (near->degree == 0) {
      EXPECT_GT(2 * near->threshold, owners - 1 + colluders) << owners;
      EXPECT_LT(near->threshold, survivors) << owners;
    } else {
      EXPECT_GT(2 * near->threshold, near->degree) << owners;
      EXPECT_LT(near->stretch, near->degree / 2) << owners;
      EXPECT_LE(near->degree, 255u);
    }
  }
}

/// m, colluders, dropouts; worked out apart from this code, by summing hypergeometric tails.
TEST(Neighbours, FewestForGivenColludersAndDropouts) {
  const auto degree = [](size_t m, size_t c, size_t d) {
    const auto near = sparse_neighbours(m, c, d);
    return near ? std::pair(near->degree, near->threshold) : std::pair(size_t{0}, size_t{0});
  };
  using Pair = std::pair<size_t, size_t>;
  EXPECT_EQ(degree(100, 20, 10), Pair(62, 42));
  EXPECT_EQ(degree(100, 10, 5), Pair(32, 22));
  EXPECT_EQ(degree(1000, 200, 100), Pair(158, 115));
  EXPECT_EQ(degree(1000, 100, 100), Pair(114, 78));
  EXPECT_EQ(degree(10'000, 2000, 1000), Pair(214, 155));
  EXPECT_FALSE(sparse_neighbours(1000, 200, 200)) << "340 neighbours, and 255 can be numbered";
}

TEST(Neighbours, AThresholdThatASparseGraphDoesNotUseIsRefused) {
  EXPECT_EQ(neighbours_of(charter_of(100))->threshold, 42u);
  EXPECT_EQ(refused_key(100, "threshold = 42\n"), "");
  for (const char* other : {"25", "41", "43", "67", "80"}) {
    const auto found = neighbours_of(charter_of(100, std::string("threshold = ") + other + "\n"));
    ASSERT_FALSE(found) << other;
    EXPECT_EQ(found.error().where.key, "secure_aggregation.threshold");
    EXPECT_NE(found.error().hint.find("threshold = 42"), std::string::npos) << found.error().hint;
  }
  const std::string few = "graph = \"sparse\"\n";  // All are neighbours of all.
  EXPECT_EQ(refused_key(10, few), "");
  EXPECT_EQ(refused_key(10, few + "threshold = 6\n"), "");
  EXPECT_EQ(refused_key(10, few + "threshold = 7\n"), "secure_aggregation.threshold");
}

TEST(Neighbours, NumbersWithWhichALearnerOpensAPartAreRefused) {
  EXPECT_EQ(refused_key(10, "threshold = 6\n"), "");
  EXPECT_EQ(refused_key(10, "threshold = 5\n"), "secure_aggregation.threshold");
  EXPECT_EQ(refused_key(10, "colluders = 3\nthreshold = 6\n"), "secure_aggregation.threshold");
  EXPECT_EQ(refused_key(10, "threshold = 8\n"), "secure_aggregation.threshold");
  EXPECT_EQ(refused_key(5, "colluders = 2\nsurvivors = 5\n"), "");  // The default follows them.
  EXPECT_EQ(refused_key(60, "survivors = 36\nthreshold = 20\n"), "secure_aggregation.survivors");
  EXPECT_EQ(refused_key(1000, "survivors = 800\n"), "secure_aggregation.graph");
  const auto low = neighbours_of(charter_of(10, "threshold = 5\n"));
  EXPECT_NE(low.error().what.find("open an owner's vector"), std::string::npos) << low.error().what;
  EXPECT_NE(low.error().hint.find("at least 6"), std::string::npos) << low.error().hint;
}

}  // namespace neighbours_test
}  // namespace parley::plan
