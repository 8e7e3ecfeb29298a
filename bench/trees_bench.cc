// Times boosted trees, and grows them for bench/trees.py:
//   trees_bench [THREADS]
// 40 trees of depth 3 on 10,000 x 40 and 100,000 x 100 normal numbers, best of three; time on the
// clock and of the processors.
//
//   trees_bench grow  TRAIN TEST LOSS TREES DEPTH LEARNING_RATE LEAF_ROWS L2 THREADS
//   trees_bench owner OWN   TEST LOSS SEED THREADS [PUBLIC]
// Files are those of rows_file.h. Prints one JSON object: seconds, trees and the scores of TEST.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "parley/base/math/seeded_random.h"
#include "parley/data/trees/leaves.h"
#include "parley/learn/trees/for_owner.h"
#include "rows_file.h"

namespace {

using namespace parley;

struct Timed {
  data::Trees trees{};
  double seconds = 0, processor = 0;
};

template <class Work>
Timed timed(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t before = std::clock();
  Timed done{.trees = work()};
  done.processor = double(std::clock() - before) / CLOCKS_PER_SEC;
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return done;
}

data::Rows normal_rows(size_t count, size_t columns) {
  data::Rows rows(columns);
  SeededRandom random(1, 0);
  std::vector<double> z(columns);
  for (size_t i = 0; i < count; ++i) {
    for (double& value : z) value = random.normal();
    const double score = z[0] * z[1] + z[2];
    rows.add(z, random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : -1);
  }
  return rows;
}

void time_shapes(int threads) {
  constexpr size_t kShapes[][2] = {{10'000, 40}, {100'000, 100}};
  for (const auto& [count, columns] : kShapes) {
    const data::Rows rows = normal_rows(count, columns);
    double best = HUGE_VAL, processor = HUGE_VAL;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Timed done = timed([&] { return *learn::boost(rows, {.trees = 40}, threads); });
      best = std::min(best, done.seconds), processor = std::min(processor, done.processor);
    }
    std::printf("%zu x %zu, %d threads: %.3f s, processors %.3f s\n", count, columns, threads, best,
                processor);
  }
}

Timed grow(char** arguments) {
  const data::Rows rows = rows_of_file(arguments[0]);
  const learn::BoostOptions options{.loss = *learn::loss_named(arguments[2]),
                                    .trees = size_t(std::atoi(arguments[3])),
                                    .learning_rate = std::atof(arguments[5]),
                                    .limits = {.depth = size_t(std::atoi(arguments[4])),
                                               .leaf_rows = uint64_t(std::atoi(arguments[6])),
                                               .l2 = std::atof(arguments[7])}};
  return timed([&] { return *learn::boost(rows, options, std::atoi(arguments[8])); });
}

Timed for_owner(int count, char** arguments) {
  const data::Rows own = rows_of_file(arguments[0]);
  const data::Rows pilot = count > 5 ? rows_of_file(arguments[5]) : data::Rows(own.columns());
  return timed([&] {
    return learn::boosted_for_owner(own, count > 5 ? &pilot : nullptr,
                                    *learn::loss_named(arguments[2]),
                                    uint64_t(std::atoi(arguments[3])), std::atoi(arguments[4]))
        ->trees;
  });
}

void print(const Timed& done, const data::Rows& test) {
  std::printf("{\"seconds\": %.6f, \"processor\": %.6f, \"trees\": %zu, \"scores\": [",
              done.seconds, done.processor, done.trees.trees.size());
  const char* separator = "";
  for (const double score : data::scores_of(done.trees, test))
    std::printf("%s%.17g", separator, score), separator = ", ";
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc <= 2) {
    time_shapes(argc > 1 ? std::atoi(argv[1]) : 1);
    return 0;
  }
  const bool owner = std::string_view(argv[1]) == "owner";
  check(owner ? argc == 7 || argc == 8 : argc == 11);
  print(owner ? for_owner(argc - 2, argv + 2) : grow(argv + 2), rows_of_file(argv[3]));
}
