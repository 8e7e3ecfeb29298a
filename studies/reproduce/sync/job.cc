#include "studies/reproduce/sync/job.h"

#include <fmt/format.h>

#include <cmath>

#include "parley/base/math/number.h"
#include "parley/learn/schedule/async_descent.h"

namespace parley::reproduce::sync {

using sim::monte_carlo::Cell, sim::monte_carlo::Job, sim::monte_carlo::Population;

Profile loans_profile() { return {.loss = learn::Squared{}, .step = 0.5, .bound = 4560}; }
Profile fraud_profile() {
  return {.loss = learn::Hinge{}, .l2 = 1, .box = 50, .step = 1, .bound = 53};
}

Banks::Banks(const Profile& profile, std::vector<data::Rows> rows, double clip, int threads)
    : rows_(std::make_unique<std::vector<data::Rows>>(std::move(rows))) {
  sim::monte_carlo::Model model{.loss = profile.loss, .l2 = profile.l2, .box = profile.box};
  if (clip > 0) model.clip = learn::ClipIn::kL1, model.limit = clip;
  population_ = std::make_unique<Population>(model, rows_->front().columns(),
                                             sim::monte_carlo::Precision::kSingle, threads);
  for (const data::Rows& bank : *rows_) population_->add(bank);
}

Banks equal_banks(const Profile& profile, const data::Rows& records, uint64_t size, double clip,
                  int threads) {
  std::vector<data::Rows> rows;
  for (uint64_t bank = 0; bank < kBanks; ++bank)
    rows.push_back(part_of(records, bank * size, (bank + 1) * size));
  return {profile, std::move(rows), clip, threads};
}

double Banks::curvature() const {
  double largest = 0;
  for (const data::Rows& bank : *rows_)
    largest = std::fmax(largest, learn::largest_curvature(population_->model().loss, bank));
  return largest;
}

Plan literal(const Profile& profile, const Banks& banks) {
  const double curvature = banks.curvature();
  const bool steep = std::isfinite(curvature) && profile.step * curvature > 1.5;
  return {
      .schedule = learn::algorithm2(kT - 2, steep ? 1 / curvature : profile.step,
                                    learn::Average::kPaper, std::vector<double>(banks.columns())),
      .answers = kT,
      .bound = profile.bound};
}

std::vector<Budgets> equal_budgets(const std::vector<double>& epsilons) {
  std::vector<Budgets> budgets;
  for (double epsilon : epsilons)
    budgets.push_back({.epsilon = std::vector<double>(kBanks, epsilon)});
  return budgets;
}

Result<Samples> sample(const Study& study, const Banks& banks, const Plan& plan,
                       const std::vector<Budgets>& budgets, uint64_t runs, uint64_t stream,
                       const std::vector<uint64_t>& rounds) {
  constexpr uint64_t kCellsMax = 1024;
  check(budgets.size() <= kCellsMax);
  Job job{.population = banks.population(),
          .rule = plan.schedule,
          .cells = {},
          .seed = study.seed,
          .runs = runs,
          .rounds = rounds};
  for (const Budgets& at : budgets) {
    Cell cell{.weights = at.weights, .stream = stream * kCellsMax + job.cells.size()};
    for (size_t i = 0; i < at.epsilon.size(); ++i)
      cell.scales.push_back(2 * plan.bound * plan.answers * at.overlap /
                            (banks.rows(i) * at.epsilon[i]));
    job.cells.push_back(std::move(cell));
  }
  return sim::monte_carlo::run(
      job, {.threads = study.threads, .store = study.keep, .go_on = study.go_on});
}

std::vector<uint64_t> every_round() {
  std::vector<uint64_t> rounds;
  for (uint64_t k = 1; k <= kT - 2; ++k) rounds.push_back(k);
  return rounds;
}

double at_start(const Banks& banks) {
  return banks.population().relative(std::vector<double>(banks.columns())).front();
}

Panel bands(const Banks& banks, const Samples& samples, const std::vector<double>& epsilons) {
  Panel panel{.title = "median of the runs, and their 25 to 75 %",
              .x = {.label = "iteration k", .unit = "rounds"},
              .y = {.label = "relative fitness ψ(θ̄[k])", .log = true}};
  const double start = at_start(banks);
  for (size_t e = 0; e < epsilons.size(); ++e) {
    Series series{
        .name = epsilon_text(epsilons[e]), .x = {2}, .y = {start}, .low = {start}, .high = {start}};
    for (size_t k = 0; k < samples[e].noted.size(); ++k) {  // After answer k + 1 there is θ̄[k + 3].
      const sim::Spread spread = sim::spread_of(samples[e].noted[k]);
      series.x.push_back(double(k + 3)), series.y.push_back(spread.p50);
      series.low.push_back(spread.p25), series.high.push_back(spread.p75);
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

std::string compared_with_start(const Banks& banks, const Samples& samples,
                                const std::vector<double>& epsilons) {
  const double start = at_start(banks);
  std::string worse;
  for (size_t e = 0; e < epsilons.size(); ++e)
    if (samples[e].spread().p50 > start)
      worse += (worse.empty() ? "" : " and ") + epsilon_text(epsilons[e]);
  return fmt::format("The start θ = 0, which costs no privacy, has ψ = {:.2f}. {}", start,
                     worse.empty() ? "Every ε ends better."
                                   : "Training ends worse than it began at " + worse + ".");
}

std::vector<Measure> ends_below_start(const Banks& banks, const Samples& samples,
                                      const std::vector<double>& epsilons, uint64_t runs) {
  std::vector<Measure> measures;
  const Estimate start{at_start(banks), 0};
  for (size_t e = 0; e < epsilons.size(); ++e) {
    const Estimate end = median(samples[e].spread(), runs);
    const std::string at = epsilon_text(epsilons[e]);
    measures.push_back(compared("budgets at which the median ends below its start",
                                "median ψ after T rounds over ψ at the start, " + at,
                                ratio(end, start), 0, 1));
    measures.push_back(beside("median ψ after T rounds, " + at, end));
  }
  return measures;
}

std::vector<Measure> improves_with_budget(const Samples& samples,
                                          const std::vector<double>& epsilons, uint64_t runs) {
  std::vector<Measure> measures;
  for (size_t e = 0; e + 1 < epsilons.size(); ++e)
    measures.push_back(compared(
        "steps to a larger budget that improve the median",
        fmt::format("median ψ at ε = {:g} over that at ε = {:g}", epsilons[e], epsilons[e + 1]),
        ratio(median(samples[e].spread(), runs), median(samples[e + 1].spread(), runs)), 1, kAny));
  return measures;
}

Result<std::vector<Measure>> within_ninety(const Study& study, const Banks& banks, const Plan& plan,
                                           double epsilon, uint64_t runs, uint64_t stream) {
  const auto at = [&](double each, uint64_t chance) -> Result<Estimate> {
    const Samples samples = TRY(sample(study, banks, plan, equal_budgets({each}), runs, chance));
    return mean(samples[0].spread());
  };
  const auto share = [](const Estimate& psi) {
    const double part = 1 / (1 + psi.value);
    return Estimate{part, part * part * psi.error};
  };
  const Estimate psi = TRY(at(epsilon, stream));
  const std::string where =
      fmt::format("n_i = {}, ε = {:.3g}", grouped(uint64_t(banks.rows(0))), epsilon);
  Measure within = between("f*/E f, " + where, share(psi), .9, 1);
  within.paper = .9;
  within.fitted = study.data.empty();
  std::vector<Measure> measures = {within, beside("E ψ, " + where, psi)};
  constexpr uint64_t kOther = 10;  // streams apart
  if (!study.further)
    measures.push_back(
        beside("f*/E f at a third of that ε", share(TRY(at(epsilon / 3, stream + kOther)))));
  return measures;
}

Figure sync_figure(const Study& study, std::string id, std::string item, std::string title,
                   std::string claim) {
  return {.id = std::move(id),
          .paper = "Wu et al.",
          .item = std::move(item),
          .title = std::move(title),
          .claim = std::move(claim),
          .seed = study.seed};
}

}  // namespace parley::reproduce::sync
