// Seeded random numbers for stand-in data and public random features, the same bits on every
// machine: integer arithmetic for the words, portable math for the rest. Never for noise: it is no
// Entropy, so no mechanism takes it.
#pragma once

#include <cstdint>
#include <span>

namespace parley {

/// Philox-2x64-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3").
/// Counter-based: each (seed, stream) is a sequence of its own, ready at once, in any order. Two of
/// its words at a time:
struct RandomBlock {
  uint64_t first, second;
};
inline RandomBlock seeded_block(uint64_t seed, uint64_t stream, uint64_t block) {
  __extension__ using Uint128 = unsigned __int128;
  uint64_t left = block, right = stream, key = seed;
  for (int round = 0; round < 10; ++round) {
    const auto product = Uint128{0xD2B74407B1CE6E93} * left;
    left = static_cast<uint64_t>(product >> 64) ^ key ^ right;
    right = static_cast<uint64_t>(product);
    key += 0x9E3779B97F4A7C15;
  }
  return {left, right};
}

/// The same one word after the other.
class SeededRandom {
 public:
  SeededRandom(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  uint64_t word();

  // Each of these takes one word.
  double uniform();                            // in the open interval (0, 1)
  double normal();                             // mean 0, variance 1
  int index(int n);                            // 0 .. n-1, n > 0, up to a bias of 2^-52
  int choice(std::span<const double> shares);  // i with probability shares[i]; they sum to 1
  int poisson(double mean);                    // by inversion, for means up to about 20

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t block_ = 0;
  uint64_t spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace parley
