// Entropy that replays: for simulation only. The layer test keeps it out of everything that serves
// real owners.
#pragma once

#include <cstdint>
#include <string_view>

#include "parley/base/bytes.h"
#include "parley/base/entropy.h"

struct evp_cipher_ctx_st;

namespace parley::sim {

/// AES-256-CTR under a key made of the seed, a label and a run: streams of different owners or runs
/// are independent, and none depends on how many there are.
class SeededEntropy final : public Entropy {
 public:
  SeededEntropy(uint64_t seed, std::string_view label, uint64_t run = 0);
  ~SeededEntropy() override;

 private:
  void refill() override;
  evp_cipher_ctx_st* cipher_;
  Block block_;
};

}  // namespace parley::sim
