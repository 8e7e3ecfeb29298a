// Times the reference optimum of rows from a file, for bench/solver.py:
//   solver_bench FILE LOSS L2 BOX THREADS REPEATS
//
// FILE is that of rows_file.h. Prints one JSON object: the seconds of each repeat, fitness,
// certified gap and theta.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "parley/base/result.h"
#include "parley/learn/fitness.h"
#include "rows_file.h"

namespace {

using namespace parley;

void print_list(const std::vector<double>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) std::printf(i == 0 ? "%.17g" : ", %.17g", numbers[i]);
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 7);
  const data::Rows rows = rows_of_file(argv[1]);
  const auto loss = learn::loss_named(argv[2]);
  check(loss.has_value());
  const double l2 = std::atof(argv[3]), box = std::atof(argv[4]);
  learn::Optimum best;
  std::vector<double> seconds;
  for (int i = 0; i < std::atoi(argv[6]); ++i) {
    const auto started = std::chrono::steady_clock::now();
    learn::Fitness fitness(*loss, rows.columns(), l2, std::atoi(argv[5]));
    fitness.add(rows);
    best = fitness.minimum(box);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
  }
  std::printf("{\"seconds\": [");
  print_list(seconds);
  std::printf("], \"fitness\": %.17g, \"gap\": %.3g, \"solver\": \"%s\", \"theta\": [",
              best.fitness, best.relative_gap, best.solver.c_str());
  print_list(best.theta);
  std::printf("]}\n");
}
