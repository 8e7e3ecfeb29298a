// H-L2 and H-L3: the two lemmas on which Theorem 4 stands, measured along runs of Algorithm 1 as
// printed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/sim/seeded_entropy.h"
#include "studies/reproduce/curve.h"
#include "studies/reproduce/federated/training.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace federated {
namespace {

using Models = std::vector<std::vector<double>>;

std::vector<double> average_of(const Models& models) {
  std::vector<double> mean(models[0].size());
  for (const auto& model : models)
    for (size_t j = 0; j < mean.size(); ++j) mean[j] += model[j] / double(models.size());
  return mean;
}

double square_distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/// By step t = 0, 1, ... of one run: |theta^t - theta*|^2, and the parties' mean square distance
/// from their average.
struct Along {
  std::vector<double> distance{}, drift{};
};

Along run_of(const paper::FederatedRule& rule, size_t parties, uint64_t smallest,
             std::span<const double> best, const paper::PartyGradient& gradient, Entropy& entropy) {
  const size_t steps = size_t(rule.rounds) + 1;
  Along along{.distance = std::vector<double>(steps), .drift = std::vector<double>(steps)};
  const std::vector<double> zero(best.size());
  along.distance[0] = square_distance(zero, best);
  (void)paper::federated(rule, parties, smallest, best.size(), gradient, entropy,
                         [&](int64_t t, const Models& models) {
                           const std::vector<double> mean = average_of(models);
                           along.distance[size_t(t)] = square_distance(mean, best);
                           for (const auto& model : models)
                             along.drift[size_t(t)] +=
                                 square_distance(mean, model) / double(parties);
                         });
  return along;
}

constexpr size_t kLemmaOwners = 10;
constexpr double kLemmaL2 = 1e-3;

/// Means over runs of the left and of the right side of inequality (3) at one step.
Estimate left_over_right(std::span<const double> left, std::span<const double> right) {
  const double n = double(left.size());
  const double above = std::accumulate(left.begin(), left.end(), 0.0) / n,
               below = std::accumulate(right.begin(), right.end(), 0.0) / n;
  double squares = 0;
  for (size_t run = 0; run < left.size(); ++run)
    squares += std::pow(left[run] - above / below * right[run], 2);
  return {above / below, std::sqrt(squares / (n * (n - 1))) / below};
}

/// (left side) / (right side) of inequality (3) at every step, on average over runs.
Curve second_lemma(const Owners& owners, double epsilon, uint64_t runs, const Study& study) {
  double own = 0;
  for (size_t k = 0; k < owners.count(); ++k)
    own += Owners({owners.rows(k)}, owners.l2()).optimum().fitness / double(owners.count());
  const double smoothness = .25 + owners.l2(), gamma = owners.optimum().fitness - own;
  const double delay = std::fmax(8 * smoothness / owners.l2() - 1, 10);
  const Plan plan{.steps = 10, .total = 100, .step = [&](int64_t t) {
                    return 2 / (owners.l2() * (double(t) + delay));
                  }};
  const paper::FederatedRule rule = printed_rule(plan, epsilon);
  const auto gradient = [&](size_t owner, std::span<const double> at) {
    return owners.gradient(owner, at);
  };
  std::vector<Along> found;
  for (uint64_t run = 0; run < runs; ++run) {
    sim::SeededEntropy entropy(study.seed, "second lemma", run);
    found.push_back(run_of(rule, owners.count(), owners.rows_each(), owners.optimum().theta,
                           gradient, entropy));
  }
  const double sigma = paper::claimed_deviation(rule, owners.count(), owners.rows_each());
  Curve curve;
  for (size_t t = 0; t + 1 < found[0].distance.size(); ++t) {
    const double step = plan.step(int64_t(t) + 1);
    const double without_chance = 6 * smoothness * step * step * gamma +
                                  step * step * double(owners.columns()) * sigma * sigma;
    std::vector<double> left, right;
    for (const Along& run : found) {
      left.push_back(run.distance[t + 1]);
      right.push_back((1 - step * owners.l2()) * run.distance[t] + 2 * run.drift[t] +
                      without_chance);
    }
    curve.add(double(t + 1), left_over_right(left, right));
  }
  return curve;
}

}  // namespace
}  // namespace federated

using namespace federated;

Result<Figure> federated_lemma2(const Study& study) {
  Figure figure = federated_figure(
      study, "H-L2", "Lemma 2", "one step of Algorithm 1",
      "Assumed that J_j(θ) is λ-strongly convex, and L-smooth over θ ∈ C. If η_t ≤ 1/(4L) for all "
      "t, "
      "we have: E[‖θ^{t+1} − θ*‖²] ≤ (1 − η^t λ) E[‖θ^t − θ*‖²] + 6Lη_t²Γ + 2E[(1/m) Σ_j ‖θ^t − "
      "θ_j^t‖²] + η_t² dσ².");
  figure.runs = study.runs_or(8, 2);
  const Owners owners = TRY(census_owners(study, Cut::kSorted, kLemmaOwners, kLemmaL2));
  Panel panel{.title = "sorted by label, K = 10",
              .x = {.label = "step t"},
              .y = {.label = "left side over right side"}};
  for (double epsilon : {1., .01}) {
    const Curve curve = second_lemma(owners, epsilon, figure.runs, study);
    panel.series.push_back(curve.series(epsilon_text(epsilon)));
    const auto most = size_t(std::ranges::max_element(curve.y) - curve.y.begin());
    figure.measures.push_back(
        between("left side over right side, largest over 100 steps, " + epsilon_text(epsilon),
                {curve.y[most], curve.error[most]}, 0, 1));
    figure.measures.back().runs = figure.runs;
  }
  panel.series.push_back({.name = "equal", .kind = Series::Kind::kLevel, .y = {1}});
  figure.panels = {panel};
  figure.settings = {{"model", "logistic regression, λ = 0.001, records of norm 1"},
                     {"owners", "10, sorted by label; K = 10, η_t = 2/(λ(t+γ))"},
                     {"noise", "Algorithm 1 as printed"}};
  figure.data = TRY(census_columns(study))->source;
  return figure;
}

Result<Figure> federated_lemma3(const Study& study) {
  constexpr size_t kParties = 10, kDimension = 100;
  constexpr uint64_t kRecords = 100;
  constexpr double kL2 = 1e-3, kH = 1;
  Figure figure = federated_figure(
      study, "H-L3", "Lemma 3", "how far parties are from their average",
      "Assumed that E[‖∇J_j(θ)‖²] ≤ H². If η_t is non-increasing and η_t ≤ 2η_{t+K} for all t, we "
      "have: E[(1/m) Σ_j ‖θ^t − θ_j^t‖²] ≤ 4η_t² (K − 1)² H².");
  figure.runs = study.runs_or(32, 4);
  // J_j = (l2 / 2)|theta|^2 for every party: slopes of at most l2 |theta|, far below H = 1.
  const auto gradient = [](size_t, std::span<const double> at) {
    std::vector<double> slope(at.begin(), at.end());
    for (double& value : slope) value *= kL2;
    return slope;
  };
  Curve by_epsilon;
  for (double epsilon : {.1, .316, 1., 3.16}) {
    const Plan plan{.steps = 5, .total = 100, .step = [](int64_t) { return .01; }};
    std::vector<double> found;
    for (uint64_t run = 0; run < figure.runs; ++run) {
      sim::SeededEntropy entropy(study.seed, "third lemma", run);
      const Along along = run_of(printed_rule(plan, epsilon), kParties, kRecords,
                                 std::vector<double>(kDimension), gradient, entropy);
      found.push_back(along.drift[99] / (4 * .01 * .01 * 16 * kH * kH));  // before the last average
    }
    double mean = 0, squares = 0;
    for (double each : found) mean += each / double(found.size());
    for (double each : found) squares += (each - mean) * (each - mean);
    by_epsilon.add(epsilon, {mean, std::sqrt(squares / double(found.size() * (found.size() - 1)))});
  }
  figure.panels = {{.title = "equal owners, K = 5, after the 99th step",
                    .x = {.label = "privacy budget ε", .log = true},
                    .y = {.label = "left side over right side", .log = true},
                    .series = {by_epsilon.series("as printed"),
                               {.name = "equal", .kind = Series::Kind::kLevel, .y = {1}}}}};
  figure.measures = {between("left side over right side, ε = 0.1",
                             {by_epsilon.y.front(), by_epsilon.error.front()}, 0, 1),
                     beside("the same, ε = 1", {by_epsilon.y[2], by_epsilon.error[2]})};
  figure.settings = {
      {"owners", "10 of 100 records, 100 columns; J_j = 0.0005 |θ|², T = 100, η = 0.01"},
      {"noise", "Algorithm 1 as printed, δ = 10⁻⁵"}};
  figure.note =
      "Each party's steps carry noise of its own, η_t z, by which it drifts from the others even "
      "where all slopes are the same; the right side has no term for it. In the work that is cited "
      "the noise of a gradient is inside H.";
  figure.data = "made for this";
  return figure;
}

}  // namespace parley::reproduce
