// The clock of an owner in an asynchronous job. Its ticks depend on its rate alone: not on records,
// not on what the learner asks, not on other owners.
#pragma once

#include <chrono>

#include "parley/base/entropy.h"

namespace parley::net {

class Ticks {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  virtual ~Ticks() = default;
  /// When it ticks next.
  virtual Moment next() = 0;
  /// The next tick counts from here: from the last one, or from where the owner is free to hear
  /// one.
  virtual void restart(Moment from) = 0;
  /// A gap that will not be longer.
  virtual std::chrono::seconds longest_gap() const { return std::chrono::seconds(0); }
};

/// Exponential gaps, from the machine's own entropy; a rate of 1 is a tick per second on average.
/// They have no memory, so that ticks which nobody heard need not be counted.
class PoissonTicks final : public Ticks {
 public:
  explicit PoissonTicks(double rate) : rate_(rate) { restart(std::chrono::steady_clock::now()); }
  Moment next() override { return next_; }
  void restart(Moment from) override;
  std::chrono::seconds longest_gap() const override {
    return std::chrono::seconds(1 + static_cast<int64_t>(50 / rate_));  // probability e^-50
  }

 private:
  SystemEntropy entropy_;
  double rate_;
  Moment next_{};
};

}  // namespace parley::net
