#include "parley/privacy/accounting/pld/wide.h"

#include "parley/base/math/number.h"

namespace parley::privacy {
namespace {

constexpr double kWide = 0x1p20;
constexpr double kDimensionMax = 4096;  // of a lattice: data/rows.h

double distance_of(const DiscreteGaussianEvent& event) {
  const double reach = 45 + event.sensitivity / event.sigma;  // in sigmas
  return kDimensionMax * reach * reach / (8 * event.sigma * event.sigma) * (1 + 0x1p-40);
}

}  // namespace

Continued with_wide_noise_continuous(const Events& events) {
  Continued result{events, 0};
  for (auto& [event, count] : result.events) {
    const auto* discrete = std::get_if<DiscreteGaussianEvent>(&event);
    if (discrete == nullptr || discrete->sigma <= kWide) continue;
    const double one = distance_of(*discrete);
    result.distance = add_up(result.distance, mul_up(one, static_cast<double>(count)));
    event = GaussianEvent{next_down(discrete->sigma / discrete->sensitivity)};
  }
  return result;
}

}  // namespace parley::privacy
