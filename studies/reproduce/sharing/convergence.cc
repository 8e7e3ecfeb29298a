// V-F1 and V-F2: how fast sharing by ADMM converges, beside stochastic gradients.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "studies/reproduce/curve.h"
#include "studies/reproduce/figures.h"
#include "studies/reproduce/sharing/traces.h"

namespace parley::reproduce {
namespace sharing {
namespace {

learn::AdmmOptions papers(double lam, double rho) {
  return {.lam = lam, .rho = rho, .scaling = learn::Scaling::kPaper, .warm = false};
}

/// The first epoch within a thousandth of the optimum; unknown if none is.
double epochs_to(const Trace& trace, double optimum) {
  for (size_t k = 0; k < trace.objective.size(); ++k)
    if (trace.objective[k] <= 1.001 * optimum) return double(k + 1);
  return kUnknown;
}

std::vector<Panel> panels(const std::vector<std::pair<std::string, Trace>>& traces,
                          const Alone& optimum) {
  Panel objective{.title = "training", .x = epochs(), .y = objective_axis()};
  Panel test{.title = "testing", .x = epochs(), .y = test_axis()};
  for (size_t k = 0; k < traces.size(); ++k) {
    const auto& [name, trace] = traces[k];
    objective.series.push_back(trace.objectives(name, k == 0));
    test.series.push_back(trace.test_losses(name, k == 0));
  }
  const auto level = [](double y) {
    return Series{.name = "all columns in one place", .kind = Series::Kind::kLevel, .y = {y}};
  };
  objective.series.push_back(level(optimum.objective));
  test.series.push_back(level(optimum.test_loss));
  return {objective, test};
}

struct Tuned {
  double step = 0;
  double least = 0, most = 0;  // of the steps tried
};

/// Of steps by factors of the root of ten the one that is furthest after the last epoch; as many
/// are tried as it takes for the best to have one on either side.
Tuned best_gradients(const ColumnsApart& columns, double lam, const Study& study) {
  std::map<int, Trace> tried;
  const auto step_of = [](int k) { return std::pow(10, k / 2.0); };
  const auto end_of = [&](int k) {
    if (!tried.contains(k)) tried[k] = by_gradients(columns, lam, step_of(k), study);
    const double end = tried[k].objective.back();
    return std::isfinite(end) ? end : kAny;
  };
  int best = -5;  // 0.00316
  for (bool moved = true; moved;) {
    moved = false;
    for (int beside : {best - 1, best + 1})
      if (end_of(beside) < end_of(best)) best = beside, moved = true;
  }
  return {step_of(best), step_of(tried.begin()->first), step_of(tried.rbegin()->first)};
}

/// Stochastic gradients over orders of the records, each also from another start.
std::vector<Trace> orders_of(const ColumnsApart& columns, double lam, double step, uint64_t runs,
                             Study study) {
  std::vector<Trace> traces;
  for (uint64_t run = 0; run < runs; ++run, ++study.seed)
    traces.push_back(by_gradients(columns, lam, step, study));
  return traces;
}

Estimate mean_over(const std::vector<Trace>& traces,
                   const std::function<double(const Trace&)>& one) {
  const double n = double(traces.size());
  double mean = 0, squares = 0;
  for (const Trace& trace : traces) mean += one(trace) / n;
  for (const Trace& trace : traces) squares += std::pow(one(trace) - mean, 2);
  return {mean, std::sqrt(squares / (n * (n - 1)))};
}

double end_of(const Trace& trace) { return trace.test_loss.back(); }

Measure over_orders(Measure measure, const std::vector<Trace>& traces) {
  measure.runs = traces.size();
  return measure;
}

}  // namespace
}  // namespace sharing

using namespace sharing;

Result<Figure> sharing_census(const Study& study) {
  const SharedColumns columns = TRY(census_columns(study));
  constexpr double kLam = 1;
  const Alone optimum = all_in_one_place(*columns, kLam, study);
  const Trace ours = by_admm(*columns, {.lam = kLam}, study);
  const Trace paper = by_admm(*columns, papers(kLam, .15), study);
  const Trace small = by_admm(*columns, papers(kLam, .03), study);
  const uint64_t runs = study.runs_or(8, 2);
  const Trace again = by_admm(*columns, papers(kLam, .3), study);
  const std::vector<Trace> orders = orders_of(*columns, kLam, 1, runs, study);
  const Estimate ended = mean_over(orders, end_of);
  const Estimate third = mean_over(orders, [](const Trace& trace) { return trace.objective[2]; });
  Figure figure = sharing_figure(
      study, "V-F1", "Figure 1", "two parties share attributes of persons",
      "On a9a, the ADMM algorithm is slightly slower than the SGD based algorithm, while they "
      "reach the same testing log loss in the end.");
  figure.panels = panels({{"Boyd et al., ρ = 0.1", ours},
                          {"as printed, ρ = 0.15", paper},
                          {"SGD, step 1/√epoch", orders[0]}},
                         optimum);
  Measure same = between("test log loss after 20 epochs, SGD over ADMM as printed",
                         ratio(ended, {end_of(paper), 0}), .99, 1.01);
  same.paper = 1;
  Measure slower = between("objective after 3 epochs, ADMM as printed over SGD",
                           ratio({paper.objective[2], 0}, third), 1, 2);
  same.fitted = slower.fitted = true;
  figure.measures = {
      over_orders(slower, orders),
      over_orders(same, orders),
      beside("objective after 3 epochs, ADMM as printed with ρ = 0.3 over SGD",
             ratio({again.objective[2], 0}, third)),
      beside("test log loss after 20 epochs, SGD over ADMM as printed with ρ = 0.3",
             ratio(ended, {end_of(again), 0})),
      beside("epoch from which Boyd's form is within 0.1 % of the optimum",
             {epochs_to(ours, optimum.objective), 0}),
      beside("test log loss after 20 epochs, Boyd's form", {ours.test_loss.back(), 0}),
      beside(
          "objective over that of all columns in one place, as printed with ρ = 0.03, when stopped",
          {small.objective.back() / optimum.objective, 0})};
  figure.runs = runs;
  figure.settings = {{"model", "logistic regression, λ = 1 in the sum over records"},
                     {"ADMM",
                      "as printed: Jacobi's iteration from 0, with which ρ = 0.03 diverges; "
                      "as in Boyd et al. 7.3: from y = l'(0)"},
                     {"SGD", "batches of 100, step 1/√epoch"}};
  figure.note =
      "The paper gives neither ρ nor λ nor the step of SGD: ρ = 0.15 and step 1 were chosen after "
      "five values of ρ and two steps had been tried on a9a itself, hence “fitted”; ρ = 0.3 is "
      "told "
      "beside. “The same” is taken as within 1 %, “slightly slower” as an objective above SGD's, "
      "by less than a factor of two, after 3 epochs. ";
  if (!small.stopped.empty()) figure.note += "As printed with ρ = 0.03: " + small.stopped + ".";
  figure.data = columns->source;
  return figure;
}

Result<Figure> sharing_digits(const Study& study) {
  const SharedColumns columns = TRY(digit_columns(study));
  constexpr double kLam = 60;
  const Alone optimum = all_in_one_place(*columns, kLam, study);
  const Trace ours = by_admm(*columns, {.lam = kLam}, study);
  const Trace paper = by_admm(*columns, papers(kLam, .3), study);
  const Tuned tuned = best_gradients(*columns, kLam, study);
  const std::vector<Trace> orders =
      orders_of(*columns, kLam, tuned.step, study.runs_or(8, 2), study);
  Figure figure = sharing_figure(
      study, "V-F2", "Figure 2", "three parties share 5,000 columns",
      "On gisette, the SGD based algorithm converges slowly while the ADMM algorithm is efficient "
      "and robust. The testing log loss from the ADMM algorithm quickly converges to 0.08 after a "
      "few epochs, but the SGD based algorithm converges to only 0.1 with much more epochs.");
  figure.panels = panels({{"Boyd et al., ρ = 0.1", ours},
                          {"as printed, ρ = 0.3", paper},
                          {fmt::format("SGD, step {:.3g}/√epoch", tuned.step), orders[0]}},
                         optimum);
  const double admm = end_of(paper);
  const Estimate sgd = mean_over(orders, end_of);
  const Estimate left = mean_over(
      orders, [&](const Trace& trace) { return trace.objective.back() - optimum.objective; });
  Measure reached = between("test log loss after 20 epochs, ADMM as printed", {admm, 0}, .064, .1);
  Measure slower =
      over_orders(between("test log loss after 20 epochs, SGD", sgd, .08, .125), orders);
  reached.paper = .08, slower.paper = .1;
  // Levels are gisette's: numbers that were made up have others.
  reached.decides = slower.decides = !columns->source.starts_with("stand-in");
  const char* const order = "orders of the sentence that hold";
  figure.measures = {
      reached,
      slower,
      over_orders(compared(order, "excess objective after 20 epochs, SGD over ADMM as printed",
                           ratio(left, {paper.objective.back() - optimum.objective, 0}), 1, kAny),
                  orders),
      over_orders(compared(order, "test log loss after 20 epochs, SGD over ADMM as printed",
                           ratio(sgd, {admm, 0}), 1, kAny),
                  orders),
      between("test log loss of ADMM as printed, after 10 epochs over that after 20",
              {paper.test_loss[paper.test_loss.size() / 2 - 1] / admm, 0}, .9, 1.1),
      beside("epoch from which Boyd's form is within 0.1 % of the optimum",
             {epochs_to(ours, optimum.objective), 0})};
  figure.runs = orders.size();
  figure.settings = {
      {"model", "logistic regression, λ = 60 in the sum over records"},
      {"SGD", fmt::format("batches of 100; of the steps {:.3g} to {:.3g} over √epoch, "
                          "by factors of √10, the best by the objective, which has "
                          "a worse one on either side",
                          tuned.least, tuned.most)}};
  figure.note =
      "0.08 and 0.1 are taken as within a quarter. The paper gives neither λ nor ρ nor SGD's step: "
      "λ = 60 and ρ = 0.3 were chosen on numbers made up in gisette's shape, before real digits "
      "were there.";
  figure.data = columns->source;
  return figure;
}

}  // namespace parley::reproduce
