// Times the masks of secure aggregation: secagg_bench [REPEATS]; bench/secagg.py compares.
//
// For (members, words) it prints one JSON line: milliseconds in which one member of a complete
// graph masks its vector, agreements left out and with them, the server takes the masks of all off,
// and one member draws its share of the noise.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/privacy/noise.h"
#include "parley/protocol/secagg/secrets.h"

namespace {

using namespace parley;
using namespace parley::protocol;

double best_ms(int repeats, const std::function<void()>& work) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void run(size_t members, size_t words, int repeats) {
  SystemEntropy entropy;
  std::vector<Secret32> seeds;
  for (size_t i = 0; i < members; ++i) seeds.push_back(draw_secret(entropy));
  std::vector<AgreementKey> keys;
  for (size_t i = 0; i < members; ++i) keys.push_back(AgreementKey::draw(entropy));
  std::vector<uint64_t> vector(words);
  const auto mask = [&] {
    add_mask(seeds[0], vector);
    for (size_t i = 1; i < members; ++i)
      i % 2 ? add_mask(seeds[i], vector) : take_mask(seeds[i], vector);
  };
  const auto agree = [&] {
    for (size_t i = 1; i < members; ++i)
      check(bool(keys[0].agree(keys[i].public_key(), "mask", Hash{})));
  };
  const auto unmask = [&] {
    for (const Secret32& seed : seeds) take_mask(seed, vector);
  };
  const privacy::DiscreteGaussian gaussian(uint64_t{1} << 40);
  std::vector<int64_t> noise(words);
  const auto draw = [&] {
    for (int64_t& each : noise) each = gaussian.sample(entropy);
  };
  std::printf(
      "{\"members\": %zu, \"words\": %zu, \"mask\": %.4f, \"agree\": %.4f, \"unmask\": %.4f, "
      "\"noise\": %.4f}\n",
      members, words, best_ms(repeats, mask), best_ms(std::min(repeats, 5), agree),
      best_ms(repeats, unmask), best_ms(std::min(repeats, 3), draw));
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 20;
  run(10, 100'000, repeats);
  run(100, 1'000, repeats);
}
