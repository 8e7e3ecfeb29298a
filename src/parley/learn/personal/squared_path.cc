#include "parley/base/math/eigen.h"
#include "parley/learn/personal/paths.h"

namespace parley::learn {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Eigen::Index;

/// G and M made diagonal together: basis' G basis = diag(values), basis' M basis = I.
struct CommonBasis {
  Vector values;
  Matrix basis;           // L^-T U
  Matrix to_coordinates;  // U' L', the inverse of the basis
};

CommonBasis common_basis(const Matrix& products, const std::vector<double>& metric) {
  const Index p = products.rows();
  const Eigen::LLT<Matrix> factor(Matrix(Eigen::Map<const Matrix>(metric.data(), p, p)));
  check(factor.info() == Eigen::Success);
  const Matrix lower = factor.matrixL();
  Matrix inner = factor.matrixL().solve(products);                   // L^-1 G
  inner = factor.matrixL().solve(Matrix(inner.transpose())).eval();  // L^-1 G L^-T
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(inner);
  const Matrix vectors = solver.eigenvectors();
  // G has no negative eigenvalue; rounding may give it one.
  return {.values = solver.eigenvalues().cwiseMax(0.0),
          .basis = factor.matrixU().solve(vectors),
          .to_coordinates = (lower * vectors).transpose()};
}

}  // namespace

std::vector<std::vector<double>> squared_models(const Moments& moments, const Pull& pull) {
  const auto p = static_cast<Index>(moments.columns());
  Matrix products(p, p);
  Vector labelled(p);
  for (Index i = 0; i < p; ++i) {
    labelled(i) = moments.with_label(size_t(i));
    for (Index j = 0; j < p; ++j) products(i, j) = moments.product(size_t(i), size_t(j));
  }
  const CommonBasis common = common_basis(products, pull.metric);
  const Vector target = 2 * (common.basis.transpose() * labelled);
  std::vector<std::vector<double>> models;
  for (const std::vector<double>& centre : pull.centres) {
    const Vector from = common.to_coordinates * Eigen::Map<const Vector>(centre.data(), p);
    for (double nu : pull.strengths) {
      const Vector at =
          (target + nu * from).cwiseQuotient(Vector(2 * common.values + Vector::Constant(p, nu)));
      const Vector theta = common.basis * at;
      models.emplace_back(theta.begin(), theta.end());
    }
  }
  return models;
}

}  // namespace parley::learn
