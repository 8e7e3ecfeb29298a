#include "parley/learn/fitness.h"

#include <cmath>

#include "parley/base/result.h"
#include "parley/learn/solver/solvers.h"

namespace parley::learn {
namespace {

std::variant<Moments, Design> data_for(const Losses& loss, size_t columns, int threads, double l1) {
  if (std::holds_alternative<Squared>(loss) && l1 == 0) return Moments(columns);
  return Design(columns, threads);
}

std::vector<double> scores_of(const Design& design, std::span<const double> theta) {
  std::vector<double> scores(design.rows());
  design.scores(theta, scores);
  return scores;
}

std::vector<double> loss_gradient(const Design& design, const Losses& loss,
                                  std::span<const double> theta) {
  std::vector<double> slopes = scores_of(design, theta);
  const std::span<const double> labels = design.labels();
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < slopes.size(); ++i) slopes[i] = known.slope(slopes[i], labels[i]);
      },
      loss);
  std::vector<double> gradient = design.combination(slopes);
  for (double& value : gradient) value /= static_cast<double>(design.rows());
  return gradient;
}

}  // namespace

Fitness::Fitness(const Losses& loss, size_t columns, double l2, int threads, double l1)
    : loss_(loss),
      columns_(columns),
      l2_(l2),
      threads_(threads),
      l1_(l1),
      data_(data_for(loss, columns, threads, l1)) {}

void Fitness::add(const data::Rows& rows) {
  if (auto* moments = std::get_if<Moments>(&data_)) return moments->add(rows, threads_);
  std::get<Design>(data_).add(rows);
}

void Fitness::add(const data::SparseRows& rows) {
  if (auto* moments = std::get_if<Moments>(&data_)) return moments->add(rows, threads_);
  std::get<Design>(data_).add(rows);
}

size_t Fitness::rows() const {
  return std::visit([](const auto& data) { return data.rows(); }, data_);
}

double Fitness::at(std::span<const double> theta) const {
  check(theta.size() == columns_ && rows() > 0);
  double squares = 0, sizes = 0;
  for (double value : theta) squares += value * value, sizes += std::fabs(value);
  const auto* moments = std::get_if<Moments>(&data_);
  const auto* design = std::get_if<Design>(&data_);
  return l2_ / 2 * squares + l1_ * sizes +
         (moments ? moments->value(theta) : mean_loss(*design, loss_, scores_of(*design, theta)));
}

std::vector<double> Fitness::gradient(std::span<const double> theta) const {
  check(theta.size() == columns_ && rows() > 0);
  const auto* moments = std::get_if<Moments>(&data_);
  std::vector<double> result =
      moments ? moments->gradient(theta) : loss_gradient(std::get<Design>(data_), loss_, theta);
  for (size_t j = 0; j < columns_; ++j) result[j] += l2_ * theta[j];
  return result;
}

Optimum Fitness::minimum(double box) const {
  check(rows() > 0);
  if (const auto* moments = std::get_if<Moments>(&data_))
    return squared_optimum(*moments, l2_, box);
  const Problem problem{std::get<Design>(data_), l2_, box};
  const auto* hinge = std::get_if<Hinge>(&loss_);
  check(hinge == nullptr || l1_ == 0);
  if (l1_ > 0) return lasso_optimum(problem, loss_, l1_);
  if (hinge != nullptr) return hinge_optimum(problem, *hinge);
  return smooth_optimum(problem, loss_);
}

}  // namespace parley::learn
