#include "parley/learn/personal/own_loss.h"

#include <algorithm>
#include <utility>

#include "parley/base/result.h"
#include "parley/learn/personal/paths.h"

namespace parley::learn {
namespace {

Moments moments_of(const Design& design, std::span<const double> use, size_t rows) {
  std::vector<double> labels(design.labels().begin(), design.labels().end());
  double squares = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i] *= use[i];
    squares += labels[i] * labels[i];
  }
  return {rows, design.products(use), design.combination(labels), squares};
}

}  // namespace

OwnLoss::OwnLoss(const Losses& loss, const Design& design, std::vector<double> use)
    : loss_(loss),
      design_(design),
      use_(std::move(use)),
      rows_(size_t(std::count(use_.begin(), use_.end(), 1.0))) {
  check(use_.size() == design.rows() && rows_ > 0 && !std::holds_alternative<Hinge>(loss));
  if (std::holds_alternative<Squared>(loss)) moments_ = moments_of(design_, use_, rows_);
}

double OwnLoss::mean(std::span<const double> theta) const {
  // A difference of large numbers, which rounding may bring below zero.
  if (moments_) return std::max(moments_->value(theta), 0.0);
  std::vector<double> scores(design_.rows());
  design_.scores(theta, scores);
  const std::span<const double> labels = design_.labels();
  double sum = 0;
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < scores.size(); ++i)
          if (use_[i] != 0) sum += known.value(scores[i], labels[i]);
      },
      loss_);
  return sum / static_cast<double>(rows_);
}

std::vector<std::vector<double>> OwnLoss::models(const Pull& pull) const {
  if (moments_) return squared_models(*moments_, pull);
  return newton_models({design_, use_, static_cast<double>(rows_)}, loss_, pull);
}

std::vector<double> OwnLoss::own_bias(std::vector<double> centre, size_t bias) const {
  if (moments_) {
    const double square = moments_->product(bias, bias);
    if (square > 0) centre[bias] -= moments_->gradient(centre)[bias] / (2 * square);
  } else {
    centre[bias] +=
        best_step_along({design_, use_, static_cast<double>(rows_)}, loss_, centre, bias);
  }
  return centre;
}

}  // namespace parley::learn
