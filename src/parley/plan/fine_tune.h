// The model that an owner tunes on its own rows near the others' (learn/solver/prox.h), which
// may be paid for and published: output perturbation. Public numbers; gate/clip_and_sum.h tunes.
//
// Claim. Two sets of n records that differ in the `units` records of one privacy unit give models
// that differ by at most D = 2 C units / (n s) (1 + 1/16) in L2, C being the clip and s = l2 +
// pull. Proof. Exactly: replacing records moves the gradient of F by at most 2 C units / n
// everywhere in L2 (L1 norms are larger), and F is s-strongly convex, so its minimiser over the box
// moves by at most 2 C units / (n s) =: d. As computed: each model is within its certified distance
// d/64 of its minimiser, up to the error of the certificate, which is that of the mean gradient
// over s. A record's slope is off by at most the smoothness b times the error of its score, 1.01
// p^1.5 u box |z|, u = 2^-53; records longer than the public `longest`, for which b 1.01 p^1.5 u
// box longest^2 = C units / (64 n), count as zero. Adding up loses at most sqrt(p) (n + 8) u C,
// which for n at most 10^6 and p at most 4096 is below C / (64 n), too. Both over s are at most
// d/64. So two models are off by at most 4 d/64. (The hinge has no slope to be wrong: its gap is
// added up in 64-bit mantissas, and n is at most 10^5.) End of proof.
//
// Rounded to a lattice of spacing gamma the integers differ by at most D/gamma + sqrt(p) in L2, and
// by sqrt(p) times that in L1.
#pragma once

#include <span>

#include "parley/base/math/norm.h"
#include "parley/base/result.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/loss.h"
#include "parley/learn/solver/prox.h"

namespace parley::plan {

class FineTune {
 public:
  /// Public numbers of the charter, and the owner's number of rows.
  struct Setting {
    learn::Losses loss;
    uint64_t rows = 0;
    size_t columns = 0;
    double max_grad_norm = 0;
    double l2 = 0, pull = 0, box = 0;
    uint32_t unit_records = 1;
    int grid_bits = 24;
  };
  static Result<FineTune> make(const Setting& setting);

  const learn::Lattice& lattice() const { return lattice_; }

  /// How far one unit's records move the integers.
  template <class Norm>
  double sensitivity() const;

  const learn::Losses& loss() const { return setting_.loss; }
  /// What is minimised near `center`, and how near the minimum an owner must come.
  learn::Prox prox(std::span<const double> center) const;
  double distance() const;

 private:
  FineTune(const Setting& setting, const learn::Lattice& lattice, double moved)
      : setting_(setting), lattice_(lattice), moved_(moved) {}
  Setting setting_;
  learn::Lattice lattice_;
  double moved_;  // d
};

}  // namespace parley::plan
