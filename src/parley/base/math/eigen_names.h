// Names of Eigen's matrices, for headers: only who computes with them includes Eigen.
#pragma once

namespace Eigen {
template <typename Scalar, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
class Matrix;
template <typename Scalar, int Rows, int Columns, int Options, int MaxRows, int MaxColumns>
class Array;
}  // namespace Eigen

namespace parley {

using RowMatrix = Eigen::Matrix<double, -1, -1, 1, -1, -1>;     // row after row
using ColumnMatrix = Eigen::Matrix<double, -1, -1, 0, -1, -1>;  // Eigen::MatrixXd
using ColumnVector = Eigen::Matrix<double, -1, 1, 0, -1, 1>;    // Eigen::VectorXd
using FloatArray = Eigen::Array<float, -1, 1, 0, -1, 1>;        // Eigen::ArrayXf

}  // namespace parley
