#include "parley/data/transforms/bundle.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <thread>

#include "parley/base/math/eigen.h"
#include "parley/base/math/seeded_random.h"
#include "parley/data/rows.h"
#include "parley/data/schema.h"
#include "parley/data/transforms/transform.h"

namespace parley::data {
namespace bundle_test {

using Eigen::MatrixXd;

Schema schema() {
  Schema schema;
  schema.columns = {
      {.name = "amount", .low = 0, .high = 1e6, .log = true},
      {.name = "age", .low = 0, .high = 120},
      {.name = "home", .kind = Column::Kind::kCategory, .levels = {"RENT", "OWN"}, .other = true},
      {.name = "same", .low = 0, .high = 10}};
  schema.target = {.column = "rate", .low = 0, .high = 1};
  schema.bias = true;
  return schema;
}

/// Encoded columns: amount, age, home=RENT, home=OWN, home=other, same.
Rows pilot(size_t rows = 2000, uint64_t seed = 1) {
  Rows pilot(6);
  SeededRandom random(seed, 0);
  for (size_t i = 0; i < rows; ++i) {
    const double wealth = random.normal(), age = 40 + 10 * random.normal();
    const int home = random.index(20) == 0 ? 2 : random.index(2);
    const double z[] = {9 + wealth,        age, double(home == 0), double(home == 1),
                        double(home == 2), 3.1};
    pilot.add(z, .3 * wealth + .02 * age + .1 * random.normal());
  }
  return pilot;
}

Bundle fitted(const FitOptions& options = {}) {
  const auto bundle = fit_bundle(pilot(), schema(), sha256({}), options);
  EXPECT_TRUE(bundle) << describe(bundle.error());
  return *bundle;
}

FitOptions everything() {
  return {.top = 4,
          .components = 3,
          .whiten = true,
          .fourier = Bundle::Fourier{.features = 20, .seed = 9, .scale = 2.5}};
}

/// age <= 40 ? (amount <= 9 ? 1 : 2) : 3, and whether somebody rents.
Trees two_trees() {
  return {.columns = 6,
          .base = .5,
          .trees = {{.splits = {{1, 1, 40}, {2, 0, 9}}, .values = {-1, 0, 1}},
                    {.splits = {{1, 2, .5}}, .values = {2, 3}}}};
}

FitOptions with_trees() {
  FitOptions options;
  options.trees = two_trees();
  return options;
}

std::vector<double> features_of(const Bundle& bundle, const std::vector<double>& encoded) {
  Transform transform(bundle);
  std::vector<double> z(transform.features());
  transform.apply(encoded, z);
  return z;
}

MatrixXd features_of(const Bundle& bundle, const Rows& rows) {
  Transform transform(bundle);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> z(rows.size(),
                                                                           transform.features());
  for (size_t i = 0; i < rows.size(); ++i)
    transform.apply(rows.row(i), {z.row(i).data(), transform.features()});
  return z;
}

std::string bits_of(const MatrixXd& z) {
  TupleBytes bits;
  for (Eigen::Index i = 0; i < z.size(); ++i) bits.add(z.data()[i]);
  return to_hex(bits.sha256());
}

MatrixXd covariance(const MatrixXd& z) {
  const MatrixXd centred = z.rowwise() - z.colwise().mean();
  return centred.transpose() * centred / double(z.rows() - 1);
}

TEST(Bundle, WhitenedFeaturesOfThePilotHaveMeanZeroAndCovarianceOne) {
  for (size_t components : {0, 1, 4}) {
    const Bundle bundle = fitted({.components = components, .whiten = true});
    const size_t expected = components > 0 ? components : 4;
    ASSERT_EQ(bundle.features().size(), expected)
        << "six columns, one constant, one the sum of two others";
    const MatrixXd z = features_of(bundle, pilot());
    EXPECT_LT(z.colwise().mean().cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LT((covariance(z) - MatrixXd::Identity(expected, expected)).cwiseAbs().maxCoeff(),
              1e-10);
  }
}

TEST(Bundle, WithoutRotationEveryFeatureHasMeanZeroAndVarianceOne) {
  const Bundle bundle = fitted();
  EXPECT_EQ(bundle.features(),
            (std::vector<std::string>{"amount", "age", "home=RENT", "home=OWN", "home=other"}))
      << "`same` never varies";
  const MatrixXd z = features_of(bundle, pilot());
  EXPECT_LT(z.colwise().mean().cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((covariance(z).diagonal().array() - 1).abs().maxCoeff(), 1e-12);
}

TEST(Bundle, ComponentsWithoutWhiteningKeepTheirVariances) {
  const Bundle bundle = fitted({.components = 3});
  const MatrixXd of_all = covariance(features_of(fitted(), pilot()));
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<MatrixXd>(of_all).eigenvalues().reverse();
  const MatrixXd kept = covariance(features_of(bundle, pilot()));
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(kept(k, k), values[k], 1e-10);
    EXPECT_NEAR(bundle.rotate->explained[k], values[k] / 5, 1e-10);
  }
}

TEST(Bundle, TopKeepsTheColumnsThatTheNamedRulePrefers) {
  const Bundle correlated = fitted({.top = 2});
  EXPECT_EQ(correlated.select, (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(correlated.select_by, Bundle::SelectBy::kCorrelation);
  const Bundle varying = fitted({.top = 1, .by = Bundle::SelectBy::kVariance});
  EXPECT_EQ(varying.select, (std::vector<uint64_t>{1})) << "age has the largest numbers";
}

TEST(Bundle, ConstantsCoverAllButOneRowInAThousandOfThePilot) {
  const Bundle bundle = fitted({.components = 3, .whiten = true});
  const MatrixXd z = features_of(bundle, pilot());
  EXPECT_EQ((z.cwiseAbs().rowwise().sum().array() > bundle.max_l1 * (1 + 1e-12)).count(), 2);
  EXPECT_EQ((z.rowwise().norm().array() > bundle.max_l2 * (1 + 1e-12)).count(), 2);
}

// A published model must mean the same everywhere: these bits may only change with the format.
TEST(Bundle, HasTheSameBitsOnEveryMachineAndThread) {
  const Bundle bundle = fitted(everything());
  EXPECT_EQ(to_hex(hash_of(bundle)),
            "3d32d960f66d46a927e3a52e1287f0f93659d26c2f17805b634b3bca1126a3d7");
  const MatrixXd whole = features_of(bundle, pilot());
  MatrixXd other;
  std::thread thread([&] { other = features_of(bundle, pilot()); });
  thread.join();
  EXPECT_EQ(whole, other);
  EXPECT_EQ(bits_of(whole), "7aaaaef79c775fc05630852d930577301c2ddc6a61078c6fd0dbac164a752a00");
}

TEST(Bundle, ARowDoesNotDependOnTheRowsBeforeIt) {
  Transform transform(fitted(everything()));
  const Rows rows = pilot(50);
  std::vector<double> alone(20), after(20);
  Transform(fitted(everything())).apply(rows.row(49), alone);
  const std::vector<double> odd(6, std::nan(""));
  transform.apply(odd, after);
  for (size_t i = 0; i < 50; ++i) transform.apply(rows.row(i), after);
  EXPECT_EQ(alone, after);
}

// A product of two of 4095 features has a variance of at most 1/2 per feature about the kernel: six
// deviations of the mean are 6 sqrt(.5/4095) < .07.
TEST(Bundle, FourierFeaturesApproachTheGaussianKernel) {
  const Bundle::Fourier fourier{.features = 4095, .seed = 3, .scale = 2};
  const Rows rows = pilot(12, 5);
  const MatrixXd x = features_of(fitted(), rows);
  const MatrixXd z = features_of(fitted({.fourier = fourier}), rows);
  for (int a = 0; a < 12; ++a)
    for (int b = 0; b < 12; ++b) {
      const double kernel = std::exp(-(x.row(a) - x.row(b)).squaredNorm() / (2 * 4));
      EXPECT_NEAR(z.row(a).dot(z.row(b)), kernel, .07);
    }
  auto other = fourier;
  other.seed = 4;
  EXPECT_NE(features_of(fitted({.fourier = other}), rows), z);
}

TEST(Bundle, LeavesOfTreesAreFeaturesAfterTheColumns) {
  const Bundle bundle = fitted(with_trees());
  EXPECT_EQ(bundle.features(),
            (std::vector<std::string>{"amount", "age", "home=RENT", "home=OWN", "home=other",
                                      "tree1=1", "tree1=2", "tree1=3", "tree2=1", "tree2=2"}));
  const double on = 2 / std::sqrt(2.);
  const auto leaves = [&](const std::vector<double>& record) {
    const std::vector<double> z = features_of(bundle, record);
    return std::vector(z.begin() + 5, z.end());
  };
  EXPECT_EQ(leaves({8, 30, 1, 0, 0, 3}), (std::vector{on, 0., 0., 0., on}));
  EXPECT_EQ(leaves({10, 40, 0, 1, 0, 3}), (std::vector{0., on, 0., on, 0.}));
  EXPECT_EQ(leaves({10, 41, 0, 1, 0, 3}), (std::vector{0., 0., on, on, 0.}));
}

TEST(Bundle, WithTreesColumnsAndLeavesHaveLengthTwoAndNoNumberIsFarOut) {
  const Bundle bundle = fitted(with_trees());
  const MatrixXd z = features_of(bundle, pilot());
  const double side = 2 / std::sqrt(5.);  // of a number one deviation from its mean
  EXPECT_LT(z.leftCols(2).colwise().mean().cwiseAbs().maxCoeff(), 1e-3);
  for (int j = 0; j < 4; ++j) EXPECT_NEAR(std::sqrt(covariance(z)(j, j)), side, 1e-2 * side);
  EXPECT_NEAR(z.leftCols(5).maxCoeff(), 4 * side, 1e-12) << "home=other is rare: 4.4 deviations";
  EXPECT_NEAR((z.rightCols(5).rowwise().norm().array() - 2).abs().maxCoeff(), 0, 1e-15);
  EXPECT_GE(bundle.max_l2, 2) << "covers the leaves, too";
}

TEST(Bundle, LengthIsThatOfTheFeaturesWhateverTheyAre) {
  const auto mean_square = [](const FitOptions& options) {
    return features_of(fitted(options), pilot()).rowwise().squaredNorm().mean();
  };
  EXPECT_NEAR(mean_square({.length = 3}), 9, 9. / 1999);
  EXPECT_NEAR(mean_square({.top = 2, .length = 3}), 9, 9. / 1999);
  EXPECT_NEAR(mean_square({.components = 3, .whiten = true, .length = 3}), 9, 9. / 1999);
  FitOptions both = with_trees();
  both.components = 3, both.whiten = true;
  EXPECT_NEAR(mean_square(both), 8, 8. / 1999) << "components, and leaves as long";
  EXPECT_EQ(fitted(both).cut, 0);
}

TEST(Bundle, ACutMovesWhatIsFartherAndNothingElse) {
  const Bundle plain = fitted(), cut = fitted({.cut = 1.5});
  const MatrixXd all = features_of(plain, pilot());
  EXPECT_EQ(features_of(cut, pilot()), all.cwiseMin(1.5).cwiseMax(-1.5));
  EXPECT_TRUE(std::isnan(features_of(cut, std::vector(6, std::nan("")))[0]));
}

// As HasTheSameBitsOnEveryMachineAndThread.
TEST(Bundle, WithTreesHasTheSameBitsEverywhere) {
  const Bundle bundle = fitted(with_trees());
  EXPECT_EQ(to_hex(hash_of(bundle)),
            "ea3a825d0e42ef5f78e286b4666413493b7ffa97c33782c6fa23aab277e62d7e");
  EXPECT_EQ(bits_of(features_of(bundle, pilot())),
            "0b5ff6d7247eb99894ea7191ab9b5b7175c0a1b1fa8f7e3c1ad88337e2652b29");
}

TEST(Bundle, ComesBackFromItsFileBitForBitAndHasOneText) {
  FitOptions cut_and_long{.top = 3, .cut = 3, .length = 5};
  for (const FitOptions& options :
       {FitOptions{}, {.whiten = true}, everything(), cut_and_long, with_trees()}) {
    const Bundle bundle = fitted(options);
    const std::string text = to_json(bundle);
    const auto back = bundle_from_json(text, "bundle.json");
    ASSERT_TRUE(back) << describe(back.error());
    EXPECT_EQ(*back, bundle);
    EXPECT_EQ(hash_of(*back), sha256(as_bytes(text)));
    EXPECT_FALSE(bundle_from_json(text + " ", "bundle.json"));
    std::string blank = text;
    EXPECT_FALSE(bundle_from_json(blank.insert(1, " "), "bundle.json"));
  }
}

TEST(Bundle, FilesWhoseListsDoNotFitAreRefusedWithTheirKey) {
  const auto refused_key = [](auto change) {
    Bundle bundle = fitted(everything());
    change(bundle);
    const auto back = bundle_from_json(to_json(bundle), "bundle.json");
    return back ? "accepted" : back.error().where.key;
  };
  EXPECT_EQ(refused_key([](Bundle&) {}), "accepted");
  EXPECT_EQ(refused_key([](Bundle& b) { b.mean.pop_back(); }), "mean");
  EXPECT_EQ(refused_key([](Bundle& b) { b.scale[1] = 0; }), "scale");
  EXPECT_EQ(refused_key([](Bundle& b) { b.scale.push_back(1); }), "scale");
  EXPECT_EQ(refused_key([](Bundle& b) { b.select.back() = 6; }), "select");
  EXPECT_EQ(refused_key([](Bundle& b) { b.select[1] = b.select[0]; }), "select");
  EXPECT_EQ(refused_key([](Bundle& b) { b.select.clear(); }), "select");
  EXPECT_EQ(refused_key([](Bundle& b) { b.rotate->matrix.pop_back(); }), "rotate.matrix_row_major");
  EXPECT_EQ(refused_key([](Bundle& b) { b.rotate->explained.assign(5, 0); }), "rotate.components");
  EXPECT_EQ(refused_key([](Bundle& b) { b.fourier->features = 1u << 31; }), "fourier.features");
  EXPECT_EQ(refused_key([](Bundle& b) { b.fourier->scale = -1; }), "fourier.scale");
  EXPECT_EQ(refused_key([](Bundle& b) { b.max_l1 = std::nan(""); }), "");
}

TEST(Bundle, TreesThatDoNotFitAreRefusedWithTheirKey) {
  const auto refused_key = [](auto change) {
    Bundle bundle = fitted(with_trees());
    change(bundle, bundle.trees->trees);
    const auto back = bundle_from_json(to_json(bundle), "bundle.json");
    return back ? "accepted" : back.error().where.key;
  };
  const auto many = [](size_t count) {
    return [=](Bundle&, Trees& trees) { trees.trees.assign(count, trees.trees[1]); };
  };
  EXPECT_EQ(refused_key([](Bundle&, Trees&) {}), "accepted");
  EXPECT_EQ(refused_key([](Bundle&, Trees& trees) { trees.columns = 5; }), "trees.columns");
  EXPECT_EQ(refused_key([](Bundle&, Trees& trees) { trees.columns = 7; }), "trees.columns");
  EXPECT_EQ(refused_key([](Bundle&, Trees& trees) { trees.trees[1].splits[0].column = 6; }),
            "trees.trees[1].column");
  EXPECT_EQ(refused_key(many(0)), "trees.trees");
  EXPECT_EQ(refused_key(many(1000)), "accepted") << "2,005 features";
  EXPECT_EQ(refused_key(many(1001)), "trees.trees");
  EXPECT_EQ(refused_key([](Bundle& bundle, Trees&) { bundle.trees->leaf = 0; }), "trees.leaf");
  EXPECT_EQ(refused_key([](Bundle& bundle, Trees&) { bundle.trees->leaf = 1e141; }), "trees.leaf");
  EXPECT_EQ(refused_key([](Bundle& bundle, Trees&) { bundle.cut = -1; }), "accepted")
      << "is not written: no cut";
}

// 4,095 features and the bias are the most that a record has.
TEST(Bundle, MoreFeaturesThanARecordHasAreRefused) {
  const auto trees = [](size_t leaves_of_last) {
    Trees trees = two_trees();
    Tree full;
    for (uint64_t at = 1; at < 16; ++at) full.splits.push_back({at, 0, 0});
    full.values.assign(16, 1);
    trees.trees.assign(255, full);  // 4,080 leaves, and five columns
    for (size_t more = 2; more < leaves_of_last + 2; more += 2)
      trees.trees.push_back(two_trees().trees[1]);
    return trees;
  };
  for (const auto& [leaves, fits] : {std::pair{size_t{10}, true}, {size_t{12}, false}}) {
    FitOptions options;
    options.trees = trees(leaves);
    EXPECT_EQ(bool(fit_bundle(pilot(), schema(), {}, options)), fits);
    Bundle bundle = fitted(with_trees());
    bundle.trees->trees = trees(leaves);
    EXPECT_EQ(bool(bundle_from_json(to_json(bundle), "bundle.json")), fits);
  }
}

TEST(Bundle, DamagedFilesAreErrorsNeverCrashes) {
  std::mt19937_64 random(1);
  for (const std::string& text : {to_json(fitted(everything())), to_json(fitted(with_trees()))})
    for (int run = 0; run < 3000; ++run) {
      std::string damaged = text;
      damaged[random() % damaged.size()] = static_cast<char>(random());
      damaged.resize(random() % 4 == 0 ? random() % damaged.size() : damaged.size());
      if (const auto bundle = bundle_from_json(damaged, "b")) Transform{*bundle};
    }
}

TEST(Bundle, BelongsToItsColumns) {
  const Bundle bundle = fitted();
  EXPECT_TRUE(check_fits(bundle, schema()));
  const auto fits = [&](auto change) {
    Schema other = schema();
    change(other);
    return bool(check_fits(bundle, other));
  };
  EXPECT_TRUE(fits([](Schema& s) { s.bias = false; }));
  EXPECT_FALSE(fits([](Schema& s) { s.columns[0].log = false; }));
  EXPECT_FALSE(fits([](Schema& s) { s.columns[1].high = 121; }));
  EXPECT_FALSE(fits([](Schema& s) { s.columns[2].levels[0] = "rent"; }));
  EXPECT_FALSE(fits([](Schema& s) { s.columns[2].encode = Column::Encode::kInteger; }));
  EXPECT_FALSE(fits([](Schema& s) { s.columns.pop_back(); }));
}

TEST(Bundle, ImpossibleFitsAreErrors) {
  const auto fits = [](const Rows& rows, const FitOptions& options) {
    return bool(fit_bundle(rows, schema(), {}, options));
  };
  EXPECT_TRUE(fits(pilot(), {.top = 5}));
  EXPECT_FALSE(fits(pilot(), {.top = 6})) << "one of six never varies";
  EXPECT_FALSE(fits(pilot(), {.components = 5, .whiten = true})) << "four directions vary";
  EXPECT_TRUE(fits(pilot(), {.components = 5}));
  EXPECT_FALSE(fits(pilot(), {.components = 6}));
  EXPECT_FALSE(fits(pilot(1), {}));
  EXPECT_FALSE(fits(pilot(), {.fourier = Bundle::Fourier{.features = 4096}}));
  EXPECT_FALSE(fits(pilot(), {.fourier = Bundle::Fourier{.features = 9, .scale = 0}}));
  EXPECT_FALSE(fits(pilot(), {.cut = 0}));
  EXPECT_FALSE(fits(pilot(), {.length = 1e7}));
  EXPECT_FALSE(fits(pilot(), {.components = 2, .cut = 4})) << "columns are cut, not components";
  FitOptions both = everything();
  both.trees = two_trees();
  EXPECT_FALSE(fits(pilot(), both)) << "leaves or Fourier features";
}

}  // namespace bundle_test
}  // namespace parley::data
