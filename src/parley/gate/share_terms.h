// From a charter to what its owners give under secure aggregation: local steps on how long a
// lattice, and how much of the sum's noise each of them adds (spec, vertical 3.2, 4.5, 4.6).
//
// All owners add shares of one variance, the largest that any of them needs for its epsilon, so
// that every sum of at least `survivors` of them protects each, whoever is in it; what an owner is
// charged follows from that variance and its own sensitivity.
#pragma once

#include <vector>

#include "parley/charter/charter.h"
#include "parley/learn/federated/local_update.h"
#include "parley/privacy/mechanisms.h"

namespace parley::gate {

/// What a job may ask of one owner: public numbers, fixed by the charter.
struct ShareTerms {
  Hash charter{};
  uint32_t answers = 0;  // most aggregations that it pays for, repeated ones among them
  learn::LocalUpdate update;
  double gamma = 0;  // spacing of the sum's lattice
  privacy::SharedMechanisms mechanism;

  uint64_t rows() const { return update.plan().rows; }
  size_t numbers() const { return update.plan().dimension; }
  double sensitivity() const { return update.sensitivity_on(gamma); }
  privacy::Cost cost() const;
  /// DpEvent JSON of one aggregation.
  std::string event() const;
};

/// Of all owners, in the charter's order.
struct SharePlan {
  double gamma = 0;
  privacy::Parties parties;
  std::vector<double> weights;  // w_i; they add up to 1
  std::vector<ShareTerms> owners;
  double largest = 0;  // no coordinate of a sum is larger, but with probability below 1e-30
};

/// What this version cannot run soundly, and numbers that do not fit the ring of 64 bits, are
/// refused, naming the key.
Result<SharePlan> share_plan(const charter::Charter& charter);

}  // namespace parley::gate
