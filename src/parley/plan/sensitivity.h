// How far the records of one privacy unit move a sum, in lattice units: the sensitivities that
// noise is calibrated to and that the gate gives its sums. Public, and whole numbers: every bound
// of a record was rounded up when its lattice was made (learn/kernel/lattice.h, statistics_map.h,
// evaluation_map.h).
#pragma once

#include <cmath>

#include "parley/data/schema.h"
#include "parley/learn/kernel/evaluation_map.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/kernel/statistics_map.h"

namespace parley::plan {

/// Replacing a record removes one gradient and adds another: twice a record's bound (theory
/// (N3)).
inline constexpr double kReplaceOne = 2;

/// Of the sum of clipped gradients.
template <class Norm>
double sensitivity(const learn::Lattice& lattice, uint32_t unit_records) {
  return kReplaceOne * unit_records * lattice.bound<Norm>();
}

/// Of the sum of second moments; the map's own sensitivity is that of a replaced record.
template <class Norm>
double sensitivity(const learn::StatisticsMap<Norm>& map, uint32_t unit_records) {
  return unit_records * map.sensitivity();
}

/// Of the sum of clamped losses; likewise.
template <class Norm>
double sensitivity(const learn::EvaluationMap& map, uint32_t unit_records) {
  return unit_records * map.sensitivity<Norm>();
}

/// The largest label in size: public, by the target's bounds. Classes are -1 and 1.
inline double label_bound(const data::Target& target) {
  if (!target.levels.empty()) return 1;
  return std::fmax(std::fabs(target.low - target.center), std::fabs(target.high - target.center)) /
         target.scale;
}

}  // namespace parley::plan
