// Noise drawn before anyone asks: how long drawing takes depends on the noise, so nobody may be
// waiting for it.
#pragma once

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>

#include "parley/base/entropy.h"
#include "parley/base/result.h"
#include "parley/base/stop.h"
#include "parley/privacy/mechanisms.h"

namespace parley::gate {

/// `Mechanisms` is privacy::Mechanisms or privacy::SharedMechanisms. What is taken out is moved, so
/// that no noise is used twice.
template <class Mechanisms>
class NoiseQueue {
 public:
  using Noise = typename privacy::DrawnOf<Mechanisms>::type;

  /// Holds at most `ahead`.
  explicit NoiseQueue(size_t ahead) : ahead_(ahead) {}

  /// Draws until `needed` are there, or as many as it holds, unless it is asked to stop; each of so
  /// many numbers.
  void fill(size_t needed, const Mechanisms& mechanisms, size_t numbers, Entropy& entropy,
            Stop stop = {}) {
    while (drawn_.size() < std::min(needed, ahead_) && !stop.asked()) {
      entropy.renew();  // Each answer's noise depends on what the kernel gives for it.
      drawn_.push_back(std::visit(
          [&]<class M>(const M& mechanism) {
            return Noise(std::in_place_type<privacy::Drawn<M>>, mechanism, numbers, entropy);
          },
          mechanisms));
    }
  }

  size_t size() const { return drawn_.size(); }
  bool empty() const { return drawn_.empty(); }

  Noise next() {
    check(!drawn_.empty());
    Noise noise = std::move(drawn_.front());
    drawn_.pop_front();
    return noise;
  }

 private:
  size_t ahead_;
  std::deque<Noise> drawn_{};
};

}  // namespace parley::gate
