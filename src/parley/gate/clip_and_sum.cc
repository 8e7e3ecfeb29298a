#include "parley/gate/clip_and_sum.h"

#include <mutex>
#include <variant>
#include <vector>

#include "parley/base/parallel.h"
#include "parley/learn/kernel/kernel.h"

namespace parley::gate {

template <class Norm>
privacy::Bounded<Norm> ClipAndSum::gradient(const Records& records, const learn::Losses& loss,
                                            const learn::Lattice& lattice,
                                            std::span<const double> theta, uint32_t unit_records,
                                            int threads) {
  std::vector<int64_t> total(lattice.dimension());
  std::mutex mutex;
  std::visit(
      [&](const auto& rows) {
        in_parallel(threads, rows->size(), [&](size_t, size_t begin, size_t end) {
          learn::by_window(*rows, begin, end, [&](size_t from, size_t to) {
            const std::vector<int64_t> part =
                learn::lattice_sum<Norm>(loss, lattice, theta, *rows, from, to);
            const std::scoped_lock lock(mutex);
            for (size_t j = 0; j < total.size(); ++j) total[j] += part[j];  // Integers: any order.
          });
        });
      },
      records.value_);
  return {std::move(total), sensitivity<Norm>(lattice, unit_records)};
}

template privacy::Bounded<L1> ClipAndSum::gradient<L1>(const Records&, const learn::Losses&,
                                                       const learn::Lattice&,
                                                       std::span<const double>, uint32_t, int);
template privacy::Bounded<L2> ClipAndSum::gradient<L2>(const Records&, const learn::Losses&,
                                                       const learn::Lattice&,
                                                       std::span<const double>, uint32_t, int);

}  // namespace parley::gate
