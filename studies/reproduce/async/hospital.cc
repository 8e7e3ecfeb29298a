// A-F8 and A-F10: 86 hospitals learn the length of a stay.
#include "studies/reproduce/async/hospital.h"

#include <fmt/format.h>

#include "parley/base/math/number.h"
#include "studies/reproduce/async/bands.h"
#include "studies/reproduce/figures.h"

namespace parley::reproduce {
namespace async {

AsyncPlan capped(AsyncPlan plan) {
  plan.capped = true, plan.output = learn::AsyncOutput::kCopies;
  return plan;
}

void add_hospital_settings(Figure& figure, const Records& records, double step) {
  figure.settings.insert(
      figure.settings.end(),
      {{"hospitals",
        fmt::format("{}, {} stays in all", records.sizes.size(), grouped(records.rows.size()))},
       {"step", fmt::format("a = ρ/(T²σ) = {:.3g}", step)},
       {"bound Ξ",
        "20, which 0.007 % of the stand-in's records exceed; chosen so that eight "
        "hospitals gain at ε = 10"}});
}

std::vector<Estimate> means_of(const Samples& samples) {
  std::vector<Estimate> means;
  for (const auto& each : samples) means.push_back(mean(each.spread()));
  return means;
}

}  // namespace async

using namespace async;

namespace {

/// Means over epsilon, to the letter and with capped answers.
struct OverBudget {
  Curve letter{}, ours{};
};

Result<OverBudget> over_budget(const Study& study, const sim::monte_carlo::Population& owners,
                               const AsyncPlan& literal, uint64_t runs) {
  const std::vector<double> epsilons = {0.1, 0.316, 1, 3.16, 10, 31.6, 100};
  study.expect(2 * epsilons.size() * runs * kAsyncRounds);
  const auto letter = means_of(TRY(sample(study, owners, literal, epsilons, runs, 0)));
  const auto ours = means_of(TRY(sample(study, owners, capped(literal), epsilons, runs, 1)));
  OverBudget result;
  for (size_t e = 0; e < epsilons.size(); ++e) {
    result.letter.add(epsilons[e], letter[e]);
    result.ours.add(epsilons[e], ours[e]);
  }
  return result;
}

/// Of all ratios of a point to the one before it, the largest: at most 1 if each step improves.
Measure worst_step(const Curve& curve) {
  Measure worst{.quantity = "E ψ over that at the ε before, at worst", .value = 0, .most = 1};
  for (size_t k = 1; k < curve.x.size(); ++k) {
    const Estimate step = ratio({curve.y[k], curve.error[k]}, {curve.y[k - 1], curve.error[k - 1]});
    if (step.value > worst.value) worst.value = step.value, worst.error = step.error;
  }
  return worst;
}

}  // namespace

Result<Figure> async_hospital_rounds(const Study& study) {
  const SharedRecords records = TRY(hospital_records(study));
  const auto owners = owners_of(*records, records->sizes, kUnclipped, study.threads);
  AsyncPlan literal = kHospitals;
  literal.step = stable_step(owners, literal.step);
  const Rounds rounds =
      TRY(by_rounds(study, owners, literal, learn::AsyncOutput::kCopies, study.runs_or(100, 8)));
  Figure figure = async_figure(
      study, "A-F8", "Figure 8", "hospitals learn the length of stay, by rounds",
      "For large privacy budgets, the median decreases across time until the algorithm converges "
      "to a neighbourhood of the solution. The relative fitness of the trained model also "
      "improves as the budgets increase.");
  add_hospital_settings(figure, *records, literal.step);
  figure.runs = rounds.runs;
  figure.panels = {bands(rounds)};
  figure.measures = {falls(rounds, 2), improves(rounds, 0), improves(rounds, 1)};
  for (size_t e = 0; e < 2; ++e) {
    figure.measures.push_back(falls(rounds, e));
    figure.measures.back().decides = false;
  }
  for (size_t e = 0; e < 3; ++e)
    figure.measures.push_back(gains(rounds, e, "capped answers, mean of copies"));
  figure.data = records->source;
  figure.note =
      "The paper says \"for large privacy budgets\", so the smaller ones are told beside: where "
      "their ratio is above 1, the median rose above what the zero model has. So is what it is "
      "worth to split each budget by the answers that a hospital really gives, instead of by all "
      "T.";
  return figure;
}

Result<Figure> async_hospital_slope(const Study& study) {
  const SharedRecords records = TRY(hospital_records(study));
  const auto owners = owners_of(*records, records->sizes, kUnclipped, study.threads);
  AsyncPlan literal = kHospitals;
  literal.step = stable_step(owners, literal.step);
  const uint64_t runs = study.runs_or(200, 8);
  const OverBudget means = TRY(over_budget(study, owners, literal, runs));
  Figure figure = async_figure(
      study, "A-F10", "Figure 10", "hospitals: E ψ over the budget",
      "The relative fitness rapidly improves as the privacy budgets increase. The solid line "
      "illustrates the bound in (11) with c̄₁ = 0.9 and c̄₂ = 0.6.");
  add_hospital_settings(figure, *records, literal.step);
  figure.runs = runs;
  Panel panel{.title = "",
              .x = {.label = "privacy budget ε of each hospital", .log = true},
              .y = {.label = "mean relative fitness E ψ(θ_L,T)", .log = true}};
  const Curve& line = means.letter;
  panel.series = {
      line.series("to the letter"),
      line.theory("0.9/ε + 0.6/ε²",
                  [](double epsilon) { return 0.9 / epsilon + 0.6 / (epsilon * epsilon); }),
      means.ours.series("capped, copies", true)};
  figure.panels = {panel};
  figure.measures = {worst_step(line),
                     slope_of_two("slope from ε = 0.1 to 1", line.slope_between(0, 2)),
                     beside("slope from ε = 10 to 100", line.slope_between(4, 6)),
                     beside("E ψ at ε = 100, the floor", {line.y.back(), line.error.back()})};
  figure.data = records->source;
  figure.note =
      "The paper's constants do not say what n is measured in; drawn is 0.9/ε + 0.6/ε², with n "
      "absorbed. Where noise decides, the slope is −2, as the last term of (11) says. Differences "
      "between hospitals leave a floor, which (11) does not have and no ε lowers.";
  return figure;
}

}  // namespace parley::reproduce
