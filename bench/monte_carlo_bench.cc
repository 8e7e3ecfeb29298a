// Monte Carlo for bench/monte_carlo.py:
//   monte_carlo_bench svm FILE THREADS RUNS SCALE REPEATS
// runs Algorithm 2 (T = 100, c = 1, l2 = 1, box 50) with the hinge loss on the rows of rows_file.h,
// cut into three owners whose mean gradients get Laplace noise of SCALE.
//   monte_carlo_bench grid FILE THREADS RUNS REPEATS
// runs the same rule with the squared loss for ten epsilons and ten numbers of rows, everything
// included from the rows in memory to the table.
// Each prints one JSON object: the seconds of the best repeat, and what came out.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "parley/sim/monte_carlo/monte_carlo.h"
#include "rows_file.h"

namespace parley {
namespace {

using data::Rows, sim::monte_carlo::Cell, sim::monte_carlo::Job, sim::monte_carlo::Population;

constexpr uint32_t kRounds = 100;  // the paper's T

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Rows part(const Rows& rows, size_t begin, size_t end) {
  Rows result(rows.columns());
  result.reserve(end - begin);
  for (size_t i = begin; i < end; ++i) result.add(rows.row(i), rows.label(i));
  return result;
}

learn::Schedule algorithm2(double c, size_t columns) {
  return learn::algorithm2(kRounds - 2, c, learn::Average::kPaper, std::vector<double>(columns));
}

void svm(char** argument) {
  const Rows rows = rows_of_file(argument[0]);
  Population population({.loss = learn::Hinge{}, .l2 = 1, .box = 50}, rows.columns());
  std::vector<Rows> owners;
  for (size_t i = 0; i < 3; ++i)
    owners.push_back(part(rows, rows.size() * i / 3, rows.size() * (i + 1) / 3));
  const double pack = seconds([&] {
    for (const Rows& owner : owners) population.add(owner);
  });
  population.optimum();
  const double scale = std::atof(argument[3]);
  const Job job{.population = population,
                .rule = algorithm2(1, rows.columns()),
                .cells = {Cell{.scales = {scale, scale, scale}}},
                .runs = std::strtoul(argument[2], nullptr, 10)};
  double best = 1e9;
  sim::Spread spread;
  for (int i = 0; i < std::atoi(argument[4]); ++i)
    best = std::min(best, seconds([&] {
                      const auto samples = run(job, {.threads = std::atoi(argument[1])});
                      spread = (*samples)[0].spread();
                    }));
  const double optimum = population.optimum().fitness;
  std::printf("{\"seconds\": %.9g, \"pack\": %.9g, \"fitness\": %.9g, \"error\": %.9g}\n", best,
              pack, optimum * (1 + spread.mean), optimum * spread.standard_error);
}

/// Mean relative fitness by number of rows, then by epsilon.
std::vector<double> grid_of(const std::vector<std::vector<Rows>>& pieces, int threads,
                            uint64_t runs) {
  const size_t p = pieces[0][0].columns();
  std::vector<learn::Moments> moments(3, learn::Moments(p));
  std::vector<double> table;
  for (size_t k = 0; k < 10; ++k) {
    Population population({.loss = learn::Squared{}}, p);
    for (size_t i = 0; i < 3; ++i) {
      moments[i].add(pieces[i][k], threads);
      population.add(moments[i]);
    }
    Job job{.population = population, .rule = algorithm2(.5, p), .seed = k, .runs = runs};
    for (size_t e = 0; e < 10; ++e) {
      const double epsilon = .1 * std::pow(100, double(e) / 9), clip = 4560;
      const double scale = 2 * clip * kRounds / (population.rows(0) * epsilon);
      job.cells.push_back({.scales = {scale, scale, scale}, .stream = e});
    }
    const auto samples = run(job, {.threads = threads});
    for (const auto& sample : *samples) table.push_back(sample.spread().mean);
  }
  return table;
}

void grid(char** argument) {
  const Rows rows = rows_of_file(argument[0]);
  std::vector<std::vector<Rows>> pieces(3);
  for (size_t i = 0; i < 3; ++i)
    for (size_t k = 0; k < 10; ++k)
      pieces[i].push_back(
          part(rows, rows.size() * (10 * i + k) / 30, rows.size() * (10 * i + k + 1) / 30));
  double best = 1e9;
  std::vector<double> table;
  for (int i = 0; i < std::atoi(argument[3]); ++i)
    best = std::min(best, seconds([&] {
                      table = grid_of(pieces, std::atoi(argument[1]),
                                      std::strtoul(argument[2], nullptr, 10));
                    }));
  std::printf("{\"seconds\": %.9g, \"first\": %.9g, \"last\": %.9g}\n", best, table.front(),
              table.back());
}

}  // namespace
}  // namespace parley

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  if (which == "svm" && argc == 7) return parley::svm(argv + 2), 0;
  if (which == "grid" && argc == 6) return parley::grid(argv + 2), 0;
  std::fprintf(stderr, "scripts/bench monte_carlo runs this\n");
  return 2;
}
