// S-F6 and S-F11: one bank of any size and budget beside two others that are small or large, and
// reluctant or eager.
#include <fmt/format.h>

#include <cmath>

#include "parley/base/math/number.h"
#include "parley/learn/schedule/weights.h"
#include "studies/reproduce/figures.h"
#include "studies/reproduce/sync/fraud.h"
#include "studies/reproduce/sync/grid.h"
#include "studies/reproduce/sync/loans.h"

namespace parley::reproduce {
namespace sync {
namespace {

constexpr double kReluctant = 0.1, kEager = 10;
const char* const kTitles[] = {"(i) others small and reluctant", "(ii) others small and eager",
                               "(iii) others large and reluctant", "(iv) others large and eager"};

struct Setup {
  Profile profile;
  const data::Rows& records;
  std::vector<uint64_t> sizes;   // n_1
  std::vector<double> epsilons;  // epsilon_1
  uint64_t small = 0, large = 0;
  uint64_t runs = 0;
};

/// Means by scenario, then by n_1, then by epsilon_1.
using Means = std::vector<std::vector<std::vector<Estimate>>>;

std::vector<double> log_grid(double from, double to, size_t count) {
  std::vector<double> grid;
  for (size_t k = 0; k < count; ++k)
    grid.push_back(from * std::pow(to / from, double(k) / double(count - 1)));
  return grid;
}

Banks banks_of(const Study& study, const Setup& setup, uint64_t first, uint64_t others) {
  std::vector<data::Rows> rows;
  rows.push_back(part_of(setup.records, 0, first));
  uint64_t begin = setup.sizes.back();
  for (int bank = 1; bank < 3; ++bank, begin += setup.large)
    rows.push_back(part_of(setup.records, begin, begin + others));
  return {setup.profile, std::move(rows), 0, study.threads};
}

/// Weights that a learner would choose from public rows and numbers.
std::vector<double> best_weights(const learn::ErrorModel& model, const Banks& banks,
                                 const Plan& plan, const std::vector<double>& epsilon) {
  std::vector<learn::OwnerError> owners;
  for (size_t i = 0; i < epsilon.size(); ++i) {
    const double scale = 2 * plan.bound * plan.answers / (banks.rows(i) * epsilon[i]);
    owners.push_back({.rows = banks.rows(i),
                      .noise = model.noise_gain * 2 * scale * scale,
                      .sampling = model.spread / banks.rows(i)});
  }
  return learn::optimal_weights(owners);
}

/// All four; with a model, the banks are weighted by it instead of by their rows.
Result<Means> means_of(const Study& study, const Setup& setup, uint64_t stream,
                       const learn::ErrorModel* model = nullptr) {
  Means means(4);
  for (const bool large : {false, true})
    for (uint64_t size : setup.sizes) {
      const Banks banks = banks_of(study, setup, size, large ? setup.large : setup.small);
      const Plan plan = literal(setup.profile, banks);
      std::vector<Budgets> budgets;
      for (double others : {kReluctant, kEager})
        for (double epsilon : setup.epsilons) {
          budgets.push_back({.epsilon = {epsilon, others, others}});
          if (model)
            budgets.back().weights = best_weights(*model, banks, plan, budgets.back().epsilon);
        }
      const Samples samples = TRY(sample(study, banks, plan, budgets, setup.runs, stream++));
      for (size_t eager : {0u, 1u}) {
        auto& row = means[2 * large + eager].emplace_back();
        for (size_t e = 0; e < setup.epsilons.size(); ++e)
          row.push_back(mean(samples[eager * setup.epsilons.size() + e].spread()));
      }
    }
  return means;
}

Panel scenario(std::string title, const Setup& setup,
               const std::vector<std::vector<Estimate>>& means) {
  Surface surface{.x = setup.epsilons, .z = kMean};
  for (size_t s = 0; s < setup.sizes.size(); ++s) {
    surface.y.push_back(double(setup.sizes[s]));
    for (const Estimate& cell : means[s])
      surface.value.push_back(cell.value), surface.error.push_back(cell.error);
  }
  return {.title = std::move(title),
          .x = {.label = "privacy budget ε₁ of the first bank", .log = true},
          .y = {.label = "records n₁ of the first bank", .log = true},
          .surface = surface};
}

/// What the clauses of the text speak of, at the largest n_1 and epsilon_1 unless said otherwise.
struct Clauses {
  const Setup& setup;
  const Means& means;
  double start;  // psi of the model 0 in the first scenario, the first bank at its largest

  Estimate at(size_t which) const { return means[which].back().back(); }
  Estimate effect_of_budget(size_t which) const {
    return ratio(means[which].back().front(), means[which].back().back());
  }
  Estimate effect_of_size(size_t which) const {
    return ratio(means[which].front().back(), means[which].back().back());
  }
  std::string largest() const { return "n₁ = " + grouped(setup.sizes.back()); }
  Measure clause(std::string quantity, const Estimate& estimate, double least, double most) const {
    return compared("clauses of the paragraph that hold", std::move(quantity), estimate, least,
                    most);
  }
};

/// "Does not change significantly", "without much consideration": by less than this factor.
constexpr double kMuch = 3;
/// The clauses that both texts have.
std::vector<Measure> common_clauses(const Clauses& c) {
  return {
      c.clause("(i) E ψ over ψ at the start, ε₁ = 10, " + c.largest(), ratio(c.at(0), {c.start, 0}),
               1, kAny),
      c.clause("effect of ε₁ in (ii) over that in (i)",
               ratio(c.effect_of_budget(1), c.effect_of_budget(0)), 1, kAny),
      c.clause("effect of n₁ in (ii) over that in (i)",
               ratio(c.effect_of_size(1), c.effect_of_size(0)), 1, kAny),
      c.clause("E ψ of (iii) over (i), ε₁ = 10, " + c.largest(), ratio(c.at(2), c.at(0)), 0, 1),
      c.clause("E ψ of (iv) over (ii), ε₁ = 10, " + c.largest(), ratio(c.at(3), c.at(1)), 0, 1),
      c.clause("E ψ of (iv) over (iii), ε₁ = 10, " + c.largest(), ratio(c.at(3), c.at(2)), 0, 1)};
}

const char kLoansClaim[] =
    "The first scenario in Figure 6 (the left most plot) shows that there is no point in "
    "collaboration with small data owners, even if the size of the dataset of the first data owner "
    "is large and it is eager to share its data; the relative fitness […] is very large, it does "
    "not change significantly with ε₁, and it still remains large for relative large datasets n₁ = "
    "10⁵. […] In the second scenario (the second left most plot in Figure 6), the effect of ε₁ and "
    "n₁ are more pronounced. […] The third scenario is similar to the first one, albeit with "
    "better "
    "relative fitness as conservative data owners are relatively larger. The best scenario for "
    "collaboration, unsurprisingly, is the fourth scenario in which phenomenal performances can be "
    "achieved even without much consideration towards the size of the first dataset or its privacy "
    "budget as the other two datasets are large and eager to collaborate for learning.";

const char kFraudClaim[] =
    "The first scenario in Figure 11 (the left most plot) illustrates that there is no point in "
    "collaboration with small data owners even if the size of the dataset of the first data owner "
    "is large and it is eager to share its data. In the second scenario (the second left most plot "
    "in Figure 11), the effect of ε₁ and n₁ are more pronounced because the privacy budgets of the "
    "second and the third data owners are large […]. The third scenario is again similar to the "
    "first one, albeit with better results as conservative data owners are relatively larger. The "
    "best scenario for collaboration, similar to the loan example, is the fourth scenario in which "
    "the training performances with and without privacy constraints are identical, so long as the "
    "dataset of the first subsystem is large, or its privacy budget is not too small.";

std::vector<Measure> loans_clauses(const Clauses& c) {
  std::vector<Measure> measures = common_clauses(c);
  for (const auto& [which, name] :
       {std::pair{0, "(i)"}, std::pair{2, "(iii)"}, std::pair{3, "(iv)"}})
    measures.push_back(
        c.clause(fmt::format("{} E ψ at ε₁ = 0.1 over ε₁ = 10, {}", name, c.largest()),
                 c.effect_of_budget(size_t(which)), 1 / kMuch, kMuch));
  measures.push_back(c.clause("(iv) E ψ at the smallest n₁ over that at the largest, ε₁ = 10",
                              c.effect_of_size(3), 1 / kMuch, kMuch));
  return measures;
}

/// "Identical": within a hundredth.
std::vector<Measure> fraud_clauses(const Clauses& c) {
  std::vector<Measure> measures = common_clauses(c);
  constexpr double kIdentical = 0.01;
  measures.push_back(
      c.clause("(iv) E ψ, first bank large and reluctant: " + c.largest() + ", ε₁ = 0.1",
               c.means[3].back().front(), 0, kIdentical));
  measures.push_back(c.clause(
      "(iv) E ψ, first bank small and eager: n₁ = " + grouped(c.setup.sizes.front()) + ", ε₁ = 10",
      c.means[3].front().back(), 0, kIdentical));
  measures.push_back(
      beside("(iv) E ψ at ε₁ = 0.1 over ε₁ = 10, " + c.largest(), c.effect_of_budget(3)));
  return measures;
}

void add_owners(Figure& figure, const Setup& setup) {
  figure.settings.push_back(
      {"banks 2 and 3",
       fmt::format("{} or {} records, ε = 0.1 or 10", grouped(setup.small), grouped(setup.large))});
}

uint64_t cells(const Setup& setup) { return 4 * setup.sizes.size() * setup.epsilons.size(); }

/// Sizes up to a third of the records, so that the others find theirs.
std::vector<uint64_t> first_sizes(double from, uint64_t most, size_t count) {
  std::vector<uint64_t> sizes;
  for (double size : log_grid(std::min(from, double(most) / 10), double(most), count))
    sizes.push_back(static_cast<uint64_t>(std::llround(size)));
  return sizes;
}

/// The same with weights that a learner would choose from public numbers.
Result<void> add_weighted(const Study& study, const Setup& setup, const Records& records,
                          const Means& means, Figure& figure) {
  const Banks some = banks_of(study, setup, setup.sizes.front(), setup.small);
  learn::Fitness pilot(learn::Squared{}, some.columns(), 0, study.threads);
  pilot.add(records.pilot);
  const auto model =
      learn::error_model(literal(setup.profile, some).schedule, learn::Squared{}, records.pilot,
                         pilot.minimum(1e3).theta, learn::ClipIn::kNone, 0, 0);
  check(model.has_value());
  const Means weighted = TRY(means_of(study, setup, 400, &*model));
  figure.panels.push_back(
      scenario("(i) again, banks weighted by what their noise costs", setup, weighted[0]));
  for (size_t k = 0; k < 4; ++k)
    figure.measures.push_back(
        beside(fmt::format("E ψ, weights n_i/n over weights by noise, {} ε₁ = 10, n₁ = {}",
                           std::string(kTitles[k]).substr(0, 1 + std::string(kTitles[k]).find(')')),
                           grouped(setup.sizes.back())),
               ratio(means[k].back().back(), weighted[k].back().back())));
  figure.note +=
      " That small, reluctant banks spoil it is due to the weights n_i/n: with weights from public "
      "numbers, by what each bank's noise costs, they do no harm (last panel).";
  return {};
}

}  // namespace
}  // namespace sync

using namespace sync;

Result<Figure> sync_loans_scenarios(const Study& study) {
  const SharedRecords records = TRY(loans(study, Drift::kNone));
  const uint64_t most = std::min<uint64_t>(100'000, records->rows.size() / 3);
  const size_t side = study.quick ? 3 : study.further ? 2 : 8;  // corners decide
  const Setup setup{.profile = loans_profile(),
                    .records = records->rows,
                    .sizes = first_sizes(1'000, most, side),
                    .epsilons = log_grid(0.1, 10, side),
                    .small = std::min<uint64_t>(1'000, most / 10),
                    .large = most,
                    .runs = study.runs_or(100, 12)};
  study.expect((study.further ? 1 : 2) * cells(setup) * setup.runs * (kT - 2));
  const Means means = TRY(means_of(study, setup, 300));
  Figure figure =
      sync_figure(study, "S-F6", "Figure 6",
                  "a bank beside two others, small or large, reluctant or eager", kLoansClaim);
  add_loan_settings(figure);
  add_owners(figure, setup);
  figure.runs = setup.runs;
  for (size_t k = 0; k < 4; ++k) figure.panels.push_back(scenario(kTitles[k], setup, means[k]));
  figure.measures = loans_clauses(
      {setup, means, at_start(banks_of(study, setup, setup.sizes.back(), setup.small))});
  figure.note =
      "“Not significantly” and “without much consideration” are taken as less than a factor of "
      "three, “no point” and “very large” as worse than the model 0, which needs no bank. The "
      "bound itself says that ε₁ matters "
      "in (iv): Σ 1/ε² is dominated by the smallest budget.";
  if (!study.further) TRY(add_weighted(study, setup, *records, means, figure));
  figure.data = records->source;
  return figure;
}

Result<Figure> sync_fraud_scenarios(const Study& study) {
  const SharedRecords records = TRY(payments(study));
  const uint64_t most = std::min<uint64_t>(90'000, records->rows.size() / 3);
  const data::Rows rows = shortened(records->rows, fraud_profile().bound);
  const Setup setup{.profile = fraud_profile(),
                    .records = rows,
                    .sizes = first_sizes(1'000, most, study.quick || study.further ? 2 : 5),
                    .epsilons = log_grid(0.1, 10, study.quick || study.further ? 2 : 5),
                    .small = std::min<uint64_t>(1'000, most / 10),
                    .large = most,
                    .runs = study.runs_or(32, 12)};
  study.expect(cells(setup) * setup.runs * (kT - 2));
  const Means means = TRY(means_of(study, setup, 500));
  Figure figure = sync_figure(
      study, "S-F11", "Figure 11",
      "fraud detection beside two others, small or large, reluctant or eager", kFraudClaim);
  add_fraud_settings(figure);
  add_owners(figure, setup);
  figure.runs = setup.runs;
  for (size_t k = 0; k < 4; ++k) figure.panels.push_back(scenario(kTitles[k], setup, means[k]));
  figure.measures = fraud_clauses(
      {setup, means, at_start(banks_of(study, setup, setup.sizes.back(), setup.small))});
  figure.note =
      "The caption in the paper speaks of lending interest rates; the text of fraud. “Identical” "
      "is taken as within a hundredth, “no point” as worse than the model 0, which needs no bank.";
  figure.data = records->source;
  return figure;
}

}  // namespace parley::reproduce
