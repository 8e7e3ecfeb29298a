// Where noise comes from. Passed by reference, so that the simulator can replay a run; the product
// has one implementation, SystemEntropy. The seeded one lives in sim/, which no daemon includes.
#pragma once

#include <cstdint>

namespace parley {

/// A source of uniform 64-bit words. Not for use by two threads at once.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual uint64_t word() = 0;
};

/// AES-256-CTR keyed by the kernel. Every refill replaces the key by output of its own (so that
/// what was drawn cannot be recomputed from a later memory image), and a word is wiped once it is
/// handed out. All state lies in a page that the kernel clears in a forked child, which then takes
/// a key of its own: parent and child never draw the same words.
class SystemEntropy final : public Entropy {
 public:
  SystemEntropy();
  ~SystemEntropy() override;
  SystemEntropy(const SystemEntropy&) = delete;
  SystemEntropy& operator=(const SystemEntropy&) = delete;

  uint64_t word() override;

 private:
  struct State;
  void refill();
  State* state_;
};

}  // namespace parley
