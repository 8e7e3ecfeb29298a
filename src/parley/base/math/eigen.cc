#include "parley/base/math/eigen.h"

#include <Eigen/LU>
#include <Eigen/QR>

namespace parley {

RowMatrix product(const RowMatrix& left, const RowMatrix& right) { return left * right; }

RowMatrix inverse(const RowMatrix& matrix) { return matrix.inverse(); }

Eigen::VectorXd least_squares(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right) {
  return matrix.colPivHouseholderQr().solve(right);
}

}  // namespace parley

namespace Eigen {

template SelfAdjointEigenSolver<parley::RowMatrix>&
SelfAdjointEigenSolver<parley::RowMatrix>::compute(const EigenBase<parley::RowMatrix>&, int);
template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(
    const EigenBase<MatrixXd>&, int);
template LLT<parley::RowMatrix>& LLT<parley::RowMatrix>::compute(
    const EigenBase<parley::RowMatrix>&);
template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);

}  // namespace Eigen
