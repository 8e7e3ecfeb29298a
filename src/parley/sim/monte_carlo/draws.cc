#include "parley/sim/monte_carlo/draws.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::sim::monte_carlo {
namespace {

constexpr uint64_t kNoiseKey = 0, kTurnKey = 1;
constexpr size_t kPerBlock = 4, kBlocks = 64, kBatch = kPerBlock * kBlocks;

/// -log(v) for v = (m + 1/2) / 2^31: v = 2^e f with f near 1, and log f = 2 artanh(s), s = (f - 1)
/// / (f + 1), |s| < 0.172; what follows the last term is below 1e-9 of it. Relative error about
/// 1e-7.
[[gnu::always_inline]] inline float minus_log(uint32_t m) {
  const float v = static_cast<float>(static_cast<int32_t>(m)) + .5f;
  constexpr uint32_t kRootOfHalf = 0x3f3504f3;
  const uint32_t bits = std::bit_cast<uint32_t>(v) - kRootOfHalf;
  const auto exponent = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  const float f = std::bit_cast<float>((bits & 0x007fffff) + kRootOfHalf);
  const float s = (f - 1) / (f + 1), q = s * s;
  float series = std::fma(q, 1.f / 9, 1.f / 7);
  series = std::fma(q, series, 1.f / 5);
  series = std::fma(q, series, 1.f / 3);
  const float log_f = 2 * std::fma(s * q, series, s);
  return -std::fma(exponent - 31, 0.693147182464599609375f, log_f);
}

/// The top bit is the sign.
void laplace(const uint32_t* words, double* out) {
  for (size_t k = 0; k < kBatch; ++k) {
    const float size = minus_log(words[k] & 0x7fffffff);
    out[k] = std::copysign(size, std::bit_cast<float>(words[k]));
  }
}

void gaussian(const uint32_t* words, double* out) {
  for (size_t k = 0; k < kBatch; ++k) out[k] = normal_quantile((words[k] + .5) * 0x1p-32);
}

}  // namespace

void CounterDraws::noise(uint64_t stream, uint64_t run, uint64_t first,
                         std::span<double> out) const {
  const uint64_t key = seeded_block(seed_, stream, kNoiseKey).first;
  uint64_t block = first / kPerBlock;
  size_t skip = first % kPerBlock;
  uint32_t words[kBatch];
  double batch[kBatch];
  for (size_t done = 0; done < out.size(); block += kBlocks, skip = 0) {
    for (size_t k = 0; k < kBlocks; ++k) {
      const RandomBlock random = seeded_block(key, run, block + k);
      words[4 * k] = static_cast<uint32_t>(random.first);
      words[4 * k + 1] = static_cast<uint32_t>(random.first >> 32);
      words[4 * k + 2] = static_cast<uint32_t>(random.second);
      words[4 * k + 3] = static_cast<uint32_t>(random.second >> 32);
    }
    noise_ == Noise::kLaplace ? laplace(words, batch) : gaussian(words, batch);
    const size_t count = std::min(kBatch - skip, out.size() - done);
    std::copy_n(batch + skip, count, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += count;
  }
}

double CounterDraws::turn(uint64_t stream, uint64_t run, uint64_t round) const {
  const uint64_t key = seeded_block(seed_, stream, kTurnKey).first;
  return (static_cast<double>(seeded_block(key, run, round).first >> 12) + .5) * 0x1p-52;
}

}  // namespace parley::sim::monte_carlo
