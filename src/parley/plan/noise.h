// How much noise an owner's answers carry, in real units and without rounding to the lattice: for
// explanations, and for the forecaster, which asks for clips, rounds and budgets that nobody has
// agreed on yet. What is drawn is calibrated on the lattice (terms.h, secagg_terms.h,
// vertical_terms.h); its deviation is larger by less than a part in 10^5 (noise_test.cc).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "parley/charter/charter.h"

namespace parley::plan {

/// The variance on one coordinate of a mean gradient is
/// strength (clip / rows)^2 answers^power.
struct NoiseLaw {
  charter::MechanismName mechanism = charter::MechanismName::kLaplace;
  double unit_records = 1;
  double overlap = 1;   // data sets and jobs that share a promise
  double training = 1;  // the part of epsilon that the evaluation leaves
  /// In a sum of shares: the variance with all owners over the variance that is surely there,
  /// m / (survivors - colluders).
  double surplus = 1;

  static Result<NoiseLaw> of(const charter::Charter& charter);

  /// Laplace: 2 (2 records overlap / epsilon)^2. Gaussian: (2 records)^2 overlap / (2 rho).
  double strength(double epsilon, double delta) const;
  /// The epsilon of a strength: the inverse of the line above.
  double epsilon(double strength, double delta) const;
  double power() const { return mechanism == charter::MechanismName::kLaplace ? 2 : 1; }
  double variance(const charter::Owner& owner, double answers, double clip) const;
  /// The same where one record moves the mean by `reach`.
  double variance_of(double strength, double reach, double answers) const {
    return strength * reach * reach * std::pow(answers, power());
  }
  /// Of all owners: the Gaussian's is a root to be found, once for those alike.
  std::vector<double> strengths(std::span<const charter::Owner> owners) const;
};

/// How far replacing the records of one unit moves the minimum of a mean of clipped losses that is
/// `convexity`-strongly convex: 2 C units / (n s), rounded up (proof: fine_tune.h).
double minimum_moves(double max_grad_norm, uint32_t unit_records, uint64_t rows, double convexity);

/// The standard deviation of Gaussian noise on each of `answers` answers of this sensitivity, all
/// paid with rho: D sqrt(answers / (2 rho)) (theory (N5)). mu of Gaussian differential
/// privacy is sqrt(2 rho) for all of them.
inline double gaussian_scale(double sensitivity, double answers, double rho) {
  return sensitivity * std::sqrt(answers / (2 * rho));
}

/// The rho of noise of this scale: the inverse of the line above.
inline double gaussian_rho(double sensitivity, double answers, double scale) {
  const double mu = sensitivity / scale;
  return answers * mu * mu / 2;
}

/// The scale of noise on each of `answers` answers that one privacy unit moves by `sensitivity`,
/// paid with all that the owner's training may cost: Laplace's D answers / epsilon, the Gaussian's
/// D sqrt(answers / (2 rho)) (theory (N4) and (N5)).
Result<double> noise_scale(const charter::Charter& charter, const charter::Owner& owner,
                           double sensitivity, double answers);

/// The Laplace scale of the papers' own calibration, Theorem 1, with T = rounds and kappa = overlap
/// (privacy/mechanism/laplace.h): for a record, all of epsilon, nothing kept for an evaluation.
/// An owner that is the learner adds none.
Result<double> paper_scale(const charter::Charter& charter, const charter::Owner& owner);

/// On the mean of an owner's clipped gradients: D = 2 C unit_records / rows; of the
/// papers' calibration what they say.
Result<double> mean_noise_scale(const charter::Charter& charter, const charter::Owner& owner);

/// How far one record moves an owner's sum, halved: the clip of gradients, of rule "statistics" the
/// bound of learn/kernel/statistics_map.h, of local steps that of learn/federated/local_update.h,
/// of secret-shared gradients that of learn/vertical/joint_gradient.h.
double reach_of(const charter::Charter& charter);

/// Answers that an owner's budget has to last for: repeated aggregations among them.
double paid_answers(const charter::Charter& charter);

}  // namespace parley::plan
