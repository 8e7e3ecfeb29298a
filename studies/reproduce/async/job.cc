#include "studies/reproduce/async/job.h"

#include <algorithm>
#include <cmath>

#include "parley/learn/solver/solvers.h"

namespace parley::reproduce::async {
namespace {

using sim::monte_carlo::Population;

constexpr double kFree = 1e6;  // a box that nothing reaches

learn::AsyncRule rule_of(const Population& owners, const AsyncPlan& plan) {
  learn::AsyncRule rule{.step = plan.step,
                        .l2 = kAsyncL2,
                        .box = HUGE_VAL,
                        .dimension = owners.columns(),
                        .rounds = kAsyncRounds,
                        .output = plan.output};
  for (double share : owners.shares()) rule.add(share, 1);
  rule.set_steps();
  return rule;
}

/// The largest eigenvalue of the owner's 2 E z z', by power iteration.
double curvature(const learn::Moments& moments) {
  const size_t p = moments.columns();
  std::vector<double> v(p, 1.0), next(p);
  double value = 0;
  for (int k = 0; k < 200; ++k) {
    double norm = 0;
    for (size_t i = 0; i < p; ++i) {
      next[i] = 0;
      for (size_t j = 0; j < p; ++j) next[i] += 2 * moments.product(i, j) * v[j];
      norm += next[i] * next[i];
    }
    value = std::sqrt(norm);
    if (value == 0) return 0;
    for (size_t i = 0; i < p; ++i) v[i] = next[i] / value;
  }
  return value;
}

}  // namespace

Population owners_of(const Records& records, const std::vector<uint64_t>& sizes, double bound,
                     int threads) {
  sim::monte_carlo::Model model{.loss = learn::Squared{}, .l2 = kAsyncL2};
  if (bound > 0) model.clip = learn::ClipIn::kL1, model.limit = bound;
  Population owners(model, records.rows.columns(), sim::monte_carlo::Precision::kSingle, threads);
  size_t begin = 0;
  for (uint64_t size : sizes) {
    owners.add(part_of(records.rows, begin, begin + size));
    begin += size;
  }
  return owners;
}

Result<Samples> sample(const Study& study, const Population& owners, const AsyncPlan& plan,
                       const std::vector<double>& epsilons, uint64_t runs, uint64_t stream,
                       const std::vector<uint64_t>& rounds) {
  const uint64_t count = owners.owners(), cap = (kAsyncRounds + count - 1) / count;
  sim::monte_carlo::Async async{.rule = rule_of(owners, plan)};
  if (plan.capped) async.caps.assign(count, static_cast<uint32_t>(cap));
  sim::monte_carlo::Job job{.population = owners,
                            .rule = async,
                            .cells = {},
                            .seed = study.seed,
                            .runs = runs,
                            .rounds = rounds};
  const double answers = static_cast<double>(plan.capped ? cap : kAsyncRounds);
  for (double epsilon : epsilons) {
    sim::monte_carlo::Cell cell{.stream = stream * 64 + job.cells.size()};
    for (size_t i = 0; i < count; ++i)
      cell.scales.push_back(2 * plan.bound * answers / (owners.rows(i) * epsilon));
    job.cells.push_back(std::move(cell));
  }
  return sim::monte_carlo::run(
      job, {.threads = study.threads, .store = study.keep, .go_on = study.go_on});
}

double stable_step(const Population& owners, double step) {
  double largest = 0;
  for (size_t i = 0; i < owners.owners(); ++i)
    largest = std::max(largest,
                       double(owners.owners()) * owners.shares()[i] * curvature(owners.moments(i)));
  return step * largest < 1.9 ? step : 1.2 / largest;
}

double alone(const Population& owners, size_t owner) {
  const learn::Optimum best = learn::squared_optimum(owners.moments(owner), kAsyncL2, kFree);
  return owners.relative(best.theta).front();
}

double at_start(const Population& owners) {
  return owners.relative(std::vector<double>(owners.columns())).front();
}

Figure async_figure(const Study& study, std::string id, std::string item, std::string title,
                    std::string claim) {
  Figure figure{.id = std::move(id),
                .paper = "Farokhi et al.",
                .item = std::move(item),
                .title = std::move(title),
                .claim = std::move(claim),
                .seed = study.seed};
  figure.settings = {
      {"algorithm", "asynchronous Algorithm 1, T = 1,000 rounds"},
      {"model", "linear regression, g = 1e-5 |θ|² (read as; the scan has “107707 6”)"}};
  return figure;
}

}  // namespace parley::reproduce::async
