// Second moments of rows and labels: all that squared loss needs, however many rows there are.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "parley/data/rows.h"
#include "parley/data/sparse_rows.h"

namespace parley::learn {

class Moments {
 public:
  explicit Moments(size_t columns);
  /// From sums over that many rows: of z z' (row by row), of y z, and of y^2.
  Moments(size_t rows, std::vector<double> products, std::vector<double> labelled,
          double label_square)
      : columns_(labelled.size()),
        rows_(rows),
        products_(std::move(products)),
        labelled_(std::move(labelled)),
        label_square_(label_square) {}

  /// The same on any number of threads.
  void add(const data::Rows& rows, int threads);
  void add(const data::SparseRows& rows, int threads);
  void add(const Moments& others);

  size_t rows() const { return rows_; }
  size_t columns() const { return columns_; }
  double product(size_t i, size_t j) const { return mean(products_[i * columns_ + j]); }
  double with_label(size_t j) const { return mean(labelled_[j]); }
  double label_square() const { return mean(label_square_); }

  /// Mean of (theta.z - y)^2, and its gradient.
  double value(std::span<const double> theta) const;
  std::vector<double> gradient(std::span<const double> theta) const;

 private:
  template <class AnyRows>
  void add_any(const AnyRows& rows, int threads);
  double mean(double sum) const { return sum / static_cast<double>(rows_); }

  size_t columns_, rows_ = 0;
  std::vector<double> products_, labelled_;  // sums of z z' and of y z
  double label_square_ = 0;
};

}  // namespace parley::learn
