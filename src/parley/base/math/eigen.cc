#include "parley/base/math/eigen.h"

namespace Eigen {

template SelfAdjointEigenSolver<parley::RowMatrix>&
SelfAdjointEigenSolver<parley::RowMatrix>::compute(const EigenBase<parley::RowMatrix>&, int);
template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(
    const EigenBase<MatrixXd>&, int);
template LLT<parley::RowMatrix>& LLT<parley::RowMatrix>::compute(
    const EigenBase<parley::RowMatrix>&);
template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);

}  // namespace Eigen
