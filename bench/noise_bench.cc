// How much noise one core draws in a second, from the entropy that owners use:
//   noise_bench [SECONDS]
// Prints one line of each sampler: its parameter, millions of draws a second, and words a draw.
// Seconds are of one thread; each sampler runs for SECONDS (default 1), the best batch counts.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parley/base/entropy.h"
#include "parley/privacy/noise.h"
#include "parley/privacy/poisson.h"
#include "parley/privacy/table_sampler.h"

namespace parley {
namespace {

using privacy::DiscreteGaussian, privacy::Uint128;
using Clock = std::chrono::steady_clock;

class Counted final : public Entropy {
 public:
  Counted() : Entropy(block_) {}
  uint64_t words = 0;

 private:
  void refill() override {
    ++words;
    block_.words[kBlock - 1] = system_.word();
    block_.left = 1;
  }
  Block block_;
  SystemEntropy system_;
};

constexpr int kBatch = 20'000;  // a few milliseconds: some batch is not interrupted
volatile int64_t sink;          // Keeps the draws from being optimised away.

template <class Draw>
double batch_seconds(Draw& draw, Entropy& entropy) {
  const auto start = Clock::now();
  int64_t sum = 0;
  for (int i = 0; i < kBatch; ++i) sum += draw(entropy);
  sink = sum;
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Draw>
void report(const char* name, const std::string& parameter, double seconds, Draw draw) {
  Counted counted;
  batch_seconds(draw, counted);
  SystemEntropy entropy;
  const auto start = Clock::now();
  double best = 1e9;
  while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
    best = std::min(best, batch_seconds(draw, entropy));
  }
  std::printf("%-24s %-14s %8.1f M/s %6.2f words\n", name, parameter.c_str(), kBatch / best / 1e6,
              double(counted.words) / kBatch);
}

void gaussian(int bits, double seconds) {
  const DiscreteGaussian sampler(Uint128{1} << 2 * bits);
  report("Gaussian, exact", "sigma 2^" + std::to_string(bits), seconds,
         [sampler](Entropy& entropy) { return sampler.sample(entropy); });
}

void table(int bits, double seconds) {
  const auto sampler = *privacy::TableSampler::make(uint64_t{1} << 2 * bits);
  report("Gaussian, table", "sigma 2^" + std::to_string(bits), seconds,
         [&sampler](Entropy& entropy) { return sampler.sample(entropy); });
}

void skellam(int bits, double seconds) {
  const privacy::SkellamNoise sampler(uint64_t{1} << 2 * bits);
  report("Skellam, exact", "sigma 2^" + std::to_string(bits), seconds,
         [sampler](Entropy& entropy) { return sampler.sample(entropy); });
}

void run(double seconds) {
  report("words", "", seconds, [](Entropy& entropy) { return int64_t(entropy.word()); });
  for (int bits : {4, 20, 33})
    report("Laplace, exact", "scale 2^" + std::to_string(bits), seconds, [bits](Entropy& entropy) {
      return privacy::discrete_laplace(entropy, uint64_t{1} << bits);
    });
  for (int bits : {3, 10, 20, 30, 33, 48}) gaussian(bits, seconds);
  for (int bits : {3, 10, 20, 30}) skellam(bits, seconds);
  for (int bits : {3, 10, 12}) table(bits, seconds);
}

}  // namespace
}  // namespace parley

int main(int count, char** arguments) { parley::run(count > 1 ? std::atof(arguments[1]) : 1); }
