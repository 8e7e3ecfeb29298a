#include "parley/privacy/accounting/odometer.h"

#include <cmath>

#include "parley/base/math/number.h"

namespace parley::privacy {

Odometer odometer(const Spent& spent, const Budget& budget) {
  check(spent.rho <= budget.rho_max);
  if (spent.rho == 0) return {0, spent.pure, spent.delta};
  int level = 1;
  double rho = budget.rho_max;  // Halving is exact.
  while (rho / 2 >= spent.rho) rho /= 2, ++level;
  const double share = budget.delta_convert / (double(level) * (level + 1));
  const double spread = 2 * std::sqrt(rho * -std::log(share)) * (1 + 0x1p-48);
  return {level, add_up(spent.pure, add_up(rho, spread)),
          add_up(budget.delta_convert, spent.delta)};
}

}  // namespace parley::privacy
