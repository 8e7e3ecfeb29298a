#include "parley/learn/schedule/async_descent.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/math/portable.h"
#include "parley/base/result.h"
#include "parley/learn/solver/moments.h"
#include "parley/learn/solver/symmetric.h"

namespace parley::learn {
namespace {

/// The largest square of what a column becomes.
double square_bound(const data::Column& column) {
  if (column.kind == data::Column::Kind::kCategory) {
    if (column.encode == data::Column::Encode::kOneHot) return 1;  // One of its features is 1.
    const auto last = static_cast<double>(column.levels.size());
    return last * last;
  }
  const auto of = [&](double value) { return column.log ? portable_log1p(value) : value; };
  const double low = of(column.low), high = of(column.high);
  return std::fmax(low * low, high * high);
}

}  // namespace

double stability(const AsyncRule& rule, double curvature) {
  const double part = rule.l2 / (2 * static_cast<double>(rule.owners.size()));
  double largest = 0;
  for (const AsyncRule::Owner& owner : rule.owners)
    largest = std::fmax(largest, owner.step * (owner.weight * curvature + part));
  return largest;
}

double largest_curvature(const Losses& loss, const data::Rows& rows) {
  const size_t p = rows.columns();
  Moments moments(p);
  moments.add(rows, 1);
  std::vector<double> products(p * p);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j) products[i * p + j] = moments.product(i, j);
  return smoothness_of(loss) * eigenvalues(products, p).back();
}

double largest_curvature(const Losses& loss, const data::Schema& schema) {
  double squares = schema.bias ? 1 : 0;
  for (const data::Column& column : schema.columns) squares += square_bound(column);
  return smoothness_of(loss) * squares;
}

AsyncDescent::AsyncDescent(AsyncRule rule)
    : rule_(std::move(rule)),
      theta_(rule_.dimension),
      copies_(rule_.dimension * rule_.owners.size()),
      average_(rule_.dimension),
      sum_(rule_.dimension) {
  check(rule_.dimension > 0 && !rule_.owners.empty());
}

std::vector<double> AsyncDescent::middle(size_t owner, std::span<const double> theta) const {
  const std::span<const double> own = copy(owner);
  std::vector<double> point(theta.size());
  for (size_t j = 0; j < point.size(); ++j) point[j] = .5 * (theta[j] + own[j]);
  return point;
}

void AsyncDescent::step(size_t owner, std::span<const double> gradient) {
  check(!finished() && gradient.size() == rule_.dimension);
  const auto [owner_step, weight] = rule_.owners[owner];
  const double owners = static_cast<double>(rule_.owners.size());
  const std::vector<double> point = middle(owner);
  const uint64_t head = rule_.rounds / 2;  // The last ceil(rounds / 2) points are averaged.
  const double part = ++done_ <= head ? 1 : 1 / static_cast<double>(done_ - head);
  const auto clamp = [&](double value) { return std::clamp(value, -rule_.box, rule_.box); };
  double* own = &copies_[owner * rule_.dimension];
  for (size_t j = 0; j < rule_.dimension; ++j) {
    const double regular = rule_.l2 * point[j];
    const double moved =
        clamp(point[j] - owner_step * (regular / (2 * owners) + weight * gradient[j]));
    sum_[j] += moved - own[j];
    own[j] = moved;
    theta_[j] = clamp(point[j] - rule_.step * (.5 * regular));
    average_[j] += part * (theta_[j] - average_[j]);
  }
}

std::vector<double> AsyncDescent::output() const {
  if (rule_.output == AsyncOutput::kLast) return theta_;
  if (rule_.output == AsyncOutput::kTail) return average_;
  std::vector<double> mean(rule_.dimension);
  const double points = static_cast<double>(rule_.owners.size() + 1);
  for (size_t j = 0; j < mean.size(); ++j)
    mean[j] = std::clamp((sum_[j] + theta_[j]) / points, -rule_.box, rule_.box);
  return mean;
}

}  // namespace parley::learn
