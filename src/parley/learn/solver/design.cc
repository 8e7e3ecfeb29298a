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

/// The share of entries that are not zero, judged by up to 1000 rows.
double density(const Rows& rows) {
  const size_t step = rows.size() / 1000 + 1;
  size_t seen = 0, nonzeros = 0;
  for (size_t i = 0; i < rows.size(); i += step)
    for (double value : rows.row(i)) ++seen, nonzeros += value != 0;
  return seen == 0 ? 1 : static_cast<double>(nonzeros) / static_cast<double>(seen);
}

}  // namespace

Design::Design(size_t columns, int threads)
    : columns_(columns), stride_(Rows(columns).stride()), threads_(threads) {}

void Design::add_pieces(size_t rows, const double* labels) {
  const size_t base = labels_.size();
  const size_t count = std::clamp<size_t>(rows / kPieceRows, 1, kPieces);
  labels_.insert(labels_.end(), labels, labels + rows);
  for (size_t k = 0; k < count; ++k) {
    const size_t begin = rows * k / count, end = rows * (k + 1) / count;
    pieces_.push_back({.begin = base + begin, .end = base + end, .first = begin});
  }
}

void Design::add(const Rows& rows) {
  check(rows.columns() == columns_);
  const size_t before = pieces_.size();
  add_pieces(rows.size(), rows.labels());
  for (size_t k = before; k < pieces_.size(); ++k)
    pieces_[k].dense = rows.values() + pieces_[k].first * stride_;
  if (density(rows) >= kSparse) return;
  in_parallel(threads_, pieces_.size() - before, [&](size_t, size_t first, size_t last) {
    for (size_t k = first; k < last; ++k) compress(rows, pieces_[before + k]);
  });
}

void Design::add(const SparseRows& rows) {
  check(rows.columns() == columns_);
  const size_t before = pieces_.size();
  add_pieces(rows.size(), rows.labels());
  for (size_t k = before; k < pieces_.size(); ++k) pieces_[k].sparse = &rows;
}

void Design::compress(const Rows& rows, Piece& piece) const {
  auto sparse = std::make_shared<SparseRows>(columns_);
  std::vector<uint32_t> at(columns_);
  std::vector<double> values(columns_);
  for (size_t i = piece.first; i < piece.first + (piece.end - piece.begin); ++i) {
    const auto row = rows.row(i);
    size_t found = 0;
    for (size_t j = 0; j < columns_; ++j) {
      at[found] = static_cast<uint32_t>(j), values[found] = row[j];
      found += row[j] != 0;
    }
    sparse->add(std::span(at).first(found), std::span(values).first(found), rows.label(i));
  }
  piece.owned = std::move(sparse);
  piece.sparse = piece.owned.get();
  piece.dense = nullptr;
  piece.first = 0;
}

void Design::scores(std::span<const double> theta, std::span<double> out) const {
  std::vector<double> padded(theta.begin(), theta.end());
  padded.resize(stride_);
  each_piece(pieces_.size(), [&](size_t, const Piece& piece) {
    double* to = out.data() + piece.begin;
    const size_t count = piece.end - piece.begin;
    if (piece.dense) return dot_each(piece.dense, count, stride_, padded.data(), to);
    for (size_t i = 0; i < count; ++i) {
      const auto at = piece.sparse->row_indices(piece.first + i);
      const double* values = piece.sparse->row_values(piece.first + i).data();
      double score = 0;
      for (size_t k = 0; k < at.size(); ++k) score += padded[at[k]] * values[k];
      to[i] = score;
    }
  });
}

std::vector<double> Design::combination(std::span<const double> factors) const {
  std::vector<std::vector<double>> parts(pieces_.size(), std::vector<double>(stride_));
  each_piece(pieces_.size(), [&](size_t group, const Piece& piece) {
    double* out = parts[group].data();
    const double* s = factors.data() + piece.begin;
    const size_t count = piece.end - piece.begin;
    if (piece.dense) return add_combination(piece.dense, s, count, stride_, out);
    for (size_t i = 0; i < count; ++i) {
      const auto at = piece.sparse->row_indices(piece.first + i);
      const double* values = piece.sparse->row_values(piece.first + i).data();
      for (size_t k = 0; k < at.size(); ++k) out[at[k]] += s[i] * values[k];
    }
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
    const double* c = weights.data() + piece.begin;
    const size_t count = piece.end - piece.begin;
    if (piece.dense) return sums[group].add(piece.dense, c, count);
    for (size_t i = 0; i < count; ++i)
      if (c[i] != 0)
        sums[group].add(piece.sparse->row_indices(piece.first + i),
                        piece.sparse->row_values(piece.first + i).data(), c[i]);
  });
  for (size_t group = 1; group < groups; ++group) sums[0].add(sums[group]);
  std::vector<double> matrix(columns_ * columns_);
  for (size_t i = 0; i < columns_; ++i)
    for (size_t j = 0; j < columns_; ++j) matrix[i * columns_ + j] = sums[0].at(i, j);
  return matrix;
}

}  // namespace parley::learn
