// The first arrow of the road: private records to a sum that no record moves by more than its
// bound.
#pragma once

#include <span>

#include "parley/base/stop.h"
#include "parley/data/any_rows.h"
#include "parley/learn/federated/local_update.h"
#include "parley/learn/kernel/evaluation_map.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/loss.h"
#include "parley/plan/fine_tune.h"
#include "parley/plan/secagg_terms.h"
#include "parley/privacy/flow.h"

namespace parley::gate {

/// An owner's records; only the gate can look inside.
using Records = privacy::Raw<data::AnyRows>;

/// A pass over records: on how many threads, and who may end it. Whether it was ended is public, as
/// is what is looked at between two looks at `stop`; a sum that was ended lacks records, and
/// whoever asked for it must look at `stop` again before anything is made of it.
struct Pass {
  Pass(int threads, Stop stop = {}) : threads(threads), stop(stop) {}
  int threads;
  Stop stop;
};

class ClipAndSum {
 public:
  /// The sum of the records' clipped lattice gradients at theta. Its sensitivity covers all records
  /// of one privacy unit. The same on any number of threads.
  template <class Norm>
  static privacy::Bounded<Norm> gradient(const Records& records, const learn::Losses& loss,
                                         const learn::Lattice& lattice,
                                         std::span<const double> theta, uint32_t unit_records,
                                         const Pass& pass);

  /// The sum of the records' second moments, each record shrunk to the map's norm first.
  template <class Norm>
  static privacy::Bounded<Norm> statistics(const Records& records,
                                           const learn::StatisticsMap<Norm>& map,
                                           uint32_t unit_records, const Pass& pass);

  /// The sum of the records' clamped losses at theta, and for classes how many it gets right.
  template <class Norm>
  static privacy::Bounded<Norm> evaluation(const Records& records, const learn::EvaluationMap& map,
                                           std::span<const double> theta, uint32_t unit_records,
                                           const Pass& pass);

  /// Where the update's local steps from theta lead on these records, on the lattice of spacing
  /// gamma; `done` steps were made in earlier rounds. The records are no longer than the update's
  /// plan says (learn/federated/shrink.h).
  static privacy::Bounded<L2> update(const Records& records, const learn::LocalUpdate& update,
                                     double gamma, std::span<const double> theta, uint64_t done,
                                     const Pass& pass);

  /// The length of the summed gradients of records that lie in the distance's metric already, at
  /// `point` there (learn/distance/gradient_norm.h).
  static privacy::Bounded<L2> length(const Records& records, const plan::DistanceSum& distance,
                                     std::span<const double> point, const Pass& pass);

  /// The model that is tuned on the records near `center`, on its lattice (plan/fine_tune.h).
  template <class Norm>
  static privacy::Bounded<Norm> tuned_model(const Records& records, const plan::FineTune& tune,
                                            std::span<const double> center);

  /// Numbers that are public under replace-one adjacency.
  static size_t rows(const Records& records) { return data::size_of(records.value_); }
  static size_t columns(const Records& records) { return data::columns_of(records.value_); }
};

}  // namespace parley::gate
