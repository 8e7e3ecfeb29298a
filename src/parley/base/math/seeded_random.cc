#include "parley/base/math/seeded_random.h"

#include <cstddef>

#include "parley/base/math/portable.h"
#include "parley/base/result.h"

namespace parley {

uint64_t SeededRandom::word() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const RandomBlock block = seeded_block(seed_, stream_, block_++);
  spare_ = block.second;
  has_spare_ = true;
  return block.first;
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
