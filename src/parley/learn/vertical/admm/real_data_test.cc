// a9a cut into 66 + 57 columns, as the paper does: the figures of the numpy reference.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "parley/data/readers/libsvm.h"
#include "parley/learn/fitness.h"
#include "parley/learn/vertical/admm/admm.h"
#include "parley/learn/vertical/admm/columns.h"
#include "parley/learn/vertical/admm/fdml.h"
#include "support/entropy.h"
#include "support/texts.h"

namespace parley::learn {
namespace real_data_test {

data::AnyRows shared(data::SparseRows rows) {
  return std::make_shared<const data::SparseRows>(std::move(rows));
}

class RealDataSharing : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("PARLEY_DATA");
    if (!folder) GTEST_SKIP() << "PARLEY_DATA is unset";
    const std::string a9a = std::string(folder) + "/a9a/";
    const data::Schema schema = test::numbers(123);
    train_ = shared(data::read_libsvm_sparse(a9a + "a9a.zst", schema)->rows);
    test_ = shared(data::read_libsvm_sparse(a9a + "a9a.t.zst", schema)->rows);
    parts_ = {columns_between(train_, 0, 66), columns_between(train_, 66, 123)};
    labels_ = {std::get<1>(train_)->labels(), data::size_of(train_)};
  }

  /// Mean log loss on a9a.t.
  double test_loss(std::vector<double> left, std::span<const double> right) const {
    left.insert(left.end(), right.begin(), right.end());
    Fitness fitness(Logistic{}, 123, 0);
    fitness.add(*std::get<1>(test_));
    return fitness.at(left);
  }

  data::AnyRows train_, test_;
  std::vector<data::AnyRows> parts_;
  std::span<const double> labels_;
};

TEST_F(RealDataSharing, BoydIsNearTheOptimumByRoundEleven) {
  double at_11 = 0, at_20 = 0;
  const auto result =
      share_by_admm(parts_, labels_, {}, {.after_round = [&](const AdmmHooks::View& view) {
                      if (view.round.round == 11) at_11 = view.round.objective;
                      const auto left = view.parties[0].model();
                      at_20 = test_loss({left.begin(), left.end()}, view.parties[1].model());
                    }});
  ASSERT_TRUE(result);
  EXPECT_LE(at_11, .323380 * 1.001);
  EXPECT_NEAR(result->rounds[4].objective, .32745, 5e-6);
  EXPECT_NEAR(result->rounds[9].objective, .32372, 5e-6);
  EXPECT_NEAR(result->rounds[19].objective, .323405, 5e-7);
  EXPECT_GE(at_20, .3236);
  EXPECT_LE(at_20, .3246);
}

TEST_F(RealDataSharing, ThePapersScalingDivergesForSmallRho) {
  const auto small =
      share_by_admm(parts_, labels_, {.rho = .03, .scaling = Scaling::kPaper, .warm = false});
  ASSERT_FALSE(small);
  EXPECT_NE(small.error().what.find("rho = 0.03"), std::string::npos);
  const auto large =
      share_by_admm(parts_, labels_, {.rho = .3, .scaling = Scaling::kPaper, .warm = false});
  ASSERT_TRUE(large);
  EXPECT_NEAR(large->rounds[19].objective, .324894, 5e-7);
}

TEST_F(RealDataSharing, GradientsInBatchesLeadAtFirstAndThenStall) {
  std::vector<double> objectives;
  test::SeededEntropy entropy(1, "fdml");
  share_by_sgd(parts_, labels_, {.l2 = 1 / 32561.}, entropy,
               [&](const FdmlEpoch& epoch, const std::vector<std::vector<double>>&) {
                 objectives.push_back(epoch.objective);
               });
  const auto admm = share_by_admm(parts_, labels_, {});
  ASSERT_TRUE(admm);
  EXPECT_LT(objectives[1], admm->rounds[1].objective);
  EXPECT_GT(objectives[19], admm->rounds[19].objective);
  EXPECT_NEAR(objectives[19], .32439, .0005);  // Another order of records than there.
}

}  // namespace real_data_test
}  // namespace parley::learn
