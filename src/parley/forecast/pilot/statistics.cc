#include "parley/forecast/pilot/statistics.h"

#include <algorithm>
#include <cmath>

#include "parley/base/math/eigen.h"
#include "parley/base/memory/parallel.h"
#include "parley/learn/federated/shrink.h"
#include "parley/learn/fitness.h"
#include "parley/learn/objective.h"
#include "parley/learn/solver/products.h"
#include "parley/learn/solver/solvers.h"
#include "parley/learn/vertical/cells/cell_columns.h"
#include "parley/plan/secagg_terms.h"

namespace parley::forecast {
namespace {

using charter::Charter;

size_t place_of(const Charter& charter, const std::string& owner) {
  const auto found = std::find_if(charter.owners.begin(), charter.owners.end(),
                                  [&](const charter::Owner& each) { return each.name == owner; });
  return static_cast<size_t>(found - charter.owners.begin());
}

bool contains(const std::vector<size_t>& members, size_t owner) {
  return std::find(members.begin(), members.end(), owner) != members.end();
}

}  // namespace

size_t label_holder(const Charter& charter) { return place_of(charter, charter.target_owner); }

std::vector<size_t> feature_owners(const Charter& charter) {
  std::vector<size_t> owners;
  for (size_t i = 0; i < charter.schema.columns.size(); ++i) {
    data::Schema one;
    one.columns = {charter.schema.columns[i]};
    owners.insert(owners.end(), one.features().size(), place_of(charter, charter.column_owners[i]));
  }
  if (charter.schema.bias) owners.push_back(label_holder(charter));
  return owners;
}

Charter charter_of(const Charter& charter, const std::vector<size_t>& members) {
  Charter group = charter;
  group.owners.clear(), group.column_owners.clear(), group.schema.columns.clear();
  for (const size_t member : members) group.owners.push_back(charter.owners[member]);
  for (size_t i = 0; i < charter.schema.columns.size(); ++i) {
    if (!contains(members, place_of(charter, charter.column_owners[i]))) continue;
    group.schema.columns.push_back(charter.schema.columns[i]);
    group.column_owners.push_back(charter.column_owners[i]);
  }
  group.schema.bias = charter.schema.bias && contains(members, label_holder(charter));
  return group;
}

SharedRows features_of(const Charter& charter, const data::Rows& rows,
                       const std::vector<size_t>& members) {
  const auto owners = feature_owners(charter);
  std::vector<size_t> kept;
  for (size_t j = 0; j < owners.size(); ++j)
    if (contains(members, owners[j])) kept.push_back(j);
  auto found = std::make_shared<data::Rows>(kept.size());
  std::vector<double> z(kept.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t k = 0; k < kept.size(); ++k) z[k] = rows.row(i)[kept[k]];
    found->add(z, rows.label(i));
  }
  return found;
}

namespace {

/// Without a dealer: what cells tell of every column.
SharedRows as_cells(const Charter& charter, const data::Rows& rows) {
  const int bits = learn::cell_bits(charter.schema);
  const learn::CellColumns cells(charter.schema, bits, std::nullopt);
  const data::AnyRows all(std::shared_ptr<const data::Rows>(std::shared_ptr<void>(), &rows));
  const learn::IntegerRows integers = std::move(cells.integers(cells.leaves(all)).rows);
  auto found = std::make_shared<data::Rows>(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> z(rows.columns());
    for (size_t k = 0; k < integers.at(i).size(); ++k)
      z[integers.at(i)[k]] = std::ldexp(static_cast<double>(integers.values(i)[k]), -bits);
    found->add(z, rows.label(i));
  }
  return found;
}

}  // namespace

SharedRows shortened_parts(const Charter& charter, const data::Rows& rows) {
  if (charter.protocol.without_dealer()) return as_cells(charter, rows);
  const auto owners = feature_owners(charter);
  auto found = std::make_shared<data::Rows>(rows.columns());
  std::vector<double> z(rows.columns());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row(i);
    for (size_t m = 0; m < charter.owners.size(); ++m) {
      std::vector<double> part;
      for (size_t j = 0; j < owners.size(); ++j)
        if (owners[j] == m) part.push_back(row[j]);
      const double by = learn::shrink_factor(part, charter.owners[m].max_row_norm);
      for (size_t j = 0; j < owners.size(); ++j)
        if (owners[j] == m) z[j] = by * row[j];
    }
    found->add(z, rows.label(i));
  }
  return found;
}

SharedRows as_trained(const charter::Charter& charter, const SharedRows& rows) {
  if (charter.columns_apart()) return shortened_parts(charter, *rows);
  const auto norm = plan::shrunk_to(charter);
  return norm ? std::get<SharedRows>(learn::shrunk(data::AnyRows(rows), *norm)) : rows;
}

std::vector<SharedRows> as_trained(const charter::Charter& charter,
                                   const std::vector<SharedRows>& many) {
  std::vector<SharedRows> found;
  for (const SharedRows& rows : many) found.push_back(as_trained(charter, rows));
  return found;
}

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Matrix matrix(const std::vector<double>& values, size_t p) {
  const auto n = static_cast<Eigen::Index>(p);
  return Eigen::Map<const Matrix>(values.data(), n, n);
}

/// G, without the square of the mean gradient, which is l2 theta at the optimum.
Matrix gradient_squares(const PilotStatistics& statistics) {
  const size_t p = statistics.dimension();
  std::vector<double> squares;
  learn::each_gradient(
      statistics.loss, *statistics.rows, statistics.optimum.theta, learn::ClipIn::kNone, 0,
      [&](std::span<const double>, double slope) { squares.push_back(slope * slope); });
  learn::ProductSum sum(p, statistics.rows->stride());
  sum.add(statistics.rows->values(), squares.data(), statistics.rows->size());
  sum.flush();
  const auto n = static_cast<Eigen::Index>(p);
  Matrix result(n, n);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      result(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          sum.at(i, j) / statistics.count();
  const auto mean = statistics.moments
                        ? statistics.moments->gradient(statistics.optimum.theta)
                        : learn::mean_gradient(statistics.loss, *statistics.rows,
                                               statistics.optimum.theta, learn::ClipIn::kNone, 0);
  const Eigen::Map<const Eigen::VectorXd> m(mean.data(), n);
  return result - m * m.transpose();
}

/// Directions in which the Hessian is singular are left out: the loss does not change along them.
void spread_from(PilotStatistics& statistics) {
  const size_t p = statistics.dimension();
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(matrix(statistics.hessian, p));
  statistics.smallest_curvature = solver.eigenvalues().minCoeff();
  statistics.largest_curvature = solver.eigenvalues().maxCoeff();
  Eigen::VectorXd inverse = solver.eigenvalues();
  for (double& h : inverse) h = h > 1e-10 * statistics.largest_curvature ? 1 / h : 0;
  const Matrix inverted =
      solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose();
  const Matrix gradients = gradient_squares(statistics);
  const Matrix spread = inverted * gradients * inverted;
  statistics.spread.assign(spread.data(), spread.data() + spread.size());
  statistics.sampling = inverted.cwiseProduct(gradients).sum() / 2;
}

double loss_deviation(const PilotStatistics& statistics) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < statistics.rows->size(); ++i) {
    const auto z = statistics.rows->row(i);
    double score = 0;
    for (size_t j = 0; j < z.size(); ++j) score += z[j] * statistics.optimum.theta[j];
    const double value =
        std::visit([&](const auto& loss) { return loss.value(score, statistics.rows->label(i)); },
                   statistics.loss);
    sum += value, squares += value * value;
  }
  const double n = statistics.count();
  return std::sqrt(std::fmax(squares / n - sum / n * (sum / n), 0));
}

/// The second moments of the rows give optimum and Hessian of the squared loss in one pass.
void optimum_of_squares(PilotStatistics& statistics, int threads) {
  const size_t p = statistics.rows->columns();
  auto moments = std::make_shared<learn::Moments>(p);
  moments->add(*statistics.rows, threads);
  statistics.optimum = learn::squared_optimum(*moments, statistics.l2, statistics.box);
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      statistics.hessian.push_back(2 * moments->product(i, j) + (i == j ? statistics.l2 : 0));
  statistics.moments = std::move(moments);
}

void optimum_of_rows(PilotStatistics& statistics, int threads) {
  learn::Fitness fitness(statistics.loss, statistics.rows->columns(), statistics.l2, threads);
  fitness.add(*statistics.rows);
  statistics.optimum = fitness.minimum(statistics.box);
  statistics.hessian =
      learn::smoothed_hessian(statistics.loss, *statistics.rows, statistics.optimum.theta,
                              learn::ClipIn::kNone, 0, statistics.l2);
}

}  // namespace

PilotStatistics statistics_of(const charter::Model& model, std::shared_ptr<const data::Rows> rows,
                              int threads) {
  return statistics_of(charter::loss_of(model), model.l2, model.box, std::move(rows), threads);
}

PilotStatistics statistics_of(const charter::Charter& charter,
                              std::shared_ptr<const data::Rows> rows, int threads) {
  PilotStatistics statistics = statistics_of(charter.model, std::move(rows), threads);
  statistics.bias = charter.schema.bias_at();
  return statistics;
}

PilotStatistics statistics_of(const learn::Losses& loss, double l2, double box,
                              std::shared_ptr<const data::Rows> rows, int threads) {
  PilotStatistics statistics{.rows = std::move(rows), .loss = loss, .l2 = l2, .box = box};
  if (std::holds_alternative<learn::Squared>(statistics.loss))
    optimum_of_squares(statistics, threads);
  else
    optimum_of_rows(statistics, threads);
  each_in_parallel(threads, 2, [&](size_t k) {
    if (k == 0) spread_from(statistics);
    if (k == 1) statistics.loss_deviation = loss_deviation(statistics);
  });
  return statistics;
}

double squares_at(const PilotStatistics& statistics, const OutputDistribution& distribution) {
  const size_t p = statistics.dimension();
  double spread = 0;
  for (size_t i = 0; i < p; ++i)
    for (size_t j = 0; j < p; ++j)
      spread += statistics.moments->product(i, j) * distribution.covariance[i * p + j];
  return statistics.moments->value(distribution.mean) + spread;
}

double fitness_at(const PilotStatistics& statistics, const OutputDistribution& distribution) {
  const size_t p = statistics.dimension();
  double squares = 0;
  for (size_t j = 0; j < p; ++j)
    squares += distribution.mean[j] * distribution.mean[j] + distribution.covariance[j * (p + 1)];
  return squares_at(statistics, distribution) + statistics.l2 / 2 * squares;
}

std::shared_ptr<const data::Rows> part_of(const data::Rows& rows, size_t group, size_t groups) {
  auto part = std::make_shared<data::Rows>(rows.columns());
  for (size_t i = group; i < rows.size(); i += groups) part->add(rows.row(i), rows.label(i));
  return part;
}

double quantile(std::vector<double> values, double share) {
  check(!values.empty());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  const double next = below + 1 < values.size() ? *std::min_element(at + 1, values.end()) : *at;
  return values[below] + (place - static_cast<double>(below)) * (next - values[below]);
}

}  // namespace parley::forecast
