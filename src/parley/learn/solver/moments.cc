#include "parley/learn/solver/moments.h"

#include <algorithm>

#include "parley/base/memory/parallel.h"
#include "parley/base/result.h"
#include "parley/learn/solver/products.h"

namespace parley::learn {
namespace {

constexpr size_t kMomentPieces = 16,
                 kChunk = 256,           // A chunk stays in the cache for its second reading.
                 kRowsPerThread = 4096;  // Fewer are summed before a thread has started.

struct Sums {
  ProductSum products;
  std::vector<double> labelled;
  double label_square = 0;

  Sums(size_t columns, size_t stride) : products(columns, stride), labelled(stride) {}

  void add(const data::Rows& rows, size_t begin, size_t end) {
    for (size_t first = begin; first < end; first += kChunk) {
      const size_t count = std::min(kChunk, end - first);
      const double* z = rows.values() + first * rows.stride();
      const double* y = rows.labels() + first;
      products.add(z, count);
      add_combination(z, y, count, rows.stride(), labelled.data());
      double squares = 0;
      for (size_t i = 0; i < count; ++i) squares += y[i] * y[i];
      label_square += squares;
    }
  }

  void add(const data::SparseRows& rows, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto at = rows.row_indices(i);
      const double *values = rows.row_values(i).data(), y = rows.label(i);
      products.add(at, values, 1);
      for (size_t k = 0; k < at.size(); ++k) labelled[at[k]] += y * values[k];
      label_square += y * y;
    }
  }
};

}  // namespace

Moments::Moments(size_t columns)
    : columns_(columns), products_(columns * columns), labelled_(columns) {}

template <class AnyRows>
void Moments::add_any(const AnyRows& rows, int threads) {
  check(rows.columns() == columns_);
  const size_t stride = data::Rows(columns_).stride();
  const size_t memory = (size_t{1} << 28) / (columns_ * stride * sizeof(double));
  const size_t pieces = std::clamp<size_t>(memory, 1, kMomentPieces);
  std::vector<Sums> parts(pieces, Sums(columns_, stride));
  const auto useful = static_cast<int>(rows.size() / kRowsPerThread) + 1;
  in_parallel(std::min(threads, useful), pieces, [&](size_t, size_t first, size_t last) {
    for (size_t k = first; k < last; ++k) {
      const size_t end = rows.size() * (k + 1) / pieces;
      // Whole chunks, so that the sums are those of one window.
      const size_t window = (rows.window() / kChunk + 1) * kChunk;
      for (size_t begin = rows.size() * k / pieces; begin < end; begin += window) {
        parts[k].add(rows, begin, std::min(end, begin + window));
        rows.release(begin, std::min(end, begin + window));
      }
    }
  });
  for (const Sums& part : parts) {  // In their order, whoever made them.
    for (size_t i = 0; i < columns_; ++i) {
      labelled_[i] += part.labelled[i];
      for (size_t j = 0; j < columns_; ++j) products_[i * columns_ + j] += part.products.at(i, j);
    }
    label_square_ += part.label_square;
  }
  rows_ += rows.size();
}

void Moments::add(const data::Rows& rows, int threads) { add_any(rows, threads); }
void Moments::add(const data::SparseRows& rows, int threads) { add_any(rows, threads); }

void Moments::add(const Moments& others) {
  check(others.columns_ == columns_);
  for (size_t k = 0; k < products_.size(); ++k) products_[k] += others.products_[k];
  for (size_t j = 0; j < columns_; ++j) labelled_[j] += others.labelled_[j];
  label_square_ += others.label_square_;
  rows_ += others.rows_;
}

double Moments::value(std::span<const double> theta) const {
  double value = label_square();
  for (size_t i = 0; i < columns_; ++i) {
    double row = -2 * with_label(i);
    for (size_t j = 0; j < columns_; ++j) row += product(i, j) * theta[j];
    value += theta[i] * row;
  }
  return value;
}

std::vector<double> Moments::gradient(std::span<const double> theta) const {
  std::vector<double> result(columns_);
  for (size_t i = 0; i < columns_; ++i) {
    double row = -with_label(i);
    for (size_t j = 0; j < columns_; ++j) row += product(i, j) * theta[j];
    result[i] = 2 * row;
  }
  return result;
}

}  // namespace parley::learn
