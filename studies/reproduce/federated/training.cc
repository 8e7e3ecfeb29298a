#include "studies/reproduce/federated/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/math/seeded_random.h"
#include "parley/base/memory/parallel.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/sim/seeded_entropy.h"

namespace parley::reproduce::federated {
namespace {

constexpr double kBox = 1e5;

/// Records in the order in which owners get them, equal parts one after the other.
std::vector<size_t> order_of(const data::SparseRows& rows, Cut cut, size_t owners, uint64_t seed) {
  SeededRandom random(seed, 81);
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[size_t(random.index(int(left)))]);
  const auto above = [&](size_t i) { return rows.label(i) > 0; };
  if (cut == Cut::kAlike) return order;
  const auto middle = std::stable_partition(order.begin(), order.end(), std::not_fn(above));
  if (cut == Cut::kSorted) return order;
  // Owner k takes k times as many of the positive ones as owner 1 does.
  std::vector<size_t> mild;
  const size_t each = rows.size() / owners, positive = size_t(order.end() - middle);
  auto negative = order.begin(), next = middle;
  for (size_t k = 0; k < owners; ++k) {
    const size_t wanted = std::min(each, 2 * positive * k / (owners * (owners - 1)));
    for (size_t i = 0; i < each; ++i) {
      const bool take = next < order.end() && (i < wanted || negative == middle);
      mild.push_back(take ? *next++ : *negative++);
    }
  }
  return mild;
}

data::AnyRows part_of(const data::SparseRows& rows, std::span<const size_t> which) {
  auto part = std::make_shared<data::SparseRows>(rows.columns());
  for (size_t i : which) {
    const auto at = rows.row_indices(i);
    part->add(at, std::vector<double>(at.size(), 1 / std::sqrt(14.0)), rows.label(i));
  }
  return std::shared_ptr<const data::SparseRows>(part);
}

learn::Fitness fitness_of(const std::vector<data::AnyRows>& rows, double l2) {
  learn::Fitness fitness(learn::Logistic{}, data::columns_of(rows[0]), l2);
  for (const data::AnyRows& each : rows)
    std::visit([&](const auto& kind) { fitness.add(*kind); }, each);
  return fitness;
}

Result<learn::LocalUpdate> local_update(const Owners& owners, const Plan& plan) {
  return learn::LocalUpdate::make({.l2 = owners.l2(),
                                   .step = plan.step(1),
                                   .steps = plan.steps,
                                   .box = kBox,
                                   .weight = 1 / double(owners.count()),
                                   .rows = owners.rows_each(),
                                   .dimension = owners.columns()});
}

/// K steps of one owner, from step t on.
std::vector<double> local_steps(const Owners& owners, const Plan& plan, size_t owner,
                                std::vector<double> v, int64_t t, const learn::Lattice& lattice) {
  for (int64_t k = 0; k < plan.steps; ++k) {
    const auto sum = std::visit(
        [&](const auto& rows) {
          return learn::lattice_sum<L2>(learn::Logistic{}, lattice, v, *rows, 0, rows->size());
        },
        owners.rows(owner));
    const double unit = lattice.gamma() / double(owners.rows_each()), step = plan.step(t + k);
    for (size_t j = 0; j < v.size(); ++j)
      v[j] -= step * (unit * double(sum[j]) + owners.l2() * v[j]);
  }
  return v;
}

}  // namespace

const char* name_of(Cut cut) {
  constexpr const char* kNames[] = {"owners alike", "mild skew of labels", "sorted by label"};
  return kNames[static_cast<int>(cut)];
}

Owners::Owners(std::vector<data::AnyRows> rows, double l2)
    : rows_(std::move(rows)), l2_(l2), all_(fitness_of(rows_, l2)), optimum_(all_.minimum(kBox)) {
  for (const data::AnyRows& each : rows_) own_.push_back(fitness_of({each}, l2));
}

Result<Owners> census_owners(const Study& study, Cut cut, size_t owners, double l2) {
  const SharedColumns columns = TRY(census_columns(study));
  const auto& rows = *std::get<std::shared_ptr<const data::SparseRows>>(columns->train);
  const std::vector<size_t> order = order_of(rows, cut, owners, study.seed);
  const size_t each = rows.size() / owners;
  std::vector<data::AnyRows> parts;
  for (size_t k = 0; k < owners; ++k)
    parts.push_back(part_of(rows, std::span(order).subspan(k * each, each)));
  return Owners(std::move(parts), l2);
}

Result<double> deviation_for(const Owners& owners, const Plan& plan, double epsilon) {
  const learn::LocalUpdate update = TRY(local_update(owners, plan));
  const double rho = privacy::zcdp_rho(epsilon, privacy::Delta(kDelta));
  const double rounds = double(plan.total / plan.steps);
  return update.sensitivity() * std::sqrt(rounds / (2 * rho));
}

Result<double> deviation_as_printed(const Owners& owners, const Plan& plan, double epsilon) {
  const learn::LocalUpdate update = TRY(local_update(owners, plan));
  const double rounds = double(plan.total / plan.steps);
  return update.sensitivity() * std::sqrt(2 * rounds * std::log(1 / kDelta)) / epsilon;
}

std::vector<double> train(const Owners& owners, const Plan& plan, uint64_t seed, uint64_t run) {
  const auto update = local_update(owners, plan);
  check(bool(update));
  const size_t p = owners.columns();
  const int64_t rounds = plan.total / plan.steps;
  const int64_t tail = plan.average ? std::max<int64_t>(1, rounds / 4) : 1;
  SeededRandom random(seed, 1'000 + run);
  std::vector<double> theta(p), mean(p);
  for (int64_t round = 0; round < rounds; ++round) {
    std::vector<double> next(p);
    for (size_t k = 0; k < owners.count(); ++k) {
      const auto v = local_steps(owners, plan, k, theta, 1 + round * plan.steps, update->lattice());
      for (size_t j = 0; j < p; ++j) next[j] += v[j] / double(owners.count());
    }
    for (size_t j = 0; j < p && plan.deviation > 0; ++j)
      next[j] += plan.deviation * random.normal();
    theta = std::move(next);
    for (size_t j = 0; j < p && round >= rounds - tail; ++j) mean[j] += theta[j] / double(tail);
  }
  return mean;
}

namespace {

/// The mean of `one(run)` over runs, with its standard error; the same on any number of threads.
Estimate mean_over(uint64_t runs, int threads, const std::function<double(uint64_t)>& one) {
  std::vector<double> found(runs);
  in_parallel(threads, found.size(), [&](size_t, size_t begin, size_t end) {
    for (size_t run = begin; run < end; ++run) found[run] = one(run);
  });
  const double n = double(found.size());
  const double mean = std::accumulate(found.begin(), found.end(), 0.0) / n;
  double squares = 0;
  for (double value : found) squares += (value - mean) * (value - mean);
  return {mean, n > 1 ? std::sqrt(squares / (n * (n - 1))) : 0};
}

}  // namespace

Estimate mean_excess(const Owners& owners, const Plan& plan, uint64_t runs, const Study& study) {
  return mean_over(plan.deviation > 0 ? runs : 1, study.threads, [&](uint64_t run) {
    return owners.excess(train(owners, plan, study.seed, run));
  });
}

paper::FederatedRule printed_rule(const Plan& plan, double epsilon) {
  return {.rounds = plan.total,
          .local_steps = plan.steps,
          .epsilon = epsilon,
          .delta = kDelta,
          .step = plan.step};
}

Estimate excess_as_printed(const Owners& owners, const paper::FederatedRule& rule, uint64_t runs,
                           const Study& study) {
  const auto gradient = [&](size_t owner, std::span<const double> at) {
    return owners.gradient(owner, at);
  };
  return mean_over(std::isinf(rule.epsilon) ? 1 : runs, study.threads, [&](uint64_t run) {
    sim::SeededEntropy entropy(study.seed, "as printed", run);
    return owners.excess(paper::federated(rule, owners.count(), owners.rows_each(),
                                          owners.columns(), gradient, entropy)
                             .value);
  });
}

Figure federated_figure(const Study& study, std::string id, std::string item, std::string title,
                        std::string claim) {
  return {.id = std::move(id),
          .paper = "Huang",
          .item = std::move(item),
          .title = std::move(title),
          .claim = std::move(claim),
          .seed = study.seed,
          .runs = 1};
}

}  // namespace parley::reproduce::federated
