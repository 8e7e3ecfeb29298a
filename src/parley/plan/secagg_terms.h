// From a charter to what its owners give under secure aggregation, on how fine a lattice, and how
// much of the sum's noise each of them adds (theory (F2), (F8), (F9)).
//
// Under protocol federated an owner gives where its local steps lead. Under sync the learner takes
// the steps, and an owner gives the sum of its records' gradients. These are integers on the
// records' own lattice, so owners' sums add up exactly: nothing is rounded again, and every record
// weighs alike, wherever it lies. Under its rule "distance" it gives the length of that sum alone.
//
// All owners add shares of one variance, the largest that any of them needs for its epsilon, so
// that every sum of at least `survivors` of them protects each, whoever is in it; what an owner is
// charged follows from that variance and its own sensitivity.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/distance/gradient_norm.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/pilot/whitened.h"
#include "parley/plan/sensitivity.h"
#include "parley/privacy/flow.h"
#include "parley/privacy/mechanisms.h"

namespace parley::plan {

/// The sum of an owner's clipped gradients: public numbers of it.
struct GradientSum {
  learn::Losses loss;
  learn::Lattice lattice;
  uint64_t rows = 0;
  uint32_t unit_records = 1;

  double sensitivity() const { return plan::sensitivity<L2>(lattice, unit_records); }
  /// No coordinate of it is larger, in lattice units.
  double largest() const { return static_cast<double>(rows) * lattice.bound<L2>(); }
};

/// How far an owner's rows pull away from the pilot's optimum: two lengths, and zeros
/// (plan/sums/distance.h).
struct DistanceSum {
  learn::Losses loss;
  learn::GradientNorm norm;
  uint32_t unit_records = 1;
  /// In which lengths are measured. Every owner makes it from the public rows before it opens its
  /// gate; sensitivity and noise do not depend on it.
  std::shared_ptr<const learn::Whitened> metric{};

  double sensitivity() const { return norm.sensitivity(unit_records); }
};

/// The Gram matrix Z'Z of an owner's records, each first shrunk to the charter's max_row_norm: the
/// second moments of statistics_map.h with labels of 0. No replaced record moves it by more than
/// sqrt(2) max_row_norm^2 in the Frobenius norm.
struct GramSum {
  learn::StatisticsMap<L2> map;
  uint32_t unit_records = 1;
  uint32_t answers = 0;  // most aggregations that an owner pays for, repeated ones among them
  privacy::SharedMechanisms mechanism;

  double sensitivity() const { return plan::sensitivity(map, unit_records); }
};

/// Gradients after an alarm and the Gram matrix that follows it.
struct AfterAlarm {
  GradientSum sum;
  uint32_t answers = 0;  // as above
  uint32_t before = 0;   // most sums before the Gram matrix for which the budget has room
  privacy::SharedMechanisms mechanism;
};

/// The evaluation at the end, in a sum like all else.
struct SecaggEvaluation {
  learn::EvaluationMap map;
  uint32_t unit_records = 1;
  uint32_t answers = 0;  // most aggregations that an owner pays for, repeated ones among them
  privacy::SharedMechanisms mechanism;

  double sensitivity() const { return plan::sensitivity<L2>(map, unit_records); }
};

/// One kind of sums: how many an owner pays for at most, how many numbers each has, its noise.
struct SumTerms {
  uint32_t answers = 0;
  size_t numbers = 0;
  double sensitivity = 0;
  const privacy::SharedMechanisms* mechanism = nullptr;

  privacy::Cost cost() const;
  std::string event() const;  // DpEvent JSON of one aggregation
};

/// What a job may ask of one owner: public numbers, fixed by the charter.
struct SecaggTerms {
  Hash charter{};
  uint32_t answers = 0;  // most aggregations that it pays for, repeated ones among them
  std::variant<learn::LocalUpdate, GradientSum, DistanceSum> part;
  double box = 0;    // of the points that may be asked about
  double gamma = 0;  // spacing of the sum's lattice
  privacy::SharedMechanisms mechanism;
  /// Set where the model is evaluated at the end. No other sum is paid after it.
  std::optional<SecaggEvaluation> evaluation{};
  /// Set where a Gram matrix is released: before the first answer, or, with after_alarm, after the
  /// first answers, instead of the others.
  std::optional<GramSum> gram{};
  std::optional<AfterAlarm> after_alarm{};

  /// Nothing where the charter asks for no sums of this kind.
  std::optional<SumTerms> of(privacy::ReleaseKind kind) const;

  const learn::LocalUpdate& update() const { return std::get<learn::LocalUpdate>(part); }
  /// Of the records' gradients.
  const learn::Lattice& lattice() const;
  uint64_t rows() const;
  /// Features of a record, and coordinates of the points that are asked about.
  size_t features() const { return lattice().dimension(); }
  /// How many numbers an aggregation has.
  size_t numbers() const;
  double sensitivity() const;
  privacy::Cost cost() const { return of(privacy::ReleaseKind::kAnswer)->cost(); }
  std::string event() const { return of(privacy::ReleaseKind::kAnswer)->event(); }
};

/// How sums of a kind are read.
struct SumScale {
  double unit = 0;     // times a sum of all owners: their mean
  double largest = 0;  // no coordinate of a sum is larger, but with probability below 1e-30
};

/// Of all owners, in the charter's order.
struct SecaggPlan {
  double gamma = 0;
  /// Times a sum of all owners: their mean gradient, minus their mean update, or under rule
  /// "distance" their mean length.
  double unit = 0;
  privacy::Parties parties;
  std::vector<double> weights;  // w_i; they add up to 1
  std::vector<SecaggTerms> owners;
  double largest = 0;  // no coordinate of a sum is larger, but with probability below 1e-30
  double largest_evaluation = 0;
  SumScale gram{}, after_alarm{};  // where owners have such sums
};

/// w_i of a secure sum, which add up to 1: n_i / n, or all alike with weights = "parties".
std::vector<double> sum_weights(const charter::Charter& charter);

/// Whose local steps; as it stands, one that has all the weight and one record.
struct LocalOwner {
  double weight = 1;
  uint64_t rows = 1;
  uint32_t unit_records = 1;
};

/// What an owner does between two aggregations (learn/federated/local_update.h). Refuses steps that
/// are too long for its bounds.
Result<learn::LocalUpdate> local_update(const charter::Charter& charter, const LocalOwner& owner);

/// The norm to which owners shrink their records before they train on them; none where the gate
/// bounds what is released instead.
std::optional<double> shrunk_to(const charter::Charter& charter);

/// What this version cannot run soundly, and numbers that do not fit the ring of 64 bits, are
/// refused, naming the key.
Result<SecaggPlan> secagg_plan(const charter::Charter& charter);

}  // namespace parley::plan
