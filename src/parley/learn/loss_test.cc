// Properties of every listed loss. A new entry of Losses is tested without a line here; one with
// constants of its own gets a second set of them in variants().
#include "parley/learn/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "support/entropy.h"

namespace parley::learn {
namespace loss_test {

using test::SeededEntropy, test::uniform;

/// The loss with its default constants and with others.
template <class L>
std::vector<L> variants() {
  std::vector<L> all = {L{}};
  if constexpr (requires(L l) { l.weights; }) all.push_back({.weights = {0.25, 3.0}});
  if constexpr (requires(L l) { l.delta; }) all.push_back({.delta = 0.3});
  return all;
}

template <class L>
double some_label(SeededEntropy& entropy) {
  return L::kTwoClasses ? (entropy.word() & 1 ? 1 : -1) : 6 * uniform(entropy) - 3;
}

template <class L>
class EveryLoss : public testing::Test {
 protected:
  /// Calls body(loss, score, label) for many of them.
  template <class Body>
  void for_many(const Body& body) {
    SeededEntropy entropy(1, L::kName);
    for (const L& loss : variants<L>())
      for (int i = 0; i < 20'000; ++i) {
        const double score = std::ldexp(2 * uniform(entropy) - 1, int(entropy.word() % 6));
        body(loss, score, some_label<L>(entropy));
      }
  }
};

template <class>
struct TypesOf;
template <class... L>
struct TypesOf<std::variant<L...>> {
  using type = testing::Types<L...>;
};
TYPED_TEST_SUITE(EveryLoss, TypesOf<Losses>::type);

constexpr double kStep = 1e-6;

TYPED_TEST(EveryLoss, SlopeIsTheDerivativeOfValue) {
  size_t off = 0, tried = 0;
  this->for_many([&](const TypeParam& loss, double score, double label) {
    const double slope =
        (loss.value(score + kStep, label) - loss.value(score - kStep, label)) / (2 * kStep);
    off += std::fabs(slope - loss.slope(score, label)) > 1e-6 * (1 + std::fabs(slope));
    ++tried;
  });
  EXPECT_LE(off, tried / 5000) << "more than a kink explains";
}

TYPED_TEST(EveryLoss, CurvatureIsTheDerivativeOfSlopeAlmostEverywhere) {
  size_t off = 0, tried = 0;
  this->for_many([&](const TypeParam& loss, double score, double label) {
    const double curvature =
        (loss.slope(score + kStep, label) - loss.slope(score - kStep, label)) / (2 * kStep);
    off += std::fabs(curvature - loss.curvature(score, label)) > 1e-6;
    ++tried;
  });
  EXPECT_LE(off, tried / 5000) << "more than a kink explains";
}

TYPED_TEST(EveryLoss, IsConvexAndNotNegative) {
  SeededEntropy entropy(2, TypeParam::kName);
  this->for_many([&](const TypeParam& loss, double score, double label) {
    const double further = score + 8 * uniform(entropy);
    EXPECT_LE(loss.slope(score, label), loss.slope(further, label));
    EXPECT_GE(loss.value(score, label), 0);
    EXPECT_GE(
        loss.value(further, label) - loss.value(score, label),
        loss.slope(score, label) * (further - score) - 1e-12 * loss.value(further, label) - 1e-12);
  });
}

TYPED_TEST(EveryLoss, StatedConstantsHoldAndAreNearlyAttained) {
  for (const TypeParam& loss : variants<TypeParam>()) {
    SeededEntropy entropy(3, TypeParam::kName);
    double steepest = 0, most_curved = 0;
    for (int i = 0; i < 200'000; ++i) {
      const double score = std::ldexp(2 * uniform(entropy) - 1, int(entropy.word() % 8));
      const double label = some_label<TypeParam>(entropy);
      steepest = std::fmax(steepest, std::fabs(loss.slope(score, label)));
      most_curved = std::fmax(most_curved, loss.curvature(score, label));
    }
    if (std::isfinite(loss.lipschitz())) {
      EXPECT_LE(steepest, loss.lipschitz());
      EXPECT_GT(steepest, 0.999 * loss.lipschitz());
    } else {
      EXPECT_GT(std::fabs(loss.slope(1e12, -1)), 1e12) << "no bound is stated, but there is one";
    }
    if (std::isfinite(loss.smoothness())) {
      EXPECT_LE(most_curved, loss.smoothness());
      EXPECT_GT(most_curved, 0.999 * loss.smoothness());
    } else {  // A jump: the slope has no modulus.
      double jump = 0;
      for (double score = -4; score < 4; score += 0x1p-20)
        jump = std::fmax(jump, loss.slope(score + 0x1p-20, 1) - loss.slope(score, 1));
      EXPECT_GT(jump, 0.5);
    }
  }
}

TYPED_TEST(EveryLoss, HugeScoresGiveNoNaN) {
  for (const TypeParam& loss : variants<TypeParam>())
    for (double score : {1e3, -1e3, 1e10, -1e10, 1e150, -1e150, 5e-324, -0.0})
      for (double label : {1.0, -1.0, 0.0}) {
        EXPECT_TRUE(std::isfinite(loss.value(score, label))) << score;
        EXPECT_TRUE(std::isfinite(loss.slope(score, label))) << score;
        EXPECT_TRUE(std::isfinite(loss.curvature(score, label))) << score;
      }
}

TYPED_TEST(EveryLoss, IsFoundByItsName) {
  const auto found = loss_named(TypeParam::kName);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, Losses(TypeParam{}));
  EXPECT_EQ(name_of(*found), TypeParam::kName);
  EXPECT_FALSE(loss_named("square"));
}

TEST(Losses, TakeTheirTextbookValues) {
  EXPECT_EQ(Squared{}.value(3, 1), 4);
  EXPECT_EQ(Hinge{}.value(0.25, 1), 0.75);
  EXPECT_EQ(Hinge{}.value(-2, -1), 0);
  EXPECT_EQ(Hinge{}.slope(1, 1), 0) << "0 at the kink";
  EXPECT_DOUBLE_EQ(Logistic{}.value(0, -1), std::log(2));
  EXPECT_DOUBLE_EQ(Logistic{}.value(2, 1), std::log1p(std::exp(-2)));
  EXPECT_DOUBLE_EQ(Logistic{}.slope(2, 1), -1 / (1 + std::exp(2)));
  EXPECT_EQ(Huber{2}.value(1.5, 0), 2.25) << "squared inside";
  EXPECT_EQ(Huber{2}.value(5, 0), 16) << "2 delta r - delta^2 outside";
  EXPECT_EQ((Hinge{{2, 5}}.value(0, 1)), 5);
  EXPECT_EQ((Hinge{{2, 5}}.slope(0, -1)), 2);
  EXPECT_EQ((Logistic{{2, 5}}.curvature(0, 1)), 1.25);
}

}  // namespace loss_test
}  // namespace parley::learn
