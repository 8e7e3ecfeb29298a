#include "parley/base/math/seeded_random.h"

#include <cstddef>

#include "parley/base/math/portable.h"
#include "parley/base/result.h"

namespace parley {
namespace {

__extension__ using Uint128 = unsigned __int128;

}  // namespace

uint64_t SeededRandom::word() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  uint64_t left = block_++, right = stream_, key = seed_;
  for (int round = 0; round < 10; ++round) {
    const auto product = Uint128{0xD2B74407B1CE6E93} * left;
    left = static_cast<uint64_t>(product >> 64) ^ key ^ right;
    right = static_cast<uint64_t>(product);
    key += 0x9E3779B97F4A7C15;
  }
  spare_ = right;
  has_spare_ = true;
  return left;
}

double SeededRandom::uniform() {
  return (static_cast<double>(word() >> 12) + .5) * 0x1p-52;  // Exact: 53 bits.
}

double SeededRandom::normal() { return normal_quantile(uniform()); }

int SeededRandom::index(int n) {
  check(n > 0);
  return static_cast<int>(uniform() * n);
}

int SeededRandom::choice(std::span<const double> shares) {
  const double u = uniform();
  double sum = 0;
  for (size_t i = 0; i + 1 < shares.size(); ++i)
    if (u < (sum += shares[i])) return static_cast<int>(i);
  return static_cast<int>(shares.size()) - 1;
}

int SeededRandom::poisson(double mean) {
  const double u = uniform();
  double probability = portable_exp(-mean), sum = probability;
  int k = 0;
  while (u > sum && k < 1000) {  // The bound ends a sum that rounds to just below u.
    probability *= mean / ++k;
    sum += probability;
  }
  return k;
}

}  // namespace parley
