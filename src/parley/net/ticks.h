// The clock of an owner in an asynchronous job. When it ticks depends on nothing but its rate: not
// on records, not on what the learner asks, not on other owners.
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
  /// That tick is over; the next one follows.
  virtual void advance() = 0;

  /// Ticks that nobody heard, because the owner was busy or away, are over.
  void skip_until(Moment now) {
    while (next() < now) advance();
  }
};

/// Exponential gaps, from the machine's own entropy; a rate of 1 is a tick per second on average.
class PoissonTicks final : public Ticks {
 public:
  explicit PoissonTicks(double rate) : rate_(rate) { advance(); }
  Moment next() override { return next_; }
  void advance() override;

 private:
  SystemEntropy entropy_;
  double rate_;
  Moment next_ = std::chrono::steady_clock::now();
};

}  // namespace parley::net
