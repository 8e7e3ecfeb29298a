// How much noise an owner's answers carry, from public numbers alone and without rounding to the
// lattice: the forecaster asks for clips, rounds and budgets that nobody has agreed on yet.
#pragma once

#include <span>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/federated/local_update.h"

namespace parley::forecast {

/// The variance on one coordinate of a mean gradient is
/// strength (clip / rows)^2 answers^power.
struct NoiseLaw {
  charter::MechanismName mechanism = charter::MechanismName::kLaplace;
  double unit_records = 1;
  double overlap = 1;
  double training = 1;  // the part of epsilon that the evaluation leaves
  /// In a sum of shares: how much louder it is if everyone is in it than what must surely be
  /// there, m / (survivors - colluders).
  double surplus = 1;

  static Result<NoiseLaw> of(const charter::Charter& charter);

  /// Laplace: 2 (2 records overlap / epsilon)^2. Gaussian: (2 records)^2 overlap / (2 rho).
  double strength(double epsilon, double delta) const;
  /// The epsilon of a strength: the inverse of the line above.
  double epsilon(double strength, double delta) const;
  double power() const { return mechanism == charter::MechanismName::kLaplace ? 2 : 1; }
  double variance(const charter::Owner& owner, double answers, double clip) const;
  /// Of all owners: the Gaussian's is a root to be found, once for those alike.
  std::vector<double> strengths(std::span<const charter::Owner> owners) const;
};

/// The largest label in size, by the target's public bounds.
double label_bound(const data::Target& target);

/// How far one record moves an owner's sum, halved: the clip of gradients, of rule "statistics" the
/// bound of learn/kernel/statistics_map.h, of local steps that of learn/federated/local_update.h,
/// of secret-shared gradients that of learn/vertical/joint_gradient.h.
double reach_of(const charter::Charter& charter);

/// Columns in several places: the longest whole row, of everyone's longest part.
double row_norm_of(const charter::Charter& charter);

/// What an owner does between two aggregations, as if it had all the weight and one record.
Result<learn::LocalUpdate> local_update_of(const charter::Charter& charter);

/// Answers that an owner's budget has to last for: repeated aggregations among them.
double paid_answers(const charter::Charter& charter);

/// Whether other numbers of rows mean other noise: not where whole owners are protected.
bool by_record(const charter::Charter& charter);

}  // namespace parley::forecast
