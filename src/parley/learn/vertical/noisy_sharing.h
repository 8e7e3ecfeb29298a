// V-A: the message pattern of ADMM sharing made private, with weak utility. Each party publishes
// one noisy number per record and round. A record owns one of these numbers, so the noise must hide
// that number by itself, however many records there are (theory (V2)). Labels are assumed to be
// known to all parties: V-A does not protect them.
//
// A party's step uses published values only: with h of the coordinator and its own published q,
//
//     v = clip(q - h, +-V),   x = argmin over |x| <= B of (lam/2)|x|^2 + (rho/2)|D x - v|^2,
//
// and it publishes clip(D x, +-C) on a lattice of spacing gamma, with noise.
//
// Claim. Replacing one record of this party, rows no longer than R, moves what is published by at
// most sqrt((2C)^2 + k^2) + gamma sqrt(N) + 2 t in L2, where k = 2 sqrt(rho/lam) R (R B + V), N is
// the number of records and t bounds |D (x as computed - x)|.
//
// Proof. The record's own number moves by at most 2C. For the others let H = lam I + rho D-'D-, D-
// being D without the record: both objectives are H-strongly convex on the ball and their gradients
// at any of its points differ by at most 2 rho R (R B + V), so |x - x'|_H <= 2 rho R (R B + V) /
// sqrt(lam) and |D-(x - x')| <= |x - x'|_H / sqrt(rho) = k. Clipping does not increase distances;
// rounding moves every number by at most half of gamma with either record. End of proof. Rounds
// compose adaptively, because v is made of published values.
//
// All parts of a record move together: for whole records the squares of the parties' bounds add up.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/any_rows.h"

namespace parley::learn {

/// Public.
struct NoisySharingPlan {
  uint64_t rows = 0;
  double lam = 1, rho = .1;         // of the sum, as in admm.h
  std::vector<double> row_norms{};  // R of each party
  std::vector<double> balls{};      // B
  double target_clip = 1;           // V
  int fraction = 24;                // gamma = 2^-fraction

  double message_clip(size_t party) const { return row_norms[party] * balls[party]; }  // C
  /// How far one whole record moves all parties' messages of a round, in lattice units, rounded up.
  double sensitivity() const;
  /// What a solver's error t may be.
  double tolerance(size_t party) const;
  /// What rounding makes of it at most, whatever the records: where this is below the tolerance, no
  /// record can stop a step.
  double rounding(size_t party, size_t columns) const;

 private:
  double bound(size_t party) const;
};

/// One party. Rows longer than its bound are shrunk to it.
class NoisySharingParty {
 public:
  NoisySharingParty(const data::AnyRows& rows, const NoisySharingPlan& plan, size_t party);

  NoisySharingParty(NoisySharingParty&&) noexcept;
  NoisySharingParty& operator=(NoisySharingParty&&) noexcept;
  ~NoisySharingParty();

  /// The step, and what is to be published but for its noise.
  std::vector<int64_t> step(std::span<const double> published, std::span<const double> h);
  std::span<const double> model() const;

 private:
  class Solver;

  NoisySharingPlan plan_;
  size_t party_;
  std::unique_ptr<Solver> solver_;
};

}  // namespace parley::learn
