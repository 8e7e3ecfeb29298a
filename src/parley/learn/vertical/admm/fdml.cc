#include "parley/learn/vertical/admm/fdml.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

double score(const data::Rows& rows, size_t i, std::span<const double> x) {
  const auto row = rows.row(i);
  return std::inner_product(row.begin(), row.end(), x.begin(), 0.0);
}

double score(const data::SparseRows& rows, size_t i, std::span<const double> x) {
  const auto at = rows.row_indices(i);
  const auto values = rows.row_values(i);
  double sum = 0;
  for (size_t k = 0; k < at.size(); ++k) sum += values[k] * x[at[k]];
  return sum;
}

void move_along(const data::Rows& rows, size_t i, double by, std::span<double> x) {
  const auto row = rows.row(i);
  for (size_t j = 0; j < row.size(); ++j) x[j] += by * row[j];
}

void move_along(const data::SparseRows& rows, size_t i, double by, std::span<double> x) {
  const auto at = rows.row_indices(i);
  const auto values = rows.row_values(i);
  for (size_t k = 0; k < at.size(); ++k) x[at[k]] += by * values[k];
}

/// All parties in one place.
class Fdml {
 public:
  Fdml(const std::vector<data::AnyRows>& columns, std::span<const double> labels,
       const FdmlOptions& options, Entropy& entropy)
      : columns_(columns), labels_(labels), options_(options), entropy_(entropy) {
    for (const data::AnyRows& block : columns) models_.emplace_back(data::columns_of(block));
    order_.resize(labels.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  void pass(int epoch) {
    for (size_t left = order_.size(); left > 1; --left)
      std::swap(order_[left - 1], order_[entropy_.word() % left]);
    const double step = options_.step / std::sqrt(epoch);
    for (size_t begin = 0; begin < order_.size(); begin += options_.batch)
      take({&order_[begin], std::min(options_.batch, order_.size() - begin)}, step);
  }

  double objective() const {
    double losses = 0, squares = 0;
    for (size_t i = 0; i < labels_.size(); ++i)
      losses +=
          std::visit([&](const auto& l) { return l.value(sum_of(i), labels_[i]); }, options_.loss);
    for (const auto& model : models_)
      for (double x : model) squares += x * x;
    return losses / static_cast<double>(labels_.size()) + options_.l2 / 2 * squares;
  }

  const std::vector<std::vector<double>>& models() const { return models_; }

 private:
  double sum_of(size_t i) const {
    double sum = 0;
    for (size_t m = 0; m < columns_.size(); ++m)
      sum += std::visit([&](const auto& kind) { return score(*kind, i, models_[m]); }, columns_[m]);
    return sum;
  }

  void take(std::span<const size_t> batch, double step) {
    slopes_.resize(batch.size());
    for (size_t k = 0; k < batch.size(); ++k)
      slopes_[k] =
          std::visit([&](const auto& l) { return l.slope(sum_of(batch[k]), labels_[batch[k]]); },
                     options_.loss);
    const double per_record = step / static_cast<double>(batch.size());
    for (size_t m = 0; m < columns_.size(); ++m) {
      for (double& x : models_[m]) x *= 1 - step * options_.l2;
      for (size_t k = 0; k < batch.size(); ++k)
        std::visit(
            [&](const auto& kind) {
              move_along(*kind, batch[k], -per_record * slopes_[k], models_[m]);
            },
            columns_[m]);
    }
  }

  const std::vector<data::AnyRows>& columns_;
  std::span<const double> labels_;
  const FdmlOptions& options_;
  Entropy& entropy_;
  std::vector<std::vector<double>> models_{};
  std::vector<size_t> order_{};
  std::vector<double> slopes_{};
};

}  // namespace

std::vector<std::vector<double>> share_by_sgd(
    const std::vector<data::AnyRows>& columns, std::span<const double> labels,
    const FdmlOptions& options, Entropy& entropy,
    const std::function<void(const FdmlEpoch&, const std::vector<std::vector<double>>&)>& each) {
  check(!columns.empty() && options.batch > 0);
  Fdml fdml(columns, labels, options, entropy);
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    fdml.pass(epoch);
    each({epoch, fdml.objective()}, fdml.models());
  }
  return fdml.models();
}

}  // namespace parley::learn
