// H-T1: what Theorem 1's noise promises, and what it gives.
#include <fmt/format.h>

#include <cmath>

#include "parley/privacy/accounting/gdp.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/federated/training.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace federated {
namespace {

/// Equation (2) over T rounds of sensitivity 2G / (m n): everything but the claim cancels. With one
/// noise per party, the average has 1/m of its variance.
double obtained(double claimed, double noises) {
  const double mu = claimed / std::sqrt(2 * std::log(1 / kDelta)) * std::sqrt(noises);
  return privacy::gdp_epsilon(mu, privacy::Delta(kDelta));
}

/// Up to which claim equation (2) gives what it promises.
double largest_true_claim() {
  double low = 1, high = 20;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (obtained(middle, 1) <= middle ? low : high) = middle;
  }
  return low;
}

Measure at_most(std::string quantity, double value, double claimed) {
  Measure measure = between(std::move(quantity), {value, 0}, 0, claimed);
  measure.paper = claimed;
  return measure;
}

}  // namespace
}  // namespace federated

using namespace federated;

Result<Figure> federated_privacy(const Study& study) {
  Figure figure = federated_figure(
      study, "H-T1", "Theorem 1", "the ε that the theorem's noise gives",
      "Given a estimator θ^T obtained by Algorithm 1 involving a class of T gradient descent-based "
      "updates perturbed with noise z ∈ N(0, σ²I). Assumed ℓ(θ) is G-Lipschitz over θ ∈ C. The "
      "estimator θ^T is (ε, δ)-differentially private if we set: σ² = 8G² T log(1/δ) / (m² n₍₁₎² "
      "ε²).");
  Panel panel{.title = "δ = 10⁻⁵, K = 1",
              .x = {.label = "ε as claimed", .unit = "", .log = true},
              .y = {.label = "ε exactly", .unit = "", .log = true}};
  Curve same;
  for (double noises : {1, 3, 10, 100}) {
    Curve curve;
    for (double epsilon = .1; epsilon < 21; epsilon *= std::sqrt(std::sqrt(10.0)))
      curve.add(epsilon, {obtained(epsilon, noises), 0});
    panel.series.push_back(curve.series(
        noises == 1 ? "one noise in the sum" : fmt::format("as printed, m = {:g}", noises),
        noises == 1));
    same = curve;
  }
  panel.series.push_back(same.theory("as claimed", [](double epsilon) { return epsilon; }));
  figure.panels = {panel};
  figure.measures = {
      at_most("ε for a claim of 1, every one of 10 parties draws z", obtained(1, 10), 1),
      beside("the same, one noise inside the computation", {obtained(1, 1), 0}),
      beside("ε for a claim of 10, one noise inside the computation", {obtained(10, 1), 0}),
      beside("claim up to which one noise suffices", {largest_true_claim(), 0}),
      beside("ε for a claim of 1, 100 parties draw z", {obtained(1, 100), 0})};
  figure.settings = {{"adjacency", "one record of one party is replaced"},
                     {"accounting", "exact for Gaussian noise, T rounds together"}};
  figure.note =
      "Algorithm 1 as printed lets every party draw z, which leaves the average with σ²/m: wrong "
      "by "
      "√m. For K > 1 the proof that is cited does not apply: local steps pass noise through a map "
      "that is not linear. Parley adds noise once per aggregation, where local steps have a proved "
      "sensitivity.";
  figure.data = "none";
  return figure;
}

}  // namespace parley::reproduce
