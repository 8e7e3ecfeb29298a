#include "parley/privacy/accounting/pld/composition.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parley/privacy/accounting/pld/transform.h"

namespace parley::privacy {
namespace {

/// Where the loss at `index` lies in a window of n points, and with which sign.
struct Place {
  size_t position;
  double sign;
};
Place place_of(int64_t index, size_t n) {  // n is a power of two
  const auto bits = static_cast<uint64_t>(index);
  return {bits & (n - 1), (bits & n) == 0 ? 1.0 : -1.0};
}

struct Tilted {
  std::vector<double> masses;  // sum to 1 or less
  double norm;
};

Tilted tilted(const LossGrid& grid, double tilt, double log_moment, size_t n) {
  Tilted result{std::vector<double>(n), 0};
  for (size_t i = 0; i < grid.mass.size(); ++i) {
    const int64_t index = grid.first + static_cast<int64_t>(i);
    const auto [position, sign] = place_of(index, n);
    const double exponent = tilt * (static_cast<double>(index) * grid.step) - log_moment;
    result.masses[position] += sign * grid.mass[i] * std::exp(exponent);
  }
  double square = 0;
  for (const double mass : result.masses) square += mass * mass;
  result.norm = std::sqrt(square);
  return result;
}

/// Every point to the power `count`. Below exp(-80) a point counts as zero.
void raise(std::vector<double>& spectrum, double count) {
  const double vanishing = std::exp(-160 / count);
  const size_t half = spectrum.size() / 2;
  for (size_t k = 0; k < half; ++k) {
    double re = spectrum[k], im = spectrum[k + half], pr = 1, pi = 0;
    if (re * re + im * im < vanishing) pr = 0;
    for (auto rest = static_cast<uint64_t>(count); rest > 0 && pr != 0; rest /= 2) {
      if (rest % 2 == 1) {
        const double r = pr * re - pi * im;
        pi = pr * im + pi * re, pr = r;
      }
      const double r = re * re - im * im;
      im = 2 * re * im, re = r;
    }
    spectrum[k] = pr, spectrum[k + half] = pi;
  }
}

void multiply(std::vector<double>& product, const std::vector<double>& factor) {
  const size_t half = product.size() / 2;
  for (size_t k = 0; k < half; ++k) {
    const double re = product[k], im = product[k + half];
    product[k] = re * factor[k] - im * factor[k + half];
    product[k + half] = re * factor[k + half] + im * factor[k];
  }
}

/// Bound on the 2-norm over the grid points above eps of exp(-tilt (e - eps)) (1 - e^(eps - e)).
double weights_norm(double tilt, double step, size_t n) {
  const double squares = std::min(1 / (2 * tilt), 1 / (4 * tilt * tilt * tilt)) / step + 1;
  return std::sqrt(std::min(squares, static_cast<double>(n)));
}

}  // namespace

Composition::Composition(const Components& components, const Plan& plan)
    : step_(components.front().grid.step), tilt_(plan.tilt) {
  const Component& only = components.front();
  if (components.size() == 1 && only.count == 1) {  // There is nothing to add up.
    first_ = only.grid.first;
    sum_from_the_top(only.grid.mass.size(), [&](size_t i) { return only.grid.mass[i]; });
  } else {
    convolve(components, plan);
  }
  add_bounds(components, plan);
}

template <class Mass>
void Composition::sum_from_the_top(size_t n, const Mass& mass) {
  from_here_.resize(n), discounted_.resize(n);
  const double decay = std::exp(-step_), spread = -std::expm1(-step_);
  double here = 0, discounted = 0;  // Downwards all terms are positive: nothing cancels.
  for (size_t i = n; i-- > 0;) {
    here += spread * discounted;
    discounted = decay * discounted + mass(i);
    from_here_[i] = here, discounted_[i] = discounted;
  }
  relative_ += 0x1p-50 * static_cast<double>(n);
}

void Composition::convolve(const Components& components, const Plan& plan) {
  const size_t n = window_points(plan.width, step_ * (1 + 0x1p-40));
  first_ = static_cast<int64_t>(std::ceil(plan.top / step_)) - static_cast<int64_t>(n);
  const Transform& transform = transform_of(n);
  std::vector<double> product;
  const double error = transform_error(n);
  double norms = 0, smallest = 1, growth = 0;
  for (const Component& component : components) {
    check(component.grid.step == step_);
    const double moment = log_moment({component}, tilt_) / component.count;
    Tilted one = tilted(component.grid, tilt_, moment, n);
    transform.forward(one.masses);
    raise(one.masses, component.count);
    if (product.empty())
      product = std::move(one.masses);
    else
      multiply(product, one.masses);
    norms += component.count * (error + 6 * 0x1p-53) * one.norm;
    smallest = std::min(smallest, one.norm);
    growth += component.count * error * std::sqrt(static_cast<double>(n)) * one.norm;
    log_scale_ += component.count * moment;
    relative_ += component.count * 0x1p-51 *
                 (4 + std::abs(moment) + tilt_ * loss_rounding(component.grid) * 0x1p48);
  }
  const double vanished = std::exp(-80) * std::sqrt(static_cast<double>(n));
  rounding_ =
      ((norms + error * smallest) * std::exp(growth) + vanished) * weights_norm(tilt_, step_, n);
  transform.inverse(product);
  sum_from_the_top(n, [&](size_t i) {
    const int64_t index = first_ + static_cast<int64_t>(i);
    const auto [position, sign] = place_of(index, n);
    const double exponent = log_scale_ - tilt_ * (static_cast<double>(index) * step_);
    return std::max(0.0, sign * product[position]) * std::exp(exponent);
  });
  const double top = static_cast<double>(first_) * step_ + static_cast<double>(n) * step_;
  relative_ = std::expm1(relative_ + 0x1p-50 * (std::abs(log_scale_) + tilt_ * std::abs(top)));
}

void Composition::add_bounds(const Components& components, const Plan& plan) {
  const auto n = static_cast<double>(from_here_.size());
  double lowest = 0, highest = 0;
  for (const auto& [grid, count] : components) {
    fixed_ += count * grid.beyond;
    shift_ += count * loss_rounding(grid);
    lowest += count * static_cast<double>(grid.first);
    highest += count * static_cast<double>(grid.first + static_cast<int64_t>(grid.mass.size()) - 1);
  }
  const double first = static_cast<double>(first_), width = n * step_;
  const double top = (first + n) * step_;
  if (highest >= first + n) {
    if (plan.above > 0)
      fixed_ += std::exp(log_moment(components, plan.above) - plan.above * top);
    else
      fixed_ += 1;
    const double gap = (plan.right - tilt_) * width;
    right_ = plan.right;
    if (plan.right > tilt_)
      log_right_ = log_moment(components, right_) - gap - std::log(-std::expm1(-gap));
    else  // Nothing is so high that it would come back above this.
      lowest_ = (highest + 1) * step_ - width;
  }
  if (lowest < first) {
    const auto comes_back = [&](double s) {
      const double gap = (s + tilt_) * width;
      const double chance = s > 0 ? log_moment(components, -s) + s * top : 0;
      return gap > 0 ? std::exp(std::min(0.0, chance - gap)) / -std::expm1(-gap) : 1;
    };
    fixed_ += std::min(comes_back(plan.left), comes_back(0));
  }
  fixed_ *= 1 + 0x1p-30;
}

double Composition::delta(double epsilon) const {
  const double here = (epsilon - shift_) / step_;
  const double next = std::floor(here) + 1 - static_cast<double>(first_);  // the first loss above
  if (next < 0 || epsilon - shift_ < lowest_) return 1;
  double sum = 0;
  if (next < static_cast<double>(from_here_.size())) {
    const auto i = static_cast<size_t>(next);
    const double gap = (std::floor(here) + 1 - here) * step_;
    sum = from_here_[i] - std::expm1(-gap) * discounted_[i];
  }
  const double at = epsilon - shift_;
  sum = sum * (1 + relative_) + fixed_;
  if (rounding_ > 0) sum += rounding_ * std::exp(std::min(700.0, log_scale_ - tilt_ * at));
  sum += std::exp(std::min(700.0, log_right_ - right_ * at));
  return std::min(1.0, sum * (1 + 0x1p-40));
}

double Composition::lowest() const {
  return std::max(lowest_, static_cast<double>(first_) * step_) + shift_;
}

double Composition::epsilon(double target) const {
  if (delta(0) <= target) return 0;
  const double step = step_;
  double low = 0;
  double high =
      std::max(static_cast<double>(first_) + static_cast<double>(from_here_.size()), 1.) * step +
      shift_;
  if (delta(high) > target) return std::numeric_limits<double>::infinity();
  for (int i = 0; i < 100; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (delta(middle) <= target ? high : low) = middle;
  }
  return high;
}

}  // namespace parley::privacy
