// Federated training on a9a over owners of equal size, for experiments/federated_a9a.py:
//   federated_bench FOLDER SEEDS
//
// The product's own terms (plan/secagg_terms.h), local steps and shares of noise; sums are taken
// without the aggregation around them, which does not change them (protocol/secagg). Every cell of
// the table in docs/explanation/secure-aggregation.md: 200 local steps, K at a time, the mean of
// the last quarter of the rounds; then noise of every owner for itself. Prints one JSON object per
// cell and seed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "parley/data/readers/libsvm.h"
#include "parley/learn/federated/shrink.h"
#include "parley/learn/fitness.h"
#include "parley/learn/kernel/evaluation_map.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/secagg_terms.h"
#include "parley/privacy/budget/budget.h"
#include "parley/sim/seeded_entropy.h"

namespace {

using namespace parley;
using Sparse = std::shared_ptr<const data::SparseRows>;

constexpr size_t kColumns = 123;
constexpr double kL2 = 1e-3, kBox = 1e3;
constexpr int kSteps = 200;

data::Schema schema() {
  data::Schema schema;
  for (size_t j = 1; j <= kColumns; ++j)
    schema.columns.push_back({.name = "x" + std::to_string(j), .low = 0, .high = 1});
  schema.target = {.column = "income", .levels = {"-1", "+1"}};
  return schema;
}

/// 14 attributes of one each: a factor that is public brings every record to norm 1.
Sparse read(const std::string& file) {
  const auto read = data::read_libsvm_sparse(file, schema());
  if (!read) std::fputs((describe(read.error()) + "\n").c_str(), stderr), std::exit(1);
  auto scaled = std::make_shared<data::SparseRows>(kColumns);
  for (size_t i = 0; i < read->rows.size(); ++i) {
    const std::vector<double> values(read->rows.row_values(i).size(), 1 / std::sqrt(14.));
    scaled->add(read->rows.row_indices(i), values, read->rows.label(i));
  }
  return std::get<Sparse>(learn::shrunk(Sparse(scaled), 1));
}

/// Rows in an order in which owners hold consecutive parts: the larger the skew, the more of a
/// label lies together; 1 sorts by it.
data::SparseRows ordered(const data::SparseRows& rows, double skew) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> keys;
  for (size_t i = 0; i < rows.size(); ++i)
    keys.push_back((1 - skew + 1e-6) * uniform(random) + skew * (rows.label(i) > 0));
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  data::SparseRows out(kColumns);
  for (const size_t i : order) out.add(rows.row_indices(i), rows.row_values(i), rows.label(i));
  return out;
}

struct Cell {
  const char* split;
  size_t owners;
  int local_steps;
  double epsilon;  // 0: without noise
  bool alone;      // every owner protects itself
};

plan::SecaggPlan plan_of(const Cell& cell, size_t rows) {
  std::string text =
      "[charter]\nversion = 1\nname = \"a9a\"\nconsortium = \"adults.example\"\n"
      "[target]\ncolumn = \"income\"\nlevels = [\"low\", \"high\"]\n"
      "[[column]]\nname = \"x\"\ncount = 123\nkind = \"number\"\nbounds = [0.0, 1.0]\n"
      "missing = 0.0\n[model]\nloss = \"logistic\"\nl2 = 1e-3\nbox = 1000.0\n"
      "[protocol]\nname = \"federated\"\nstep = 3.5\nrounds = " +
      std::to_string(kSteps / cell.local_steps) +
      "\nlocal_steps = " + std::to_string(cell.local_steps) +
      "\n[privacy]\nmax_row_norm = 1.0\ndelta = 1e-5\n[secure_aggregation]\nrepeats = 0\n"
      "colluders = 1\nsurvivors = " +
      std::to_string(cell.owners) + "\n";
  for (size_t i = 0; i < cell.owners; ++i)
    text += "[[owner]]\nname = \"o" + std::to_string(i) + "\"\nrows = " + std::to_string(rows) +
            "\nepsilon = " + std::to_string(cell.epsilon > 0 ? cell.epsilon : 1) + "\n";
  const auto charter =
      charter::parse_charter(text + "[learner]\nname = \"registry\"\n", "a9a", ".");
  if (!charter) std::fputs((describe(charter.error()) + "\n").c_str(), stderr), std::exit(1);
  return *plan::secagg_plan(*charter);
}

std::vector<int64_t> part_of(const plan::SecaggPlan& plan, const data::SparseRows& rows,
                             size_t owner, const std::vector<double>& theta) {
  const learn::LocalUpdate& update = plan.owners[owner].update();
  const size_t each = update.plan().rows;
  const auto moved = update.run(theta, [&](std::span<const double> at) {
    std::vector<double> gradient;
    for (const int64_t q : learn::lattice_sum<L2>(learn::Logistic{}, update.lattice(), at, rows,
                                                  owner * each, (owner + 1) * each))
      gradient.push_back(double(q) * (update.lattice().gamma() / double(each)));
    return gradient;
  });
  return update.rounded(moved, plan.gamma);
}

/// The mean of the last quarter of the rounds; every owner adds what `noise` gives.
template <class Noise>
std::vector<double> train(const plan::SecaggPlan& plan, const data::SparseRows& rows, int rounds,
                          const Noise& noise) {
  const int tail = std::max(1, rounds / 4);
  std::vector<double> theta(kColumns), mean(kColumns);
  for (int round = 0; round < rounds; ++round) {
    std::vector<int64_t> sum(kColumns);
    for (size_t owner = 0; owner < plan.owners.size(); ++owner) {
      const auto part = part_of(plan, rows, owner, theta);
      for (size_t j = 0; j < kColumns; ++j) sum[j] += part[j] + noise();
    }
    for (size_t j = 0; j < kColumns; ++j) theta[j] += plan.gamma * double(sum[j]);
    for (size_t j = 0; j < kColumns && round >= rounds - tail; ++j) mean[j] += theta[j] / tail;
  }
  return mean;
}

std::vector<double> trained(const Cell& cell, const data::SparseRows& rows, uint64_t seed) {
  const plan::SecaggPlan plan = plan_of(cell, rows.size() / cell.owners);
  const int rounds = kSteps / cell.local_steps;
  sim::SeededEntropy entropy(seed, "noise", 0);
  if (cell.epsilon == 0) return train(plan, rows, rounds, [] { return int64_t{0}; });
  if (!cell.alone) {
    const auto share = std::get<privacy::GaussianShare>(plan.owners[0].mechanism);
    return train(plan, rows, rounds, [&] { return share.sample(entropy); });
  }
  const double rho = privacy::Budget::make(*privacy::Epsilon::make(cell.epsilon), 1e-5, 0)->rho_max;
  const auto alone = *privacy::Gaussian::calibrate(plan.owners[0].sensitivity(), uint32_t(rounds),
                                                   *privacy::Rho::make(rho));
  return train(plan, rows, rounds, [&] { return alone.sample(entropy); });
}

double accuracy(const std::vector<double>& theta, const data::SparseRows& rows) {
  double right = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    right += (learn::score_of(theta, rows, i) > 0) == (rows.label(i) > 0);
  return right / double(rows.size());
}

std::vector<Cell> cells() {
  std::vector<Cell> cells;
  for (const int k : {1, 2, 5, 10, 20, 50}) {
    for (const double epsilon : {0., 1., 3.}) cells.push_back({"iid", 10, k, epsilon, false});
    for (const double epsilon : {0., 1.}) cells.push_back({"sorted", 10, k, epsilon, false});
  }
  for (const int k : {1, 5, 20})
    for (const double epsilon : {0., 1.}) cells.push_back({"mild", 10, k, epsilon, false});
  for (const double epsilon : {1., 3.}) {
    for (const size_t owners : {size_t{10}, size_t{100}})
      cells.push_back({"iid", owners, 10, epsilon, true});
    cells.push_back({"iid", 100, 10, epsilon, false});
  }
  return cells;
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 3);
  const std::string folder = argv[1];
  const Sparse all = read(folder + "/a9a/a9a.zst"), test = read(folder + "/a9a/a9a.t.zst");
  learn::Fitness fitness(learn::Logistic{}, kColumns, kL2, 2);
  fitness.add(*all);
  const double best = fitness.minimum(kBox).fitness;
  for (const Cell& cell : cells()) {
    const std::string split = cell.split;
    const auto rows = ordered(*all, split == "iid" ? 0 : split == "mild" ? .2 : 1);
    const int seeds = cell.epsilon == 0 ? 1 : std::atoi(argv[2]);
    for (int seed = 1; seed <= seeds; ++seed) {
      const auto theta = trained(cell, rows, uint64_t(seed));
      std::printf(
          "{\"split\": \"%s\", \"owners\": %zu, \"local_steps\": %d, \"epsilon\": %g, "
          "\"alone\": %s, \"seed\": %d, \"excess\": %.6f, \"accuracy\": %.4f}\n",
          cell.split, cell.owners, cell.local_steps, cell.epsilon, cell.alone ? "true" : "false",
          seed, fitness.at(theta) - best, accuracy(theta, *test));
      std::fflush(stdout);
    }
  }
}
