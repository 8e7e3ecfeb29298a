// NOT PRIVATE: noise that is drawn wrongly, or too little of it.
#include <cmath>

#include "parley/privacy/accounting/zcdp.h"
#include "parley/privacy/mechanisms.h"
#include "studies/planted/planted.h"

namespace parley::planted {
namespace {

using audit::World;

constexpr double kUnits = 0x1p20;  // the sensitivity, in lattice units

/// -b sign ln(U) around a center, U a multiple of 2^-53: the textbook's sampler.
struct TextbookLaplace {
  double b;

  double sample(double center, Entropy& entropy) const {
    const double u = double((entropy.word() >> 11) + 1) * 0x1p-53;
    const double size = -b * std::log(u);
    return center + (entropy.word() & 1 ? size : -size);
  }

  /// Could this output have come from this center? Tries every U nearby.
  bool possible(double output, double center) const {
    const double noise = output - center;
    const double guess = std::floor(std::exp(-std::fabs(noise) / b) * 0x1p53);
    for (double k = guess - 4; k <= guess + 4; ++k) {
      if (k < 1 || k > 0x1p53) continue;
      const double size = -b * std::log(k * 0x1p-53);
      if (center + (noise < 0 ? -size : size) == output) return true;
    }
    return false;
  }
};

double pure_score(double answer, double shift) {
  return std::fabs(answer) - std::fabs(answer - shift);
}

}  // namespace

Result<Target> float_laplace() {
  constexpr double kFirst = 0, kSecond = 1;
  const TextbookLaplace laplace{1};
  return Target{.claimed = {1, 0}, .play = [=](World world, Entropy& entropy) -> Result<double> {
                  const double center = world == World::kFirst ? kFirst : kSecond;
                  const double output = laplace.sample(center, entropy);
                  return double(laplace.possible(output, kSecond)) -
                         double(laplace.possible(output, kFirst));
                }};
}

Result<Target> per_party_noise() {
  constexpr int kParties = 10;
  constexpr double kDelta = 1e-5;
  const auto rho = TRY(privacy::Rho::make(privacy::zcdp_rho(1, *privacy::Delta::make(kDelta))));
  const auto whole = TRY(privacy::Gaussian::calibrate(kUnits, 1, rho));
  // The average of m draws, each as large as the average's noise should be, has an m-th of its
  // variance; a sum is m averages.
  const auto share =
      TRY(privacy::Gaussian::make(std::floor(whole.variance() / (kParties * kParties))));
  return Target{.claimed = {1, kDelta, true},
                .play = [=](World world, Entropy& entropy) -> Result<double> {
                  double sum = world == World::kFirst ? 0 : kUnits;
                  for (int i = 0; i < kParties; ++i) sum += double(share.sample(entropy));
                  return sum;
                }};
}

Result<Target> fresh_noise_on_retry() {
  constexpr int kRetries = 16;
  const auto laplace = TRY(privacy::Laplace::calibrate(kUnits, 1, privacy::Epsilon{1.0}));
  return Target{.claimed = {1, 0}, .play = [=](World world, Entropy& entropy) -> Result<double> {
                  const double sum = world == World::kFirst ? 0 : kUnits;
                  double score = 0;
                  for (int i = 0; i < kRetries; ++i)
                    score += pure_score(sum + double(laplace.sample(entropy)), kUnits);
                  return score;
                }};
}

}  // namespace parley::planted
