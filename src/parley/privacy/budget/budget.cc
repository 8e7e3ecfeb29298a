#include "parley/privacy/budget/budget.h"

#include <algorithm>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::privacy {

Result<Budget> Budget::make(Epsilon epsilon, double delta, double pure) {
  if (!(delta >= 0 && delta < 1))
    return Error{Code::kInvalid, "delta must be at least 0 and below 1, found " + shortest(delta)};
  if (!(pure >= 0 && pure <= epsilon.value()))
    return Error{Code::kInvalid,
                 "the pure part must lie between 0 and epsilon, found " + shortest(pure)};
  Budget budget{.epsilon = epsilon.value(), .delta = delta, .pure_max = pure};
  if (delta == 0) {
    if (pure < epsilon.value())
      return Error{Code::kInvalid, "with delta = 0 the whole epsilon is pure",
                   "Set pure = epsilon, or give a delta above 0."};
    return budget;
  }
  budget.delta_extra = delta / 1024;
  budget.delta_convert = next_down(delta - budget.delta_extra);  // Together at most delta.
  budget.rho_max = zcdp_rho(std::max(0.0, next_down(epsilon.value() - pure)),
                            TRY(Delta::make(budget.delta_convert)));
  return budget;
}

Spent Spent::plus(const Cost& cost) const {
  check(cost.amount >= 0 && cost.delta >= 0);  // Also catches NaN.
  Spent total = *this;
  double& track = cost.track == Track::kPure ? total.pure : total.rho;
  track = add_up(track, cost.amount);
  total.delta = add_up(total.delta, cost.delta);
  return total;
}

double Spent::epsilon(double delta_convert) const {
  if (rho == 0) return pure;
  return add_up(pure, zcdp_epsilon(rho, *Delta::make(delta_convert)));
}

bool Spent::within(const Budget& budget) const {
  return pure <= budget.pure_max && rho <= budget.rho_max && delta <= budget.delta_extra;
}

}  // namespace parley::privacy
