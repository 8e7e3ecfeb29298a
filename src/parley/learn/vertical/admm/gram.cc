#include "parley/learn/vertical/admm/gram.h"

#include <Eigen/Core>
#include <algorithm>

#include "parley/base/memory/parallel.h"

namespace parley::learn {
namespace {

using Eigen::Index, Eigen::MatrixXd;
using Matrix =
    Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0,
               Eigen::OuterStride<>>;

constexpr Index kStrip = 256;

Matrix map_of(const data::Rows& rows) {
  return {rows.values(), static_cast<Index>(rows.size()), static_cast<Index>(rows.columns()),
          Eigen::OuterStride<>(static_cast<Index>(rows.stride()))};
}

/// Lower triangle of left * left' in strips of rows; the long ones first, in turns, so that threads
/// have equal work.
template <class Left>
void fill(MatrixXd& into, const Left& left, int threads) {
  const Index size = into.rows();
  const auto strips = static_cast<size_t>((size + kStrip - 1) / kStrip);
  in_parallel(threads, static_cast<size_t>(std::max(threads, 1)), [&](size_t, size_t k, size_t) {
    for (size_t s = k; s < strips; s += static_cast<size_t>(std::max(threads, 1))) {
      const Index begin = static_cast<Index>(s) * kStrip, count = std::min(kStrip, size - begin);
      into.block(begin, 0, count, begin + count).noalias() =
          left.middleRows(begin, count) * left.topRows(begin + count).transpose();
    }
  });
}

MatrixXd columns_product(const data::Rows& rows, int threads) {
  MatrixXd gram =
      MatrixXd::Zero(static_cast<Index>(rows.columns()), static_cast<Index>(rows.columns()));
  fill(gram, map_of(rows).transpose(), threads);
  return gram;
}

MatrixXd columns_product(const data::SparseRows& rows, int) {
  MatrixXd gram =
      MatrixXd::Zero(static_cast<Index>(rows.columns()), static_cast<Index>(rows.columns()));
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = rows.row_indices(i);
    const auto values = rows.row_values(i);
    for (size_t a = 0; a < at.size(); ++a)  // Columns go up in a row, so b <= a is below.
      for (size_t b = 0; b <= a; ++b) gram(at[a], at[b]) += values[a] * values[b];
  }
  return gram;
}

MatrixXd rows_product(const data::Rows& rows, int threads) {
  MatrixXd gram = MatrixXd::Zero(static_cast<Index>(rows.size()), static_cast<Index>(rows.size()));
  fill(gram, map_of(rows), threads);
  return gram;
}

}  // namespace

MatrixXd gram_of_columns(const data::AnyRows& rows, double diagonal, int threads) {
  MatrixXd gram =
      std::visit([&](const auto& kind) { return columns_product(*kind, threads); }, rows);
  gram.diagonal().array() += diagonal;
  return gram;
}

MatrixXd gram_of_rows(const data::AnyRows& rows, double diagonal, int threads) {
  const auto* sparse = std::get_if<std::shared_ptr<const data::SparseRows>>(&rows);
  // More columns than records: small enough to be dense.
  MatrixXd gram = sparse ? rows_product((*sparse)->dense(), threads)
                         : rows_product(*std::get<0>(rows), threads);
  gram.diagonal().array() += diagonal;
  return gram;
}

}  // namespace parley::learn
