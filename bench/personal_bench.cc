// Times personal models: all centres and strengths, cross-validated and mixed, by loss, size of the
// owner and threads:
//   personal_bench [ROWS COLUMNS]
//
// Rows are drawn: uniform numbers in [-1, 1] and a bias; the joint and the pilot's model are the
// truth with an error each.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "parley/base/math/seeded_random.h"
#include "parley/learn/objective.h"
#include "parley/learn/personal/personal.h"

namespace {

using namespace parley;

std::vector<double> disturbed(std::vector<double> theta, double by, SeededRandom& random) {
  for (double& value : theta) value += by * random.normal();
  return theta;
}

learn::PersonalInput drawn(const learn::Losses& loss, size_t rows, size_t columns) {
  SeededRandom random(1, columns);
  const std::vector<double> theta = disturbed(std::vector<double>(columns), .3, random);
  auto own = std::make_shared<data::Rows>(columns);
  std::vector<double> z(columns, 1.0);
  for (size_t i = 0; i < rows; ++i) {
    double score = theta.back();
    for (size_t j = 0; j + 1 < columns; ++j)
      z[j] = 2 * random.uniform() - 1, score += theta[j] * z[j];
    const double chance = 1 / (1 + std::exp(-score));
    own->add(z, two_classes(loss) ? (random.uniform() < chance ? 1 : -1) : score + random.normal());
  }
  return {.loss = loss,
          .rows = own,
          .bias = columns - 1,
          .pilot = disturbed(theta, .1, random),
          .hessian = learn::clipped_hessian(loss, *own, theta, learn::ClipIn::kNone, 0, 1e-3),
          .joint = disturbed(theta, .02, random)};
}

void measure(const learn::Losses& loss, size_t rows, size_t columns, int threads) {
  const learn::PersonalInput input = drawn(loss, rows, columns);
  double seconds = INFINITY, processor = INFINITY;  // the best of three; of all threads together
  size_t candidates = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto started = std::chrono::steady_clock::now();
    const std::clock_t used = std::clock();
    const auto models = learn::personal_models(input, {.threads = threads});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    seconds = std::fmin(seconds, took.count());
    processor = std::fmin(processor, double(std::clock() - used) / CLOCKS_PER_SEC);
    candidates = models->candidates.size();
  }
  std::printf("%-9s %7zu %8zu %11zu %8d %8.3f %10.3f\n", name_of(loss).data(), rows, columns,
              candidates, threads, seconds, processor);
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%-9s %7s %8s %11s %8s %8s %10s\n", "loss", "rows", "columns", "candidates",
              "threads", "seconds", "processor");
  struct Size {
    size_t rows, columns;
  };
  std::vector<Size> sizes = {{200, 24}, {9000, 68}};
  if (argc == 3) sizes = {{size_t(std::atol(argv[1])), size_t(std::atol(argv[2]))}};
  for (const Size& size : sizes)
    for (const learn::Losses& loss :
         {learn::Losses(learn::Squared{}), learn::Losses(learn::Logistic{})})
      for (int threads : {1, 2}) measure(loss, size.rows, size.columns, threads);
}
