#include "parley/forecast/propagate/bound.h"

#include <Eigen/Core>
#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <vector>

namespace parley::forecast {
namespace {

struct Solution {
  Eigen::Vector3d coefficients = Eigen::Vector3d::Zero();
  double error = std::numeric_limits<double>::infinity();
};

/// Least squares of the columns in `used` against ones; others stay zero.
Solution solve(const Eigen::MatrixXd& columns, int used) {
  std::vector<int> at;
  for (int j = 0; j < 3; ++j)
    if (used >> j & 1) at.push_back(j);
  Eigen::MatrixXd chosen(columns.rows(), static_cast<Eigen::Index>(at.size()));
  for (size_t k = 0; k < at.size(); ++k)
    chosen.col(static_cast<Eigen::Index>(k)) = columns.col(at[k]);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(columns.rows());
  const Eigen::VectorXd x = chosen.colPivHouseholderQr().solve(ones);
  Solution found;
  if ((x.array() < 0).any()) return found;
  for (size_t k = 0; k < at.size(); ++k)
    found.coefficients[at[k]] = x[static_cast<Eigen::Index>(k)];
  found.error = (chosen * x - ones).squaredNorm();
  return found;
}

}  // namespace

double BoundFit::at(double s) const { return floor + root * std::sqrt(s) + line * s; }

/// With three coefficients the best non-negative ones are found by trying which of them are zero.
BoundFit fit_bound(std::span<const std::pair<double, double>> points, BoundForm form) {
  Eigen::MatrixXd columns(static_cast<Eigen::Index>(points.size()), 3);
  for (size_t k = 0; k < points.size(); ++k) {
    const auto [s, psi] = points[k];
    columns.row(static_cast<Eigen::Index>(k)) << 1 / psi, std::sqrt(s) / psi, s / psi;
  }
  const int allowed = form == BoundForm::kSmooth ? 0b101 : form == BoundForm::kGeneral ? 0b011 : 7;
  Solution best;
  for (int used = 1; used < 8; ++used)
    if ((used & ~allowed) == 0)
      if (const Solution found = solve(columns, used); found.error < best.error) best = found;
  return {best.coefficients[0], best.coefficients[1], best.coefficients[2]};
}

}  // namespace parley::forecast
