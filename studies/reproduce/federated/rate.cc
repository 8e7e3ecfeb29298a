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

using Deviation = Result<double>(const Owners&, const Plan&, double);

/// What noise adds to the objective.
Result<Estimate> price(const Owners& owners, Deviation* deviation, double epsilon, uint64_t runs,
                       const Study& study) {
  Plan plan{.steps = 5, .total = 100};
  const double plain = mean_excess(owners, plan, 1, study).value;
  plan.deviation = TRY(deviation(owners, plan, epsilon));
  const Estimate noisy = mean_excess(owners, plan, runs, study);
  if (!study.go_on(runs)) return Error{Code::kFailed, "interrupted"};
  return Estimate{noisy.value - plain, noisy.error};
}

Panel panel_of(const char* label, const Curve& curve, double slope) {
  return {.title = "",
          .x = {.label = label, .unit = "", .log = true},
          .y = {.label = "objective that noise adds", .unit = "", .log = true},
          .series = {curve.series("measured", true), curve.line(slope)}};
}

}  // namespace
}  // namespace federated

using namespace federated;

Result<Figure> federated_rate(const Study& study) {
  const uint64_t runs = study.runs_or(48, 4);
  const std::vector<double> epsilons = {.5, 1, 2, 4}, sizes = {250, 500, 1000, 2000},
                            columns = {10, 20, 40, 80};
  const size_t usual = study.quick ? 250 : 1000;
  study.expect((2 * epsilons.size() + sizes.size() + columns.size()) * runs);
  Curve by_epsilon, tight, by_size, by_columns;
  const Owners owners = made(usual, 20, study.seed);
  for (double epsilon : epsilons) {
    by_epsilon.add(epsilon, TRY(price(owners, deviation_as_printed, epsilon, runs, study)));
    tight.add(epsilon, TRY(price(owners, deviation_for, epsilon, runs, study)));
  }
  for (double size : sizes) {
    const size_t each = size_t(size) / (study.quick ? 4 : 1);
    by_size.add(double(each),
                TRY(price(made(each, 20, study.seed), deviation_for, 1, runs, study)));
  }
  for (double count : columns)
    by_columns.add(
        count, TRY(price(made(usual, size_t(count), study.seed), deviation_for, 1, runs, study)));
  Figure figure = federated_figure(
      study, "H-rate", "Theorem 4, discussion", "the price of privacy in n, d and ε",
      "B = … + d 8G²T log(1/δ)/(m²n₍₁₎²ε²): the noise's part of the excess empirical risk falls "
      "with "
      "the squares of records and budget and grows with the dimension.");
  figure.runs = runs;
  figure.panels = {panel_of("privacy budget ε", by_epsilon, -2),
                   panel_of("records of each owner", by_size, -2),
                   panel_of("columns d", by_columns, 1)};
  figure.panels[0].series[0].name = "equation (2), once";
  figure.panels[0].series[0].sound = false;
  figure.panels[0].series.push_back(tight.series("tight accounting", true));
  Measure dimension = measured("slope over d", by_columns.slope());
  dimension.paper = 1, dimension.least = .8, dimension.most = 1.2;
  figure.measures = {slope_of_two("slope over ε, noise by equation (2) once", by_epsilon),
                     slope_of_two("slope over the records of each owner", by_size), dimension,
                     beside("slope over ε with tight accounting", tight.slope())};
  figure.settings = {{"model", "logistic regression, λ = 0.01, records of norm 1 in any direction"},
                     {"owners", "10; T = 100 local steps of length 3.5, K = 5"},
                     {"slopes", "−2 give or take 0.1, 1 give or take 0.2"}};
  figure.note =
      "The rate is that of the sound version; whether it is the best possible is the "
      "paper's second open question, and is not settled by a measurement.";
  figure.data = "made for this";
  return figure;
}

}  // namespace parley::reproduce
