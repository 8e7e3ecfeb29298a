// What was released, as an accountant sees it: a list of events, each with how often it happened.
// The JSON form is in event_json.h; docs/reference/account.md lists both.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace parley::privacy {

/// Which data sets are neighbours. A noise multiplier is always the noise over the sensitivity
/// under the adjacency in force, so that it enters only where records are sampled: a neighbour's
/// record then is in the sum with some probability, and it matters whether another takes its place.
enum class Adjacency { kReplaceOne, kAddRemove };

struct GaussianEvent {
  double noise_multiplier;  // standard deviation over the L2 sensitivity
  bool operator==(const GaussianEvent&) const = default;
};
struct LaplaceEvent {
  double noise_multiplier;  // scale over the L1 sensitivity
  bool operator==(const LaplaceEvent&) const = default;
};
/// P(k) proportional to exp(-|k|/scale); scale and sensitivity in whole lattice units.
struct DiscreteLaplaceEvent {
  double scale;
  double sensitivity;
  bool operator==(const DiscreteLaplaceEvent&) const = default;
};
/// P(k) proportional to exp(-k^2 / (2 sigma^2)), in lattice units. On a single coordinate the
/// sensitivity is whole; on several it is that in L2.
struct DiscreteGaussianEvent {
  double sigma;
  double sensitivity;
  bool operator==(const DiscreteGaussianEvent&) const = default;
};
/// Every record is in the sum with this probability, independently. Under replace-one the
/// sensitivity is twice the norm of a record, and so is what the multiplier refers to.
struct SampledGaussianEvent {
  double sampling_probability;
  double noise_multiplier;
  double delta = 0;  // at which a ledger took the epsilon of the noise (sampled_step.h), if one did
  bool operator==(const SampledGaussianEvent&) const = default;
};
/// Discrete Gaussian shares of several owners in one sum (shares.h), in lattice units.
struct SharesEvent {
  double variance;   // of one share
  uint64_t honest;   // at least so many shares are in the sum, and drawn by owners who keep them
  uint64_t present;  // at most so many are in it
  double dimension;
  double sensitivity;  // in L2
  bool operator==(const SharesEvent&) const = default;
};
/// Skellam noise, of one owner or of all honest ones together, in lattice units.
struct SkellamEvent {
  double variance;
  double dimension;
  double sensitivity;  // in L2
  bool operator==(const SkellamEvent&) const = default;
};
/// Renyi divergence of order alpha at most xi + rho alpha.
struct ZcdpEvent {
  double rho;
  double xi;
  bool operator==(const ZcdpEvent&) const = default;
};
/// (epsilon, delta)-DP and nothing else known; pure if delta is 0.
struct ApproximateEvent {
  double epsilon;
  double delta;
  bool operator==(const ApproximateEvent&) const = default;
};

using Event =
    std::variant<GaussianEvent, LaplaceEvent, DiscreteLaplaceEvent, DiscreteGaussianEvent,
                 SampledGaussianEvent, SharesEvent, SkellamEvent, ZcdpEvent, ApproximateEvent>;

struct Repeated {
  Event event;
  uint64_t count;
  bool operator==(const Repeated&) const = default;
};
using Events = std::vector<Repeated>;

}  // namespace parley::privacy
