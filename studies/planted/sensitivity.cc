// NOT PRIVATE: noise that is exact, for a sensitivity that is wrong.
#include <array>
#include <cmath>
#include <vector>

#include "parley/learn/kernel/kernel.h"
#include "parley/learn/objective.h"
#include "parley/privacy/mechanisms.h"
#include "studies/planted/planted.h"

namespace parley::planted {
namespace {

using audit::World;

using learn::Lattice, data::Rows, learn::Squared, privacy::Laplace;
using Integers = std::vector<int64_t>;

constexpr size_t kColumns = 10;
constexpr double kClip = 3;
using Record = std::array<double, kColumns>;

/// An ordinary record and the attacker's; at theta = 0 its gradient is -2 y z.
Rows data_set(const Record& z, double y) {
  Rows rows(kColumns);
  rows.add(Record{0.1}, 0.3);
  rows.add(z, y);
  return rows;
}

Result<Laplace> calibrated(double sensitivity) {
  return Laplace::calibrate(sensitivity, 1, privacy::Epsilon{1.0});
}

/// Noise on every coordinate; the score is the likelihood ratio.
Target noisy_sums(const Integers& first, const Integers& second, const Laplace& laplace) {
  return {.claimed = {1, 0}, .play = [=](World world, Entropy& entropy) -> Result<double> {
            double score = 0;
            for (size_t j = 0; j < first.size(); ++j) {
              const int64_t sum = world == World::kFirst ? first[j] : second[j];
              const int64_t answer = sum + laplace.sample(entropy);
              score += std::fabs(double(answer - first[j])) - std::fabs(double(answer - second[j]));
            }
            return score;
          }};
}

}  // namespace

Result<Target> l2_bound_with_laplace() {
  const Lattice lattice = TRY(Lattice::make(kClip, 24, kColumns));
  const std::vector<double> theta(kColumns);
  Record diagonal;
  diagonal.fill(50);
  const auto sum = [&](double y) {
    const Rows rows = data_set(diagonal, y);
    return learn::lattice_sum<L2>(Squared{}, lattice, theta, rows, 0, rows.size());
  };
  return noisy_sums(sum(1), sum(-1), TRY(calibrated(2 * lattice.bound<L1>())));
}

Result<Target> clipping_off() {
  const Lattice lattice = TRY(Lattice::make(kClip, 24, kColumns));
  const std::vector<double> theta(kColumns);
  const auto sum = [&](double y) {  // A record of five clip norms.
    const Rows rows = data_set(Record{5 * kClip / 2}, y);
    Integers total;
    for (double mean : learn::mean_gradient(Squared{}, rows, theta, learn::ClipIn::kNone, 0))
      total.push_back(std::llrint(mean * double(rows.size()) / lattice.gamma()));
    return total;
  };
  return noisy_sums(sum(1), sum(-1), TRY(calibrated(2 * lattice.bound<L1>())));
}

Result<Target> lower_bound_twice() {
  constexpr double kLow = 10, kHigh = 100;  // of a column whose squares are added up
  const double largest = std::max(std::fabs(kLow), std::fabs(kLow));  // The mistake.
  return noisy_sums({int64_t(kLow * kLow)}, {int64_t(kHigh * kHigh)},
                    TRY(calibrated(largest * largest)));
}

}  // namespace parley::planted
