// K steps of gradient descent on one owner's records, and the sensitivity of their end point to one
// record. Only the end point is released, and only in a sum over owners; the steps have no noise.
//
// The owner's objective is J(v) = mean of l(z_i . v, y_i) + (lam/2)|v|^2 over n shrunk records,
// |z_i| <= R. A step is v <- Proj(v - eta grad J(v)), Proj onto the box.
//
// Claim. With eta <= 2/(L + lam), replacing one record moves w (v_K - theta) by at most
//     D = w (2G / (n lam)) (1 - (1 - eta lam)^K) <= 2 w G eta K / n,
// where the slope of a record's loss is at most G in norm and L = lam + R^2 max l''.
// Proof. J is L-smooth and lam-strongly convex, so a step with eta <= 2/(L + lam) brings two points
// nearer by the factor 1 - eta lam (Nesterov 2004, 2.1.15), and Proj moves none apart. At one point
// the steps of neighbouring data differ by at most 2 eta G / n. Hence the distance of the two runs
// obeys d_k+1 <= (1 - eta lam) d_k + 2 eta G / n, d_0 = 0. Summing up gives D. End of proof.
// With steps eta_k of different lengths the same sum is (2G / (n lam)) (1 - prod (1 - eta_k lam)),
// which grows with every eta_k: D of the longest step bounds it.
// It has no slack: antipodal records far out attain .9998 of it (local_update_test.cc).
//
// In computer numbers: the records' slopes are clamped so that their gradients are at most G, which
// leaves the loss convex and no less smooth; they are rounded to a lattice of spacing g and summed
// exactly, so that the sum is off by at most g/2 per record and coordinate in either world, at
// every step; the steps' own roundings are below 2^-40 K max(1, |theta|) per coordinate; and the
// end is rounded to the lattice of spacing gamma on which noise is added. In all
//     D_fp = D + (gamma + w eta K g + w 2^-40 K max(1, box)) sqrt(d).
//
// One step alone needs nothing about the loss but that every record's gradient is cut to a norm G:
// both worlds start at theta, where the other records' gradients, cut and rounded, are the same and
// fall away in the difference, so that replacing a record moves w (v_1 - theta) by at most
// 2 w G eta / n, whatever the loss and eta, and the records' lattice adds nothing:
//     D_fp = 2 w G eta / n + (gamma + w 2^-40 max(1, box)) sqrt(d).
// So a loss without a bound on its curvature, such as hinge, makes one local step. From the second
// on the worlds stand at different points, where all its records may pull differently: what is
// known then (Bassily, Feldman, Guzman, Talwar 2020, lemma 3.1) has a part 2 w G eta sqrt(K - 1)
// that does not fall with n, and the noise would be that of a whole owner.
//
// Where whole owners are protected instead of records, v_K - theta is shortened to a norm S after
// the steps, whatever they were, and other records of one owner move w (v_K - theta) by at most
// 2 w S: nothing about loss or steps is needed. In computer numbers it is shortened to S (1 -
// 2^-40) and the end is rounded, D_fp = 2 w S + gamma sqrt(d).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "parley/base/result.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/loss.h"

namespace parley::learn {

/// Public.
struct LocalPlan {
  Losses loss = Logistic{};
  double l2 = 0;    // lam
  double step = 0;  // eta, the longest
  double delay =
      0;  // step t, counted from 0 over all rounds, is eta delay / (delay + t); 0: all eta
  int64_t steps = 1;         // K
  double max_row_norm = 1;   // R
  double max_grad_norm = 0;  // G, unless the loss's own bound times R is smaller
  double box = 0;
  double weight = 1;  // w: of this owner in the sum
  uint64_t rows = 0;  // n
  uint32_t unit_records = 1;
  double max_update = 0;  // S, where whole owners are protected; 0: records are
  size_t dimension = 0;
};

/// The plan with the steps of Theorem 4 of the paper on federated risk minimisation, its own step
/// being a factor before them: 2 / (lam (t + delay)), delay = max(8 L/lam - 1, K). Needs lam > 0.
LocalPlan with_falling_steps(LocalPlan plan);

class LocalUpdate {
 public:
  /// Refuses what nothing is proved for: several steps of a loss that is not smooth, steps too
  /// long.
  static Result<LocalUpdate> make(const LocalPlan& plan);

  const LocalPlan& plan() const { return plan_; }
  /// Of the sums of records' gradients.
  const Lattice& lattice() const { return lattice_; }
  double smoothness() const { return smoothness_; }  // L
  double step_max() const { return 2 / (smoothness_ + plan_.l2); }

  /// D for all records of one unit; rounded up.
  double sensitivity() const;
  /// D_fp on a lattice of spacing gamma, in its units; rounded up.
  double sensitivity_on(double gamma) const;
  /// No coordinate of an update is larger.
  double largest() const;

  /// w (v_K - theta), after `done` steps of earlier rounds. `mean` gives the mean of the records'
  /// gradients at a point, exact but for the lattice.
  using Mean = std::function<std::vector<double>(std::span<const double>)>;
  std::vector<double> run(std::span<const double> theta, const Mean& mean, uint64_t done = 0) const;
  /// An update on the lattice of spacing gamma.
  std::vector<int64_t> rounded(std::span<const double> update, double gamma) const;

 private:
  LocalUpdate(const LocalPlan& plan, const Lattice& lattice, double smoothness)
      : plan_(plan), lattice_(lattice), smoothness_(smoothness) {}
  LocalPlan plan_;
  Lattice lattice_;
  double smoothness_;
};

}  // namespace parley::learn
