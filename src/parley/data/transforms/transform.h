// Applies a bundle to one record: a pure function with one fixed order of operations, so that every
// owner and every prediction gets the same bits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/data/transforms/bundle.h"
#include "parley/data/trees/leaves.h"

namespace parley::data {

/// The numbers that a bundle's Fourier part stands for. The matrix lies input by input.
struct FourierNumbers {
  std::vector<double> matrix{}, offset{};  // in turns
  double amplitude = 1;
};
FourierNumbers fourier_numbers(const Bundle::Fourier& fourier, size_t inputs);

/// Has room for its intermediate numbers inside: one per thread.
class Transform {
 public:
  explicit Transform(const Bundle& bundle);

  size_t inputs() const { return inputs_; }
  size_t features() const;

  /// From encoded columns to features. Nothing fails on what a record contains: what is no number
  /// stays so, and becomes the zero record where rows are stored.
  void apply(std::span<const double> encoded, std::span<double> z);

 private:
  /// out = offset + matrix x, each sum from left to right; the matrix lies input by input, so that
  /// the sums advance side by side.
  struct Linear {
    std::vector<double> matrix{};
    std::vector<double> offset{};
    void apply(std::span<const double> x, std::span<double> out) const;
  };

  size_t column_features() const;  // without leaves
  void apply_to_columns(std::span<const double> encoded, std::span<double> z);

  size_t inputs_;
  std::vector<uint64_t> select_;
  std::vector<double> mean_, scale_;  // of the kept columns
  double cut_;
  Linear rotate_{}, fourier_{};  // empty where the bundle has none
  double amplitude_ = 1;
  std::vector<double> standard_, rotated_;
  std::optional<Leaves> leaves_{};
  double leaf_ = 0;
};

}  // namespace parley::data
