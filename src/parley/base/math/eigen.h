// Decompositions and products of Eigen, compiled once (eigen.cc) and not in every folder that uses
// one: each takes seconds. Give decompositions a Matrix or a MatrixXd, not an expression, which
// would be compiled again.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace parley {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMatrix product(const RowMatrix& left, const RowMatrix& right);
RowMatrix inverse(const RowMatrix& matrix);
/// The x for which matrix x is closest to `right`.
Eigen::VectorXd least_squares(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right);

}  // namespace parley

namespace Eigen {

extern template SelfAdjointEigenSolver<parley::RowMatrix>&
SelfAdjointEigenSolver<parley::RowMatrix>::compute(const EigenBase<parley::RowMatrix>&, int);
extern template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(
    const EigenBase<MatrixXd>&, int);
extern template LLT<parley::RowMatrix>& LLT<parley::RowMatrix>::compute(
    const EigenBase<parley::RowMatrix>&);
extern template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);

}  // namespace Eigen
