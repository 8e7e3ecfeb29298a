#include "parley/learn/solver/design.h"

#include <algorithm>
#include <utility>

#include "parley/base/result.h"
#include "parley/learn/solver/products.h"

namespace parley::learn {
namespace {

constexpr size_t kPieces = 16, kPieceRows = 1024;
constexpr double kSparse = 0.3;  // Compressed rows are faster below this share of non-zeros.
constexpr size_t kSumsBytesMax = size_t{1} << 28;

/// The share of entries that are not zero, judged by up to 1024 rows at 16 places: every place that
/// is touched in a file brings its neighbours into memory.
double density(const data::Rows& rows) {
  constexpr size_t kPlaces = 16, kRowsEach = 64;
  size_t seen = 0, nonzeros = 0;
  for (size_t place = 0; place < kPlaces; ++place) {
    const size_t begin = rows.size() * place / kPlaces, next = rows.size() * (place + 1) / kPlaces;
    data::by_window(rows, begin, std::min(next, begin + kRowsEach), [&](size_t from, size_t to) {
      for (size_t i = from; i < to; ++i)
        for (double value : rows.row(i)) ++seen, nonzeros += value != 0;
    });
  }
  return seen == 0 ? 1 : static_cast<double>(nonzeros) / static_cast<double>(seen);
}

void score(const data::Rows& rows, size_t begin, size_t end, const double* theta, double* out) {
  dot_each(rows.values() + begin * rows.stride(), end - begin, rows.stride(), theta, out);
}

void score(const data::SparseRows& rows, size_t begin, size_t end, const double* theta,
           double* out) {
  for (size_t i = begin; i < end; ++i) {
    const auto at = rows.row_indices(i);
    const double* values = rows.row_values(i).data();
    double sum = 0;
    for (size_t k = 0; k < at.size(); ++k) sum += theta[at[k]] * values[k];
    out[i - begin] = sum;
  }
}

void combine(const data::Rows& rows, size_t begin, size_t end, const double* factors, double* out) {
  add_combination(rows.values() + begin * rows.stride(), factors, end - begin, rows.stride(), out);
}

void combine(const data::SparseRows& rows, size_t begin, size_t end, const double* factors,
             double* out) {
  for (size_t i = begin; i < end; ++i) {
    const auto at = rows.row_indices(i);
    const double* values = rows.row_values(i).data();
    for (size_t k = 0; k < at.size(); ++k) out[at[k]] += factors[i - begin] * values[k];
  }
}

void multiply(const data::Rows& rows, size_t begin, size_t end, const double* weights,
              ProductSum& sum) {
  sum.add(rows.values() + begin * rows.stride(), weights, end - begin);
}

void multiply(const data::SparseRows& rows, size_t begin, size_t end, const double* weights,
              ProductSum& sum) {
  for (size_t i = begin; i < end; ++i)
    if (weights[i - begin] != 0)
      sum.add(rows.row_indices(i), rows.row_values(i).data(), weights[i - begin]);
}

}  // namespace

Design::Design(size_t columns, int threads)
    : columns_(columns), stride_(data::Rows(columns).stride()), threads_(threads) {}

void Design::add_pieces(size_t rows, const double* labels) {
  const size_t base = labels_.size();
  const size_t count = std::clamp<size_t>(rows / kPieceRows, 1, kPieces);
  labels_.insert(labels_.end(), labels, labels + rows);
  for (size_t k = 0; k < count; ++k) {
    const size_t begin = rows * k / count, end = rows * (k + 1) / count;
    pieces_.push_back({.begin = base + begin, .end = base + end, .first = begin});
  }
}

void Design::add(const data::Rows& rows) {
  check(rows.columns() == columns_);
  const size_t before = pieces_.size();
  add_pieces(rows.size(), rows.labels());
  for (size_t k = before; k < pieces_.size(); ++k) pieces_[k].rows = &rows;
  if (density(rows) >= kSparse) return;
  in_parallel(threads_, pieces_.size() - before, [&](size_t, size_t first, size_t last) {
    for (size_t k = first; k < last; ++k) compress(rows, pieces_[before + k]);
  });
}

void Design::add(const data::SparseRows& rows) {
  check(rows.columns() == columns_);
  const size_t before = pieces_.size();
  add_pieces(rows.size(), rows.labels());
  for (size_t k = before; k < pieces_.size(); ++k) pieces_[k].rows = &rows;
}

void Design::compress(const data::Rows& rows, Piece& piece) const {
  auto sparse = std::make_shared<data::SparseRows>(columns_);
  std::vector<uint32_t> at(columns_);
  std::vector<double> values(columns_);
  const auto add = [&](std::span<const double> row, double label) {
    size_t found = 0;
    for (size_t j = 0; j < columns_; ++j) {
      at[found] = static_cast<uint32_t>(j), values[found] = row[j];
      found += row[j] != 0;
    }
    sparse->add(std::span(at).first(found), std::span(values).first(found), label);
  };
  data::by_window(rows, piece.first, piece.first + (piece.end - piece.begin),
                  [&](size_t from, size_t to) {
                    for (size_t i = from; i < to; ++i) add(rows.row(i), rows.label(i));
                  });
  piece.owned = std::move(sparse);
  piece.rows = piece.owned.get();
  piece.first = 0;
}

void Design::scores(std::span<const double> theta, std::span<double> out) const {
  std::vector<double> padded(theta.begin(), theta.end());
  padded.resize(stride_);
  each_piece(pieces_.size(), [&](size_t, const Piece& piece) {
    each_window(piece, [&](const auto& rows, size_t begin, size_t end, size_t at) {
      score(rows, begin, end, padded.data(), &out[at]);
    });
  });
}

std::vector<double> Design::combination(std::span<const double> factors) const {
  std::vector<std::vector<double>> parts(pieces_.size(), std::vector<double>(stride_));
  each_piece(pieces_.size(), [&](size_t group, const Piece& piece) {
    each_window(piece, [&](const auto& rows, size_t begin, size_t end, size_t at) {
      combine(rows, begin, end, &factors[at], parts[group].data());
    });
  });
  std::vector<double> total(columns_);
  for (const auto& part : parts)
    for (size_t j = 0; j < columns_; ++j) total[j] += part[j];
  return total;
}

std::vector<double> Design::products(std::span<const double> weights) const {
  const size_t bytes = columns_ * stride_ * sizeof(double);
  const size_t groups = std::clamp<size_t>(kSumsBytesMax / bytes, 1, kPieces);
  std::vector<ProductSum> sums(groups, ProductSum(columns_, stride_));
  each_piece(groups, [&](size_t group, const Piece& piece) {
    each_window(piece, [&](const auto& rows, size_t begin, size_t end, size_t at) {
      multiply(rows, begin, end, &weights[at], sums[group]);
    });
    sums[group].flush();
  });
  for (size_t group = 1; group < groups; ++group) sums[0].add(sums[group]);
  std::vector<double> matrix(columns_ * columns_);
  for (size_t i = 0; i < columns_; ++i)
    for (size_t j = 0; j < columns_; ++j) matrix[i * columns_ + j] = sums[0].at(i, j);
  return matrix;
}

}  // namespace parley::learn
