#include "parley/gate/clip_and_sum.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <variant>
#include <vector>

#include "parley/base/memory/parallel.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/sensitivity.h"
#include "parley/plan/sums/distance.h"

namespace parley::gate {
namespace {

constexpr size_t kRowsPerThread = 4096;  // For fewer rows a thread is not worth it.
/// Between two looks at `stop` a row adds to all numbers of the sum, some thousand million times.
constexpr size_t kNumbersPerLook = size_t{1} << 27;
constexpr size_t kRowsPerLookMin = 64, kRowsPerLookMax = size_t{1} << 16;

/// The sum of part(rows, begin, end) over all rows, on several threads. Integers: any order.
template <class Part>
std::vector<int64_t> sum_of(const data::AnyRows& records, size_t size, const Pass& pass,
                            const Part& part) {
  std::vector<int64_t> total(size);
  const size_t block = std::clamp(kNumbersPerLook / size, kRowsPerLookMin, kRowsPerLookMax);
  std::mutex mutex;
  std::visit(
      [&](const auto& rows) {
        const auto useful = static_cast<int>(rows->size() / kRowsPerThread) + 1;
        in_parallel(
            std::min(pass.threads, useful), rows->size(), [&](size_t, size_t begin, size_t end) {
              data::by_window(*rows, begin, end, [&](size_t from, size_t to) {
                for (; from < to && !pass.stop.asked(); from += std::min(to - from, block)) {
                  const auto found = part(*rows, from, from + std::min(to - from, block));
                  const std::scoped_lock lock(mutex);
                  for (size_t j = 0; j < total.size(); ++j) total[j] += found[j];
                }
              });
            });
      },
      records);
  return total;
}

}  // namespace

template <class Norm>
privacy::Bounded<Norm> ClipAndSum::gradient(const Records& records, const learn::Losses& loss,
                                            const learn::Lattice& lattice,
                                            std::span<const double> theta, uint32_t unit_records,
                                            const Pass& pass) {
  const auto part = [&](const auto& rows, size_t begin, size_t end) {
    return learn::lattice_sum<Norm>(loss, lattice, theta, rows, begin, end);
  };
  return {sum_of(records.value_, lattice.dimension(), pass, part),
          plan::sensitivity<Norm>(lattice, unit_records)};
}

template <class Norm>
privacy::Bounded<Norm> ClipAndSum::statistics(const Records& records,
                                              const learn::StatisticsMap<Norm>& map,
                                              uint32_t unit_records, const Pass& pass) {
  const auto part = [&](const auto& rows, size_t begin, size_t end) {
    return learn::statistics_sum(map, rows, begin, end);
  };
  return {sum_of(records.value_, map.size(), pass, part), plan::sensitivity(map, unit_records)};
}

template <class Norm>
privacy::Bounded<Norm> ClipAndSum::evaluation(const Records& records,
                                              const learn::EvaluationMap& map,
                                              std::span<const double> theta, uint32_t unit_records,
                                              const Pass& pass) {
  const auto part = [&](const auto& rows, size_t begin, size_t end) {
    return learn::evaluation_sum(map, theta, rows, begin, end);
  };
  return {sum_of(records.value_, map.size(), pass, part),
          plan::sensitivity<Norm>(map, unit_records)};
}

privacy::Bounded<L2> ClipAndSum::update(const Records& records, const learn::LocalUpdate& update,
                                        double gamma, std::span<const double> theta, uint64_t done,
                                        const Pass& pass) {
  const learn::Lattice& lattice = update.lattice();
  const double unit = lattice.gamma() / static_cast<double>(update.plan().rows);
  const auto mean = [&](std::span<const double> at) {
    const auto part = [&](const auto& rows, size_t begin, size_t end) {
      return learn::lattice_sum<L2>(update.plan().loss, lattice, at, rows, begin, end);
    };
    std::vector<double> gradient;
    for (const int64_t value : sum_of(records.value_, lattice.dimension(), pass, part))
      gradient.push_back(unit * static_cast<double>(value));
    return gradient;
  };
  return {update.rounded(update.run(theta, mean, done), gamma), update.sensitivity_on(gamma)};
}

privacy::Bounded<L2> ClipAndSum::length(const Records& records, const plan::DistanceSum& distance,
                                        std::span<const double> point, const Pass& pass) {
  const learn::Lattice& lattice = distance.norm.lattice;
  const auto part = [&](const auto& rows, size_t begin, size_t end) {
    return learn::lattice_sum<L2>(distance.loss, lattice, point, rows, begin, end);
  };
  const auto sum = sum_of(records.value_, lattice.dimension(), pass, part);
  std::vector<int64_t> numbers(plan::kDistanceNumbers);
  const auto lengths = distance.norm.of(sum);
  std::copy(lengths.begin(), lengths.end(), numbers.begin());
  return {std::move(numbers), distance.sensitivity()};
}

template <class Norm>
privacy::Bounded<Norm> ClipAndSum::tuned_model(const Records& records, const plan::FineTune& tune,
                                               std::span<const double> center) {
  const double distance = tune.distance();
  const auto found = learn::prox_minimum(tune.loss(), records.value_, tune.prox(center), distance);
  check(found.distance <= distance);  // The sensitivity is proved for this distance.
  std::vector<int64_t> values;
  for (double value : found.theta) values.push_back(std::llround(value / tune.lattice().gamma()));
  return {std::move(values), tune.sensitivity<Norm>()};
}

template privacy::Bounded<L1> ClipAndSum::gradient<L1>(const Records&, const learn::Losses&,
                                                       const learn::Lattice&,
                                                       std::span<const double>, uint32_t,
                                                       const Pass&);
template privacy::Bounded<L2> ClipAndSum::gradient<L2>(const Records&, const learn::Losses&,
                                                       const learn::Lattice&,
                                                       std::span<const double>, uint32_t,
                                                       const Pass&);
template privacy::Bounded<L1> ClipAndSum::statistics<L1>(const Records&,
                                                         const learn::StatisticsMap<L1>&, uint32_t,
                                                         const Pass&);
template privacy::Bounded<L2> ClipAndSum::statistics<L2>(const Records&,
                                                         const learn::StatisticsMap<L2>&, uint32_t,
                                                         const Pass&);
template privacy::Bounded<L1> ClipAndSum::evaluation<L1>(const Records&,
                                                         const learn::EvaluationMap&,
                                                         std::span<const double>, uint32_t,
                                                         const Pass&);
template privacy::Bounded<L2> ClipAndSum::evaluation<L2>(const Records&,
                                                         const learn::EvaluationMap&,
                                                         std::span<const double>, uint32_t,
                                                         const Pass&);

template privacy::Bounded<L1> ClipAndSum::tuned_model<L1>(const Records&, const plan::FineTune&,
                                                          std::span<const double>);
template privacy::Bounded<L2> ClipAndSum::tuned_model<L2>(const Records&, const plan::FineTune&,
                                                          std::span<const double>);

}  // namespace parley::gate
