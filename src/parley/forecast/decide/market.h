// The market: owners sell privacy at a price per unit of epsilon, the
// learner buys as much as its model is worth. Laplace noise and weights by rows, where a group with
// n rows reaches psi = floor + k sum of 1 / epsilon_i^2, k = K / n^2.
#pragma once

#include <span>
#include <vector>

namespace parley::forecast {

/// min over epsilon of sum c_i epsilon_i + value k sum 1/epsilon_i^2.
std::vector<double> epsilon_by_value(std::span<const double> prices, double value, double k);

/// min over epsilon of sum c_i epsilon_i with k sum 1/epsilon_i^2 <= noise.
std::vector<double> epsilon_by_target(std::span<const double> prices, double noise, double k);

/// Payments under which nobody gains by naming another price than its own (Myerson), for a fixed
/// group; `cap` is the public largest price.
std::vector<double> payments_by_value(std::span<const double> prices, double value, double k,
                                      double cap);
std::vector<double> payments_by_target(std::span<const double> prices, double noise, double k,
                                       double cap);

/// One owner's sealed bid.
struct Bid {
  double rows = 0;
  double price = 0;        // per unit of epsilon
  double epsilon_max = 0;  // it will not sell more
};

/// What the learner knows before the bids.
struct Demand {
  double value = 0;   // of one unit of psi
  double floor = 0;   // psi without noise
  double spread = 0;  // B / f*: what n finite rows miss, times n
  double gain = 0;    // K: psi = floor + K / n^2 sum 1/epsilon^2
  double alone = 0;   // psi without anybody
  double price_cap = 0;
};

struct Deal {
  std::vector<double> epsilon{};   // 0: not in
  std::vector<double> payments{};  // what the truthful mechanism pays
  double psi = 0;
  double surplus = 0;  // value (alone - psi) - sum of bids paid
};

/// The learner's best purchase: over all groups up to 12 owners, else over the first by rows, the
/// epsilons that cost least for what they bring. Payments are c epsilon plus the integral of
/// epsilon over higher bids up to where the owner drops out, at most the cap.
Deal buy(const Demand& demand, std::span<const Bid> bids);

/// The negotiation: the learner posts what more epsilon of each owner is worth to it, and owners
/// raise theirs while that is above their price. Comes to the same epsilons in one pass.
std::vector<double> negotiate(const Demand& demand, std::span<const Bid> bids);

}  // namespace parley::forecast
