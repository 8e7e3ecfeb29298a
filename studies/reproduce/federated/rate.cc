// H-rate: how the price of privacy falls with records and budget, and grows with columns.
#include <cmath>

#include "parley/base/math/number.h"
#include "parley/base/math/seeded_random.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/federated/training.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace federated {
namespace {

constexpr size_t kRateOwners = 10;
constexpr double kRateL2 = 1e-2;

/// Records of norm 1 in any direction, labels by a logistic model.
Owners made(size_t each, size_t columns, uint64_t seed) {
  SeededRandom random(seed, 82);
  std::vector<double> truth(columns), z(columns);
  for (double& value : truth) value = 3 * random.normal();
  std::vector<data::AnyRows> owners;
  for (size_t k = 0; k < kRateOwners; ++k) {
    auto rows = std::make_shared<data::Rows>(columns);
    for (size_t i = 0; i < each; ++i) {
      double squares = 0, score = 0;
      for (double& value : z) value = random.normal(), squares += value * value;
      for (double& value : z) value /= 1.0000001 * std::sqrt(squares);
      for (size_t j = 0; j < columns; ++j) score += truth[j] * z[j];
      rows->add(z, random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1);
    }
    owners.push_back(std::shared_ptr<const data::Rows>(rows));
  }
  return {std::move(owners), kRateL2};
}

/// T = 100 local steps, K = 5.
Plan plan_of_rate() { return {.steps = 5, .total = 100}; }

/// What noise adds to the objective: Algorithm 1 as printed.
Result<Estimate> price_as_printed(const Owners& owners, double epsilon, uint64_t runs,
                                  const Study& study) {
  const auto excess = [&](double at) {
    return excess_as_printed(owners, printed_rule(plan_of_rate(), at), runs, study);
  };
  const Estimate noisy = excess(epsilon);
  if (!study.go_on(runs)) return Error{Code::kFailed, "interrupted"};
  return Estimate{noisy.value - excess(kAny).value, noisy.error};
}

/// The same with noise on the sum, tightly accounted for, and an average of the last rounds.
Result<Estimate> price(const Owners& owners, double epsilon, uint64_t runs, const Study& study) {
  Plan plan = plan_of_rate();
  const double plain = mean_excess(owners, plan, 1, study).value;
  plan.deviation = TRY(deviation_for(owners, plan, epsilon));
  const Estimate noisy = mean_excess(owners, plan, runs, study);
  if (!study.go_on(runs)) return Error{Code::kFailed, "interrupted"};
  return Estimate{noisy.value - plain, noisy.error};
}

Panel panel_of(const char* label, const Curve& curve, double slope) {
  return {.title = "",
          .x = {.label = label, .unit = "", .log = true},
          .y = {.label = "objective that noise adds", .unit = "", .log = true},
          .series = {curve.series("as printed"), curve.line(slope, "claimed")}};
}

}  // namespace
}  // namespace federated

using namespace federated;

Result<Figure> federated_rate(const Study& study) {
  const uint64_t runs = study.runs_or(64, 4);
  const std::vector<double> epsilons = {.5, 1, 2, 4}, sizes = {250, 500, 1000, 2000},
                            columns = {10, 20, 40, 80};
  const size_t usual = study.quick ? 250 : 1000;
  study.expect((2 * epsilons.size() + sizes.size() + columns.size()) * runs);
  Curve by_epsilon, tight, by_size, by_columns;
  const Owners owners = made(usual, 20, study.seed);
  for (double epsilon : epsilons) {
    by_epsilon.add(epsilon, TRY(price_as_printed(owners, epsilon, runs, study)));
    tight.add(epsilon, TRY(price(owners, epsilon, runs, study)));
  }
  for (double size : sizes) {
    const size_t each = size_t(size) / (study.quick ? 4 : 1);
    by_size.add(double(each), TRY(price_as_printed(made(each, 20, study.seed), 1, runs, study)));
  }
  for (double count : columns)
    by_columns.add(count,
                   TRY(price_as_printed(made(usual, size_t(count), study.seed), 1, runs, study)));
  Figure figure = federated_figure(
      study, "H-rate", "Theorem 4", "the price of privacy in n, d and ε",
      "[…] we have the following excess empirical risk: E[J(θ^T)] − J(θ*) ≤ 2L/(λ(γ+T)) (B/λ + "
      "2L‖θ⁰ − θ*‖²), where B = 6LΓ + 8(K−1)²G² + d · 8G²T log(1/δ)/(m²n₍₁₎²ε²).");
  figure.runs = runs;
  figure.panels = {panel_of("privacy budget ε", by_epsilon, -2),
                   panel_of("records of each owner", by_size, -2),
                   panel_of("columns d", by_columns, 1)};
  figure.panels[0].series.push_back(tight.series("noise on the sum, tight", true));
  Measure dimension = between("slope over d", by_columns.slope(), .8, 1.2);
  dimension.paper = 1, dimension.kind = Quantity::kExponent;
  figure.measures = {slope_of_two("slope over ε", by_epsilon),
                     slope_of_two("slope over the records of each owner", by_size), dimension,
                     beside("slope over ε, noise on the sum, tight accounting", tight.slope())};
  figure.settings = {
      {"algorithm", "Algorithm 1 as printed: every party draws equation (2)'s noise"},
      {"model", "logistic regression, λ = 0.01, records of norm 1 in any direction"},
      {"owners", "10; T = 100 local steps of length 3.5, K = 5"}};
  figure.note =
      "The term of B that noise brings: its powers of ε, n and d. That the bound is the best "
      "possible is the paper's second open question, and is not settled by a measurement.";
  figure.data = "made for this";
  return figure;
}

}  // namespace parley::reproduce
