#include "parley/learn/personal/own_loss.h"

#include <algorithm>

#include "parley/base/result.h"
#include "parley/learn/personal/paths.h"

namespace parley::learn {
namespace {

/// As little as the bias of a model alone is pulled to 0: it matters where all rows are of one
/// class, which no finite bias fits best.
constexpr double kOwnBiasRidge = 1e-4;

/// With weights 1 / rows or 0 the sums are means already.
Moments moments_of(const Design& design, std::span<const double> weights) {
  std::vector<double> labels(design.labels().begin(), design.labels().end());
  double squares = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    squares += weights[i] * labels[i] * labels[i];
    labels[i] *= weights[i];
  }
  return {1, design.products(weights), design.combination(labels), squares};
}

std::vector<double> weights_of(const std::vector<bool>& use, size_t rows) {
  std::vector<double> weights(use.size());
  for (size_t i = 0; i < use.size(); ++i) weights[i] = use[i] ? 1 / static_cast<double>(rows) : 0;
  return weights;
}

}  // namespace

OwnLoss::OwnLoss(const Losses& loss, const Design& design, const std::vector<bool>& use)
    : loss_(loss),
      design_(design),
      rows_(size_t(std::count(use.begin(), use.end(), true))),
      weights_(weights_of(use, rows_)) {
  check(use.size() == design.rows() && rows_ > 0 && !std::holds_alternative<Hinge>(loss));
  if (std::holds_alternative<Squared>(loss)) moments_ = moments_of(design_, weights_);
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
          if (weights_[i] != 0) sum += weights_[i] * known.value(scores[i], labels[i]);
      },
      loss_);
  return sum;
}

std::vector<std::vector<double>> OwnLoss::models(const Pull& pull) const {
  return moments_ ? squared_models(*moments_, pull)
                  : newton_models({design_, weights_}, loss_, pull);
}

std::vector<double> OwnLoss::own_bias(std::vector<double> centre, size_t bias) const {
  if (!moments_) {
    centre[bias] += best_step_along({design_, weights_}, loss_, centre, bias, kOwnBiasRidge);
  } else if (const double square = moments_->product(bias, bias); square > 0) {
    centre[bias] -= moments_->gradient(centre)[bias] / (2 * square);
  }
  return centre;
}

}  // namespace parley::learn
