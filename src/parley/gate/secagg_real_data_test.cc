// What noise inside a secure sum is worth beside noise of every owner for itself: a9a over 10 and
// over 100 owners, ten local steps, epsilon 1.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>

#include "parley/data/readers/libsvm.h"
#include "parley/learn/federated/shrink.h"
#include "parley/learn/fitness.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/secagg_terms.h"
#include "parley/privacy/budget/budget.h"
#include "support/entropy.h"
#include "support/texts.h"

namespace parley::gate {
namespace share_real_data_test {

constexpr size_t kColumns = 123;
constexpr double kL2 = 1e-3;

charter::Charter charter_of(size_t owners, size_t rows) {
  std::string text =
      "[charter]\nversion = 1\nname = \"a9a\"\nconsortium = \"adults.example\"\n"
      "[target]\ncolumn = \"income\"\nlevels = [\"low\", \"high\"]\n"
      "[[column]]\nname = \"x\"\ncount = 123\nkind = \"number\"\nbounds = [0.0, 1.0]\n"
      "missing = 0.0\n[model]\nloss = \"logistic\"\nl2 = 1e-3\nbox = 1000.0\n"
      "[protocol]\nname = \"federated\"\nrounds = 20\nlocal_steps = 10\nstep = 3.5\n"
      "[privacy]\nmax_row_norm = 1.0\ndelta = 1e-5\n[secure_aggregation]\nrepeats = 0\n"
      "colluders = 1\nsurvivors = " +
      std::to_string(owners) + "\n";
  for (size_t i = 0; i < owners; ++i)
    text += "[[owner]]\nname = \"o" + std::to_string(i) + "\"\nrows = " + std::to_string(rows) +
            "\nepsilon = 1.0\n";
  return *charter::parse_charter(text + "[learner]\nname = \"registry\"\n", "test", ".");
}

class RealDataShares : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("PARLEY_DATA");
    if (!folder) GTEST_SKIP() << "PARLEY_DATA is unset";
    auto read =
        data::read_libsvm_sparse(std::string(folder) + "/a9a/a9a.zst", test::numbers(kColumns));
    ASSERT_TRUE(read);
    auto scaled = std::make_shared<data::SparseRows>(kColumns);
    std::vector<size_t> order(read->rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    test::SeededEntropy entropy(1, "owners");
    for (size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[entropy.word() % left]);
    for (const size_t i : order) {
      const std::vector<double> values(read->rows.row_values(i).size(), 1 / std::sqrt(14.));
      scaled->add(read->rows.row_indices(i), values, read->rows.label(i));
    }
    all_ = std::get<1>(learn::shrunk(std::shared_ptr<const data::SparseRows>(scaled), 1));
    fitness_.emplace(learn::Logistic{}, kColumns, kL2, 2);
    fitness_->add(*all_);
    best_ = fitness_->minimum(1e3).fitness;
  }

  /// Excess objective of the mean of the last quarter of the rounds; every owner adds `noise`.
  template <class M>
  double excess(const plan::SecaggPlan& plan, const M& noise) const {
    const learn::LocalUpdate& update = plan.owners[0].update();
    const size_t owners = plan.owners.size(), each = update.plan().rows;
    test::SeededEntropy entropy(1, "noise");
    std::vector<double> theta(kColumns), mean(kColumns);
    for (int round = 0; round < 20; ++round) {
      std::vector<int64_t> sum(kColumns);
      for (size_t k = 0; k < owners; ++k) {
        const auto moved = update.run(theta, [&](std::span<const double> at) {
          std::vector<double> gradient;
          for (const int64_t q : learn::lattice_sum<L2>(learn::Logistic{}, update.lattice(), at,
                                                        *all_, k * each, (k + 1) * each))
            gradient.push_back(double(q) * (update.lattice().gamma() / double(each)));
          return gradient;
        });
        const auto rounded = update.rounded(moved, plan.gamma);
        for (size_t j = 0; j < kColumns; ++j) sum[j] += rounded[j] + noise.sample(entropy);
      }
      for (size_t j = 0; j < kColumns; ++j) theta[j] += plan.gamma * double(sum[j]);
      for (size_t j = 0; j < kColumns && round >= 15; ++j) mean[j] += theta[j] / 5;
    }
    return fitness_->at(mean) - best_;
  }

  struct Pair {
    double secure, alone;
  };
  Pair with_owners(size_t owners) const {
    const auto plan = plan::secagg_plan(charter_of(owners, all_->size() / owners));
    const double rho = privacy::Budget::make(privacy::Epsilon{1.0}, 1e-5, 0)->rho_max;
    const auto alone =
        privacy::Gaussian::calibrate(plan->owners[0].sensitivity(), 20, *privacy::Rho::make(rho));
    const auto& share = std::get<privacy::GaussianShare>(plan->owners[0].mechanism);
    // One noise for all against one for each.
    EXPECT_NEAR(alone->variance() / share.variance(), double(owners - 1), 1e-3 * double(owners));
    return {excess(*plan, share), excess(*plan, *alone)};
  }

  std::shared_ptr<const data::SparseRows> all_;
  std::optional<learn::Fitness> fitness_;
  double best_ = 0;
};

TEST_F(RealDataShares, NoiseInsideTheSumHardlyCostsWhereNoiseOfEachOwnerRuinsTheModel) {
  const Pair ten = with_owners(10), hundred = with_owners(100);
  RecordProperty("ten", std::to_string(ten.secure) + " " + std::to_string(ten.alone));
  RecordProperty("hundred", std::to_string(hundred.secure) + " " + std::to_string(hundred.alone));
  EXPECT_NEAR(ten.secure, .0025, .0007);
  EXPECT_NEAR(hundred.secure, .0025, .0007);
  EXPECT_NEAR(ten.alone, .0112, .004);
  EXPECT_NEAR(hundred.alone, .1014, .03);
}

}  // namespace share_real_data_test
}  // namespace parley::gate
