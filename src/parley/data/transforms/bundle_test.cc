#include "parley/data/transforms/bundle.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <thread>

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

MatrixXd features_of(const Bundle& bundle, const Rows& rows) {
  Transform transform(bundle);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> z(rows.size(),
                                                                           transform.features());
  for (size_t i = 0; i < rows.size(); ++i)
    transform.apply(rows.row(i), {z.row(i).data(), transform.features()});
  return z;
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
  TupleBytes bits;
  for (Eigen::Index i = 0; i < whole.size(); ++i) bits.add(whole.data()[i]);
  EXPECT_EQ(to_hex(bits.sha256()),
            "7aaaaef79c775fc05630852d930577301c2ddc6a61078c6fd0dbac164a752a00");
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

TEST(Bundle, ComesBackFromItsFileBitForBitAndHasOneText) {
  for (const FitOptions& options : {FitOptions{}, {.whiten = true}, everything()}) {
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

TEST(Bundle, DamagedFilesAreErrorsNeverCrashes) {
  const std::string text = to_json(fitted(everything()));
  std::mt19937_64 random(1);
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
}

}  // namespace bundle_test
}  // namespace parley::data
