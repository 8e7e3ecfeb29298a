// H-K, H-T4 and H-comm: how many steps of their own owners can take between aggregations.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "parley/base/math/number.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/federated/training.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace federated {
namespace {

constexpr size_t kOwners = 10;
constexpr double kL2 = 1e-3;
const std::vector<int64_t> kSteps = {1, 2, 5, 10, 20, 50};
constexpr Cut kCuts[] = {Cut::kAlike, Cut::kMild, Cut::kSorted};

/// Excess over K, without noise and at an epsilon.
struct OverK {
  Curve plain{}, noisy{};
};

Result<OverK> over_steps(const Owners& owners, double epsilon, uint64_t runs, const Study& study) {
  OverK found;
  for (int64_t steps : kSteps) {
    Plan plan{.steps = steps};
    found.plain.add(double(steps), mean_excess(owners, plan, 1, study));
    plan.deviation = TRY(deviation_for(owners, plan, epsilon));
    found.noisy.add(double(steps), mean_excess(owners, plan, runs, study));
    if (!study.go_on(1 + runs)) return Error{Code::kFailed, "interrupted"};
  }
  return found;
}

Axis steps_axis() {
  return {.label = "local steps K between aggregations", .unit = "", .log = true};
}
Axis excess_axis() { return {.label = "excess objective", .unit = "", .log = true}; }

Measure between(std::string quantity, const Estimate& estimate, double least, double most) {
  Measure measure = measured(std::move(quantity), estimate);
  measure.least = least, measure.most = most;
  return measure;
}

std::vector<Setting> settings() {
  return {{"model", "logistic regression, λ = 0.001, records of norm 1"},
          {"owners", "10 of equal size; T = 200 local steps"},
          {"noise",
           "once per aggregation on the sum, for the proved sensitivity of K steps; zCDP, "
           "δ = 10⁻⁵"}};
}

/// Everything that Theorem 4's bound needs beside K.
struct Constants {
  double smoothness, gamma, heterogeneity, noise, distance;
};

Constants constants_of(const Owners& owners, double epsilon, double total) {
  double own = 0;
  for (size_t k = 0; k < owners.count(); ++k)
    own += Owners({owners.rows(k)}, owners.l2()).optimum().fitness / double(owners.count());
  double squares = 0;
  for (double value : owners.optimum().theta) squares += value * value;
  const double smoothness = .25 + owners.l2();
  const double records = double(owners.count() * owners.rows_each());
  return {.smoothness = smoothness,
          .gamma = 8 * smoothness / owners.l2() - 1,
          .heterogeneity = owners.optimum().fitness - own,
          .noise = double(owners.columns()) * 8 * total * std::log(1 / kDelta) /
                   (records * records * epsilon * epsilon),
          .distance = squares};
}

double bound(const Constants& c, double l2, double total, double steps) {
  const double gamma = std::fmax(c.gamma, steps);
  const double b = 6 * c.smoothness * c.heterogeneity + 8 * (steps - 1) * (steps - 1) + c.noise;
  return 2 * c.smoothness / (l2 * (gamma + total)) * (b / l2 + 2 * c.smoothness * c.distance);
}

}  // namespace
}  // namespace federated

using namespace federated;

Result<Figure> federated_steps(const Study& study) {
  const uint64_t runs = study.runs_or(12, 2);
  study.expect(std::size(kCuts) * kSteps.size() * (1 + runs));
  Figure figure = federated_figure(
      study, "H-K", "discussion", "which K?",
      "The choice of large K will introduce the error by 16L(K−1)²G²/(λ²(γ+T)), but reduce the "
      "communication cost by a factor of 1/K. What is the optimal choice of K to balance the "
      "utility and the communication cost?");
  figure.settings = settings();
  figure.runs = runs;
  for (Cut cut : kCuts) {
    const Owners owners = TRY(census_owners(study, cut, kOwners, kL2));
    const OverK found = TRY(over_steps(owners, 1, runs, study));
    figure.panels.push_back(
        {.title = name_of(cut),
         .x = steps_axis(),
         .y = excess_axis(),
         .series = {found.plain.series("no noise"), found.noisy.series("ε = 1", true)}});
    const auto& y = found.noisy.y;
    const auto& error = found.noisy.error;
    const Estimate grown = ratio({y.back(), error.back()}, {y[0], error[0]});
    const std::string which = std::string(name_of(cut)) + ", ε = 1: excess at K = 50 over K = 1";
    figure.measures.push_back(
        cut == Cut::kAlike ? between(which, grown, 0, 1.5)
                           : between(which, grown, 1, std::numeric_limits<double>::infinity()));
    Curve drift;
    for (size_t k = 1; k < found.plain.x.size(); ++k)
      if (const double more = found.plain.y[k] - found.plain.y[0]; more > 0)
        drift.add(found.plain.x[k] - 1, {more, 0});
    if (cut == Cut::kSorted)
      figure.measures.push_back(
          beside("sorted by label, no noise: slope of what is added over K − 1", drift.slope()));
  }
  figure.note =
      "The question stays open: where owners are alike K = 50 costs nothing, so the term (K−1)² is "
      "no guide; where labels are sorted, drift and not privacy sets K, and it grows about "
      "linearly "
      "after the first steps. A claim is taken to hold where large K does not hurt owners alike by "
      "more than half, and does hurt the others.";
  figure.data = TRY(census_columns(study))->source;
  return figure;
}

Result<Figure> federated_bound(const Study& study) {
  constexpr double kTotal = 200, kEpsilon = 1;
  const uint64_t runs = study.runs_or(4, 2);
  Figure figure = federated_figure(study, "H-T4", "Theorem 4", "excess risk beside its bound",
                                   "E[J(θ^T)] − J(θ*) ≤ 2L/(λ(γ+T)) (B/λ + 2L|θ⁰−θ*|²), B = 6LΓ + "
                                   "8(K−1)²G² + d σ².");
  figure.settings = settings();
  figure.settings.push_back({"steps", "η_t = 2/(λ(t+γ)), γ = max(8L/λ − 1, K), the last iterate"});
  figure.runs = runs;
  study.expect(2 * kSteps.size() * runs);
  double least = std::numeric_limits<double>::infinity(), first = 0;
  for (Cut cut : {Cut::kAlike, Cut::kSorted}) {
    const Owners owners = TRY(census_owners(study, cut, kOwners, kL2));
    const Constants constants = constants_of(owners, kEpsilon, kTotal);
    Curve found, above;
    for (int64_t steps : kSteps) {
      const double gamma = std::fmax(constants.gamma, double(steps));
      Plan plan{.steps = steps,
                .step = [gamma](int64_t t) { return 2 / (kL2 * (double(t) + gamma)); },
                .average = false};
      plan.deviation = TRY(deviation_for(owners, plan, kEpsilon));
      found.add(double(steps), mean_excess(owners, plan, runs, study));
      above.add(double(steps), {bound(constants, kL2, kTotal, double(steps)), 0});
      least = std::fmin(least, above.y.back() / found.y.back());
      if (cut == Cut::kAlike && steps == 1) first = above.y.back() / found.y.back();
      if (!study.go_on(runs)) return Error{Code::kFailed, "interrupted"};
    }
    figure.panels.push_back({.title = name_of(cut),
                             .x = steps_axis(),
                             .y = excess_axis(),
                             .series = {found.series("measured, ε = 1", true),
                                        above.theory("the bound", [&](double steps) {
                                          return bound(constants, kL2, kTotal, steps);
                                        })}});
  }
  figure.measures = {between("the bound over what was measured, least over K and cuts", {least, 0},
                             1, std::numeric_limits<double>::infinity()),
                     beside("owners alike, K = 1: the bound over what was measured", {first, 0})};
  figure.note =
      "A bound that holds by being far above. Its proof leaves out that local noise drifts too; "
      "with "
      "Parley's noise on the sum there is none of it.";
  figure.data = TRY(census_columns(study))->source;
  return figure;
}

Result<Figure> federated_communication(const Study& study) {
  constexpr double kTotal = 200;
  const Owners owners = TRY(census_owners(study, Cut::kAlike, kOwners, kL2));
  Figure figure = federated_figure(study, "H-comm", "discussion", "what K local steps save",
                                   "… but reduce the communication cost by a factor of 1/K.");
  Curve kilobytes;
  // One complete aggregation of ten owners (specification, vertical and federated 4.4).
  const double neighbours = kOwners - 1, values = double(owners.columns());
  const double each = 168 + 114 * neighbours + (40 + 8 * values) + 104 + (41 * neighbours + 40);
  for (int64_t steps : kSteps)
    kilobytes.add(double(steps), {each * kTotal / double(steps) / 1000, 0});
  figure.panels = {{.title = "T = 200 local steps, ten owners",
                    .x = steps_axis(),
                    .y = {.label = "sent by an owner", .unit = "kB", .log = true},
                    .series = {kilobytes.series("")}}};
  Measure slope = measured("slope of bytes over K", kilobytes.slope());
  slope.paper = -1, slope.least = -1.000001, slope.most = -.999999;
  figure.measures = {slope, beside("bytes of an owner per aggregation", {each, 0})};
  figure.note = "By counting: T/K aggregations of the same size.";
  figure.data = "none";
  return figure;
}

}  // namespace parley::reproduce
