// Where noise comes from. Passed by reference, so that the simulator can replay a run; the product
// has one implementation, SystemEntropy. The seeded one lives in sim/, which no daemon includes.
#pragma once

#include <cstdint>
#include <utility>

namespace parley {

/// A source of uniform 64-bit words. Not for use by two threads at once. Words come in blocks, so
/// that taking one is a few instructions, and a word is wiped once it is handed out.
class Entropy {
 public:
  virtual ~Entropy() = default;
  Entropy(const Entropy&) = delete;
  Entropy& operator=(const Entropy&) = delete;

  uint64_t word() {
    if (block_->left == 0) refill();
    return std::exchange(block_->words[kBlock - block_->left--], 0);
  }

  /// Forgets the words that are ready. The next ones also depend on what the kernel gives then: a
  /// copy of this machine that was made before draws others. A seeded source replays instead.
  virtual void renew() {}

 protected:
  static constexpr uint64_t kBlock = 496;
  struct Block {
    uint64_t left = 0;  // A block whose memory was cleared is used up.
    uint64_t words[kBlock] = {};
  };

  /// The block may be constructed after its owner's base.
  explicit Entropy(Block& block) : block_(&block) {}

  /// Sets left to at least 1, and that many words at the block's end.
  virtual void refill() = 0;

 private:
  Block* block_;
};

/// AES-256-CTR keyed by the kernel. Every refill replaces the key by output of its own, so that
/// what was drawn cannot be recomputed from a later memory image. All state lies in a page that the
/// kernel clears in a forked child, which then takes a key of its own: parent and child never draw
/// the same words.
class SystemEntropy final : public Entropy {
 public:
  SystemEntropy();
  ~SystemEntropy() override;
  void renew() override;

 private:
  struct State;
  explicit SystemEntropy(State* state);
  void refill() override;
  State* state_;
};

}  // namespace parley
