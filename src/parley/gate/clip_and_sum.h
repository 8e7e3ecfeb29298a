// The first arrow of the road: private records to a sum that no record moves by more than its
// bound.
#pragma once

#include <span>

#include "parley/data/any_rows.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/kernel/evaluation_map.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/loss.h"
#include "parley/privacy/flow.h"

namespace parley::gate {

/// An owner's records, as everybody but the gate sees them.
using Records = privacy::Raw<data::AnyRows>;

/// Replacing a record removes one gradient and adds another: twice a record's bound.
inline constexpr double kReplaceOne = 2;

class ClipAndSum {
 public:
  /// The sum of the records' clipped lattice gradients at theta. Its sensitivity covers all records
  /// of one privacy unit. The same on any number of threads.
  template <class Norm>
  static privacy::Bounded<Norm> gradient(const Records& records, const learn::Losses& loss,
                                         const learn::Lattice& lattice,
                                         std::span<const double> theta, uint32_t unit_records,
                                         int threads);

  /// The sum of the records' second moments, each record shrunk to the map's norm first.
  template <class Norm>
  static privacy::Bounded<Norm> statistics(const Records& records,
                                           const learn::StatisticsMap<Norm>& map,
                                           uint32_t unit_records, int threads);

  /// The sum of the records' clamped losses at theta, and for classes how many it gets right.
  template <class Norm>
  static privacy::Bounded<Norm> evaluation(const Records& records, const learn::EvaluationMap& map,
                                           std::span<const double> theta, uint32_t unit_records,
                                           int threads);

  /// Where the update's local steps from theta lead on these records, on the lattice of spacing
  /// gamma; `done` steps were made in earlier rounds. The records are no longer than the update's
  /// plan says (learn/federated/shrink.h).
  static privacy::Bounded<L2> update(const Records& records, const learn::LocalUpdate& update,
                                     double gamma, std::span<const double> theta, uint64_t done,
                                     int threads);

  /// The sensitivities of such sums; public.
  template <class Norm>
  static double sensitivity(const learn::StatisticsMap<Norm>& map, uint32_t unit_records) {
    return unit_records * map.sensitivity();
  }
  template <class Norm>
  static double sensitivity(const learn::Lattice& lattice, uint32_t unit_records) {
    return kReplaceOne * unit_records * lattice.bound<Norm>();
  }
  template <class Norm>
  static double sensitivity(const learn::EvaluationMap& map, uint32_t unit_records) {
    return unit_records * map.sensitivity<Norm>();
  }

  /// Numbers that are public under replace-one adjacency.
  static size_t rows(const Records& records) { return data::size_of(records.value_); }
  static size_t columns(const Records& records) { return data::columns_of(records.value_); }
};

}  // namespace parley::gate
