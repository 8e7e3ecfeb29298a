#include "parley/privacy/accounting/pld/pairs.h"

#include <limits>

#include "parley/privacy/accounting/pld/normal.h"

namespace parley::privacy {
namespace {

/// ln(1 - q + q exp((2x - 1) / (2 sigma^2))): the loss of x when a record is removed.
double sampled_loss(double q, double sigma, double x) {
  const double exponent = (2 * x - 1) / (2 * sigma * sigma);
  return exponent > 600 ? exponent + std::log(q) : std::log1p(q * std::expm1(exponent));
}

/// Its inverse; minus infinity at and below ln(1 - q).
double sampled_place(double q, double sigma, double loss) {
  if (loss > 40) return sigma * sigma * (loss - std::log(q) + (q - 1) * std::exp(-loss)) + .5;
  const double ratio = std::expm1(loss) / q;
  return ratio <= -1 ? -std::numeric_limits<double>::infinity()
                     : sigma * sigma * std::log1p(ratio) + .5;
}

double between_around(double centre, double sigma, double a, double b) {
  return normal_between((a - centre) / sigma, (b - centre) / sigma);
}

double mixed(double q, double zero, double one) { return (1 - q) * zero + q * one; }

}  // namespace

Interval GaussianPair::range(double tail) const {
  const double reach = normal_quantile_bound(tail) * mu;
  return {mu * mu / 2 - reach, mu * mu / 2 + reach};
}
Masses GaussianPair::between(double a, double b) const {
  return {normal_between(a - mu, b - mu), normal_between(a, b)};
}
double GaussianPair::below(double x) const { return normal_below(x - mu); }
double GaussianPair::above(double x) const { return normal_below(mu - x); }

Interval RemovePair::range(double tail) const {
  const double reach = normal_quantile_bound(tail) * sigma;
  return {sampled_loss(q, sigma, -reach), sampled_loss(q, sigma, 1 + reach)};
}
double RemovePair::at(double loss) const { return sampled_place(q, sigma, loss); }
Masses RemovePair::between(double a, double b) const {
  const double zero = between_around(0, sigma, a, b);
  return {mixed(q, zero, between_around(1, sigma, a, b)), zero};
}
double RemovePair::below(double x) const {
  return mixed(q, normal_below(x / sigma), normal_below((x - 1) / sigma));
}
double RemovePair::above(double x) const {
  return mixed(q, normal_below(-x / sigma), normal_below((1 - x) / sigma));
}

Interval AddPair::range(double tail) const {
  const double reach = normal_quantile_bound(tail) * sigma;
  return {-sampled_loss(q, sigma, reach), -sampled_loss(q, sigma, -reach)};
}
double AddPair::at(double loss) const { return -sampled_place(q, sigma, -loss); }
Masses AddPair::between(double a, double b) const {
  const double zero = between_around(0, sigma, a, b);
  return {zero, mixed(q, zero, between_around(-1, sigma, a, b))};
}
double AddPair::below(double x) const { return normal_below(x / sigma); }
double AddPair::above(double x) const { return normal_below(-x / sigma); }

Interval ReplacePair::range(double tail) const {
  const double x = 1 + normal_quantile_bound(tail) * sigma;
  const double high = sampled_loss(q, sigma, x) - sampled_loss(q, sigma, -x);
  return {-high, high};
}
/// The root x of e^loss = (1 + c u) / (1 + c / u), u = exp(x / sigma^2): sigma^2 (loss/2 +
/// asinh(sinh(loss/2) / c)), through logarithms because c may be as small as exp(-1000).
double ReplacePair::at(double loss) const {
  const double log_c = std::log(q) - std::log1p(-q) - 1 / (2 * sigma * sigma);
  const double half = std::abs(loss) / 2;
  const double log_ratio = half + std::log(-std::expm1(-2 * half)) - std::numbers::ln2 - log_c;
  const double inverse =
      log_ratio > 20 ? log_ratio + std::numbers::ln2 : std::asinh(std::exp(log_ratio));
  return std::copysign(sigma * sigma * (half + inverse), loss);
}
Masses ReplacePair::between(double a, double b) const {
  const double zero = between_around(0, sigma, a, b);
  return {mixed(q, zero, between_around(1, sigma, a, b)),
          mixed(q, zero, between_around(-1, sigma, a, b))};
}
double ReplacePair::below(double x) const { return RemovePair{q, sigma}.below(x); }
double ReplacePair::above(double x) const { return RemovePair{q, sigma}.above(x); }

LossGrid laplace_losses(double noise_multiplier, double step) {
  const double end = 1 / noise_multiplier, small = std::exp(-end);
  LossGrid grid = empty_grid({-end, end}, step);
  add_atom(grid, {end, .5, .5 * small});
  add_atom(grid, {-end, .5 * small, .5});
  double before = -end;
  for (size_t i = 1; i < grid.mass.size(); ++i) {
    const double edge = static_cast<double>(grid.first + static_cast<int64_t>(i)) * step;
    const double here = std::clamp(edge, -end, end);
    if (here <= before) continue;
    const double slice = -std::expm1(-(here - before) / 2) / 2;  // x falls as the loss grows
    add_between(grid, i,
                {std::exp(-(end - here) / 2) * slice, std::exp(-(end + before) / 2) * slice});
    before = here;
  }
  return grid;
}

LossGrid discrete_laplace_losses(double scale, double sensitivity, double step) {
  const double end = sensitivity / scale, ratio = std::exp(-1 / scale);
  LossGrid grid = empty_grid({-end, end}, step);
  const double side = 1 / (1 + ratio), other = side * std::exp(-end);
  add_atom(grid, {end, side, other});   // k <= 0
  add_atom(grid, {-end, other, side});  // k >= sensitivity
  double before =
      sensitivity;  // k from here on is done; loss (sensitivity - 2k) / scale falls in k
  for (size_t i = 1; i < grid.mass.size() && before > 1; ++i) {
    const double edge = static_cast<double>(grid.first + static_cast<int64_t>(i)) * step;
    const double here = std::max(1.0, std::ceil((sensitivity - edge * scale) / 2));
    if (here >= before) continue;
    const double slice = -std::expm1(-(before - here) / scale) * side;
    add_between(
        grid, i,
        {std::exp(-here / scale) * slice, std::exp(-(sensitivity - before + 1) / scale) * slice});
    before = here;
  }
  return grid;
}

LossGrid discrete_gaussian_losses(double sigma, double sensitivity, double step, double tail) {
  check(sigma <= 0x1p20 && sensitivity <= 0x1p24);
  const double half = 1 / (2 * sigma * sigma);
  const auto loss = [&](double k) { return (sensitivity - 2 * k) * sensitivity * half; };
  const double reach = std::ceil((normal_quantile_bound(tail) + 2) * sigma) + 2;
  double total = 0;
  for (double k = -reach - 30 * sigma; k <= reach + 30 * sigma; ++k)
    total += std::exp(-std::round(k) * std::round(k) * half);
  LossGrid grid = empty_grid({loss(reach), loss(-reach)}, step);
  for (double k = -reach; k <= reach; ++k) {
    const double shifted = k - sensitivity;
    add_atom(grid, {loss(k), std::exp(-k * k * half) / total,
                    std::exp(-shifted * shifted * half) / total});
  }
  grid.beyond = tail;  // The reach is wide enough for both tails together.
  return grid;
}

LossGrid approximate_losses(double epsilon, double delta, double step) {
  LossGrid grid = empty_grid({-epsilon, epsilon}, step);
  const double rest = 1 - delta, likely = rest / (1 + std::exp(-epsilon));
  const double rare = rest / (1 + std::exp(epsilon));
  add_atom(grid, {epsilon, likely, rare});
  add_atom(grid, {-epsilon, rare, likely});
  grid.beyond = delta;
  return grid;
}

}  // namespace parley::privacy
