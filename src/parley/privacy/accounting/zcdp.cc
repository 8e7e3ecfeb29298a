#include "parley/privacy/accounting/zcdp.h"

#include <array>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/conversion.h"

namespace parley::privacy {

double zcdp_epsilon(double rho, Delta delta) {
  check(rho >= 0);
  if (rho == 0) return 0;
  return epsilon_of([rho](double alpha) { return rho * alpha; }, delta);
}

double zcdp_delta(double rho, double epsilon) {
  check(rho >= 0);
  if (rho == 0) return 0;
  return delta_of([rho](double alpha) { return rho * alpha; }, epsilon);
}

namespace {

double rho_by_bisection(double epsilon, Delta delta) {
  double low = 0, high = 1;
  while (zcdp_epsilon(high, delta) < epsilon) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (zcdp_epsilon(middle, delta) <= epsilon ? low : high) = middle;
  }
  return low;
}

}  // namespace

double zcdp_rho(double epsilon, Delta delta) {
  if (epsilon <= 0) return 0;
  // Kept, because the owners of a job mostly ask for the same number, and each for all of them.
  struct Known {
    double epsilon = 0, delta = 0, rho = 0;
  };
  thread_local std::array<Known, 8> known{};
  thread_local size_t oldest = 0;
  for (const Known& one : known)
    if (one.epsilon == epsilon && one.delta == delta.value()) return one.rho;
  Known& made = known[oldest++ % known.size()];
  made = {epsilon, delta.value(), rho_by_bisection(epsilon, delta)};
  return made.rho;
}

double zcdp_of_pure(double epsilon) {
  check(epsilon >= 0);
  return mul_up(epsilon, std::tanh(epsilon / 2) * (1 + 0x1p-50));
}

}  // namespace parley::privacy
