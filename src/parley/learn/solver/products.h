// Sums over rows, blocked for registers and caches. Solvers spend most of their time here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parley::learn {

/// G = sum of c_i z_i z_i' over dense rows: the lower triangle is filled at the end by symmetry.
class ProductSum {
 public:
  /// Rows lie `stride` doubles apart, a multiple of four, zeros beyond `columns`.
  ProductSum(size_t columns, size_t stride);

  void add(const double* rows, size_t count);  // every c_i = 1
  /// Leaves out zero weights. Rows are gathered into blocks: flush() after the last.
  void add(const double* rows, const double* weights, size_t count);
  void flush();
  /// One sparse row.
  void add(std::span<const uint32_t> at, const double* values, double weight);
  void add(const ProductSum& other);

  double at(size_t i, size_t j) const {
    return i <= j ? sum_[i * stride_ + j] : sum_[j * stride_ + i];
  }

 private:
  void add_tiles(const double* scaled, const double* rows, size_t count);
  void gather(const double* row, double weight);

  size_t columns_, stride_;
  std::vector<double> sum_;              // the upper triangle, in tiles of 4 columns
  std::vector<double> rows_, scaled_{};  // a block of gathered rows
  size_t gathered_ = 0;
};

/// out += sum of s_i z_i; rows with s_i = 0 are not read.
void add_combination(const double* rows, const double* factors, size_t count, size_t stride,
                     double* out);

/// out_i = z_i . theta; theta has `stride` entries.
void dot_each(const double* rows, size_t count, size_t stride, const double* theta, double* out);

}  // namespace parley::learn
