// The Gaussian mechanism on sampled records: every privacy unit is in an answer's sum with
// probability q, by a coin that nobody but its owner sees.
//
// Sampled noise is not zCDP: its divergences grow with the square of the order beyond some order.
// So one answer is taken as (epsilon, delta)-DP for a delta that the mechanism carries
// (accounting/sampled_step.h), and booked as the worst that is: rho = epsilon tanh(epsilon/2), and
// its delta (docs/explanation/mechanisms/sampled_gaussian.md).
//
// It is charged for a sum over the sample, not for one over all records. Therefore its norm is a
// type of its own: Bounded<SampledL2> is not Bounded<L2>, and whoever makes one takes a Sample. No
// pass does yet, so it is not among the Mechanisms (mechanisms.h), and cannot be charged.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parley/privacy/accounting/sampled_step.h"
#include "parley/privacy/accounting/zcdp.h"
#include "parley/privacy/mechanism/gaussian.h"

namespace parley::gate {
class ClipAndSum;
}

namespace parley::privacy {

/// A bound in L2 on what one unit can change in a sum over a sample, if it is in it.
struct SampledL2 {
  static constexpr std::string_view kName = "l2 of a sample";
};

class SampledGaussian {
 public:
  using Norm = SampledL2;
  static constexpr std::string_view kName = "sampled_gaussian";

  /// `probability` is a whole number of 2^-32, so that it is drawn exactly; `delta` is that of one
  /// answer before sampling.
  static Result<SampledGaussian> make(double probability, double variance, Delta delta) {
    const double numerator = probability * 0x1p32;
    if (!(numerator >= 1 && numerator < 0x1p32 && numerator == std::floor(numerator)))
      return Error{Code::kInvalid,
                   "the sampling probability is not a whole number of 2^-32 between 0 and 1",
                   "Round it down to one: floor(q 2^32) / 2^32."};
    if (!(delta.value() <= 0.5)) return Error{Code::kInvalid, "delta of an answer is above 1/2"};
    const Gaussian gaussian = TRY(Gaussian::make(variance));
    return SampledGaussian(static_cast<uint32_t>(numerator), gaussian, delta);
  }

  double probability() const { return numerator_ * 0x1p-32; }
  uint32_t numerator() const { return numerator_; }  // of 2^32
  double variance() const { return gaussian_.variance(); }
  double scale() const { return gaussian_.scale(); }
  int64_t sample(Entropy& entropy) const { return gaussian_.sample(entropy); }

  /// `sensitivity` is that of replacing a unit, twice the norm of one, in the sum over a sample.
  Cost cost(double sensitivity) const {
    const auto [epsilon, delta] = sampled_step(
        {probability(), multiplier(sensitivity), delta_.value()}, Adjacency::kReplaceOne);
    return {Track::kZcdp, zcdp_of_pure(epsilon), delta};
  }
  std::string event(double sensitivity) const {
    return "{\"poisson_sampled\":{\"delta\":" + shortest(delta_.value()) +
           ",\"event\":" + gaussian_.event(sensitivity) +
           ",\"sampling_probability\":" + shortest(probability()) + "}}";
  }

 private:
  SampledGaussian(uint32_t numerator, const Gaussian& gaussian, Delta delta)
      : numerator_(numerator), gaussian_(gaussian), delta_(delta) {}
  /// As Gaussian::event writes it.
  double multiplier(double sensitivity) const {
    return next_down(next_down(scale()) / sensitivity);
  }
  uint32_t numerator_;
  Gaussian gaussian_;
  Delta delta_;
};

static_assert(Mechanism<SampledGaussian>);

/// Which privacy units are in one answer's sum. It is secret: who knows it gets the answer at the
/// price of one without sampling. Drawn anew for every answer, used once, and wiped.
class Sample {
 public:
  Sample(const SampledGaussian& mechanism, size_t units, Entropy& entropy)
      : chosen_(units), probability_(mechanism.probability()) {
    uint64_t word = 0;
    for (size_t i = 0; i < units; ++i, word >>= 32) {
      if (i % 2 == 0) word = entropy.word();
      chosen_[i] = static_cast<uint32_t>(word) < mechanism.numerator();
    }
  }
  Sample(Sample&& other) noexcept
      : chosen_(std::exchange(other.chosen_, {})), probability_(other.probability_) {}
  Sample& operator=(Sample&&) = delete;
  ~Sample() { OPENSSL_cleanse(chosen_.data(), chosen_.size()); }

  size_t units() const { return chosen_.size(); }
  double probability() const { return probability_; }

 private:
  friend class gate::ClipAndSum;
  friend struct SampleForTest;  // Defined under tests only.
  std::vector<uint8_t> chosen_;
  double probability_;
};

}  // namespace parley::privacy
