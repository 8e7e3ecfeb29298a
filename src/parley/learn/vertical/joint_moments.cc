#include "parley/learn/vertical/joint_moments.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "parley/base/math/noise_floor.h"
#include "parley/base/result.h"
#include "parley/learn/kernel/statistics_map.h"
#include "parley/learn/statistics.h"

namespace parley::learn {
namespace {

/// Puts products into their places among all: j and k are features, or the label, the last.
class Places {
 public:
  Places(size_t features, double unit, double label)
      : features_(features), unit_(unit), label_(label), values_(statistics_size(features)) {}

  void put(size_t j, size_t k, int64_t units) {
    if (j > k) std::swap(j, k);
    const size_t triangle = features_ * (features_ + 1) / 2;
    const size_t at = k == features_ ? triangle + j : j * features_ - j * (j + 1) / 2 + k;
    values_[at] = static_cast<double>(units) * (k == features_ ? label_ : unit_);
  }
  std::vector<double> take() { return std::move(values_); }

 private:
  size_t features_;
  double unit_, label_;  // what one is worth, of features and with the label
  std::vector<double> values_;
};

}  // namespace

double moments_sensitivity(const JointPlan& plan) {
  const double real = moments_reach<L2>(plan.row_norm(), 1);
  return std::ceil(std::ldexp(real, 2 * plan.bits) * (1 + 0x1p-40));
}

bool moments_fit(const JointPlan& plan, double deviation) {
  const double r = plan.row_norm();
  const double sum =
      static_cast<double>(plan.rows) * std::ldexp(std::fmax(r * r, r), 2 * plan.bits);
  return sum + 12 * deviation < 0x1p63;
}

MomentsLayout::MomentsLayout(std::vector<size_t> columns, size_t label_holder)
    : columns_(std::move(columns)), label_holder_(label_holder) {
  check(label_holder_ < columns_.size());
}

size_t MomentsLayout::own(size_t party) const {
  const size_t d = columns_[party];
  return d * (d + 1) / 2 + (party == label_holder_ ? d : 0);
}

size_t MomentsLayout::with_later(size_t party) const {
  size_t numbers = 0;
  for (size_t k = party + 1; k < parties(); ++k) numbers += width(party) * width(k);
  return numbers;
}

size_t MomentsLayout::size() const {
  size_t numbers = 0;
  for (size_t m = 0; m < parties(); ++m) numbers += own(m) + with_later(m);
  return numbers;
}

size_t MomentsLayout::features() const {
  return std::accumulate(columns_.begin(), columns_.end(), size_t{0});
}

std::vector<double> MomentsLayout::moments(std::span<const int64_t> released, int bits,
                                           uint64_t rows, double label) const {
  check(released.size() == size());
  const double one = std::ldexp(1.0, -bits) / static_cast<double>(rows);
  Places places(features(), std::ldexp(one, -bits),
                label > 0 ? one / label : std::ldexp(one, -bits));
  std::vector<size_t> first(parties());
  for (size_t m = 1; m < parties(); ++m) first[m] = first[m - 1] + columns_[m - 1];
  const auto place = [&](size_t m, size_t j) {
    return j == columns_[m] ? features() : first[m] + j;
  };
  auto next = released.begin();
  for (size_t m = 0; m < parties(); ++m) {
    for (size_t j = 0; j < columns_[m]; ++j)
      for (size_t k = j; k < columns_[m]; ++k) places.put(place(m, j), place(m, k), *next++);
    for (size_t j = 0; j < (m == label_holder_ ? columns_[m] : 0); ++j)
      places.put(place(m, j), features(), *next++);
    for (size_t k = m + 1; k < parties(); ++k)
      for (size_t j = 0; j < width(m); ++j)
        for (size_t l = 0; l < width(k); ++l) places.put(place(m, j), place(k, l), *next++);
  }
  return places.take();
}

std::vector<double> fit_moments(const MomentsLayout& layout, const JointPlan& plan,
                                const MomentsFit& fit, std::span<const int64_t> released) {
  const auto moments = layout.moments(released, plan.bits, plan.rows, plan.label);
  const double deviation =
      std::ldexp(fit.deviation, -2 * plan.bits) / static_cast<double>(plan.rows);
  const double floor = noise_floor(deviation, fit.beside, layout.features());
  return moments_minimum(moments, layout.features(), fit.l2, std::max(floor, 1e-12), fit.box);
}

}  // namespace parley::learn
