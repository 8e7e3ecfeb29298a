// a9a over ten owners: what local steps cost without noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>

#include "parley/data/readers/libsvm.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/federated/shrink.h"
#include "parley/learn/fitness.h"
#include "parley/learn/kernel/kernel.h"
#include "support/entropy.h"
#include "support/texts.h"

namespace parley::learn {
namespace real_data_test {

constexpr size_t kOwners = 10, kColumns = 123;
constexpr double kL2 = 1e-3;

class RealDataFederated : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("PARLEY_DATA");
    if (!folder) GTEST_SKIP() << "PARLEY_DATA is unset";
    auto read =
        data::read_libsvm_sparse(std::string(folder) + "/a9a/a9a.zst", test::numbers(kColumns));
    ASSERT_TRUE(read);
    // 14 attributes of one each: a factor that is public brings every record to norm 1.
    auto scaled = std::make_shared<data::SparseRows>(kColumns);
    for (size_t i = 0; i < read->rows.size(); ++i) {
      std::vector<double> values(read->rows.row_values(i).size(), 1 / std::sqrt(14.));
      scaled->add(read->rows.row_indices(i), values, read->rows.label(i));
    }
    all_ = std::get<1>(shrunk(std::shared_ptr<const data::SparseRows>(scaled), 1));
    fitness_.emplace(Logistic{}, kColumns, kL2, 2);
    fitness_->add(*all_);
    best_ = fitness_->minimum(1e5).fitness;
  }

  /// Ten owners of 3,256 records each, in this order of all.
  std::vector<data::SparseRows> owners(const std::vector<size_t>& order) const {
    const size_t each = all_->size() / kOwners;
    std::vector<data::SparseRows> owners;
    for (size_t k = 0; k < kOwners; ++k) {
      data::SparseRows& rows = owners.emplace_back(kColumns);
      for (size_t i = k * each; i < (k + 1) * each; ++i)
        rows.add(all_->row_indices(order[i]), all_->row_values(order[i]), all_->label(order[i]));
    }
    return owners;
  }

  std::vector<size_t> shuffled() const {
    std::vector<size_t> order(all_->size());
    std::iota(order.begin(), order.end(), size_t{0});
    test::SeededEntropy entropy(1, "owners");
    for (size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[entropy.word() % left]);
    return order;
  }

  /// Excess objective after 200 steps, K at a time: mean of the last quarter of the rounds.
  double excess(const std::vector<data::SparseRows>& owners, int64_t steps) const {
    const int64_t rounds = 200 / steps, tail = std::max<int64_t>(1, rounds / 4);
    const LocalUpdate update = *LocalUpdate::make({.l2 = kL2,
                                                   .step = 3.5,
                                                   .steps = steps,
                                                   .box = 1e5,
                                                   .weight = 1. / kOwners,
                                                   .rows = owners[0].size(),
                                                   .dimension = kColumns});
    std::vector<double> theta(kColumns), mean(kColumns);
    for (int64_t round = 0; round < rounds; ++round) {
      const std::vector<double> start = theta;
      for (const data::SparseRows& rows : owners) {
        const auto moved = update.run(start, [&](std::span<const double> at) {
          const auto sum = lattice_sum<L2>(Logistic{}, update.lattice(), at, rows, 0, rows.size());
          std::vector<double> gradient;
          for (const int64_t q : sum)
            gradient.push_back(double(q) * (update.lattice().gamma() / double(rows.size())));
          return gradient;
        });
        for (size_t j = 0; j < kColumns; ++j) theta[j] += moved[j];
      }
      if (round >= rounds - tail)
        for (size_t j = 0; j < kColumns; ++j) mean[j] += theta[j] / double(tail);
    }
    return fitness_->at(mean) - best_;
  }

  std::shared_ptr<const data::SparseRows> all_;
  std::optional<Fitness> fitness_;
  double best_ = 0;
};

TEST_F(RealDataFederated, ManyLocalStepsCostNothingWhereOwnersAreAlike) {
  EXPECT_NEAR(best_, .38309, 5e-6);
  const auto alike = owners(shuffled());
  EXPECT_NEAR(excess(alike, 1), .0017, .0001);
  EXPECT_NEAR(excess(alike, 10), .0016, .0001);
  EXPECT_NEAR(excess(alike, 50), .0012, .0001);
}

TEST_F(RealDataFederated, TheyDriftApartWhereLabelsAreSorted) {
  auto order = shuffled();
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all_->label(a) < all_->label(b); });
  const auto sorted = owners(order);
  EXPECT_NEAR(excess(sorted, 1), .0017, .0001);
  EXPECT_NEAR(excess(sorted, 2), .0041, .0002);
  EXPECT_NEAR(excess(sorted, 10), .0371, .0006);
  EXPECT_NEAR(excess(sorted, 50), .1313, .0015);
}

}  // namespace real_data_test
}  // namespace parley::learn
