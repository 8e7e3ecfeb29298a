// The norm in the metric of the inverse Hessian: |v|^2 = v' H^-1 v. For a mean gradient v it is
// twice the decrease of the loss in a Newton step, so that gradients of different columns can be
// added (theory (W6): there W' v with W W' = H^-1).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "parley/data/any_rows.h"
#include "parley/learn/loss.h"

namespace parley::learn {

class Whitened {
 public:
  /// Directions in which H has no curvature are left out: no model differs along them. W is known
  /// up to a rotation; with a `bias`, the column that is always 1, it is turned so that the first
  /// coordinate of W' v is that of the intercept, v_bias / sqrt(H_bias,bias): of two models it
  /// measures how far their mean scores are apart, and the others how far their scores differ from
  /// record to record.
  Whitened(std::span<const double> hessian, size_t columns, std::optional<size_t> bias = {});

  size_t columns() const { return columns_; }
  double length(std::span<const double> vector) const;
  /// Of every row z. A record's gradient, slope times z, is |slope| times as long.
  std::vector<double> lengths(const data::Rows& rows) const;
  /// tr(H^-1 M).
  double trace(std::span<const double> matrix) const;

  /// Every record z as W' z, its label as it is: a record's gradient there is W' times that here.
  /// A pure function of the record, wherever it lies, as the kernel's (kernel/record_map.h).
  data::AnyRows rows(const data::AnyRows& rows) const;
  /// The coordinates in which theta has the same scores there: point . (W' z) = theta . z, as far
  /// as z lies in directions with curvature.
  std::vector<double> point(std::span<const double> theta) const;

 private:
  size_t columns_;
  std::vector<double> root_{};  // W, row-major
  std::vector<double> back_{};  // H W, row-major: theta' H W is the point
};

/// Scores as if each row had been left out of the fit with this Hessian: u + h f'/(1 - h f''),
/// h = z' H^-1 z / n; the denominator is at least 0.05 (theory (W8)).
std::vector<double> left_out_scores(const Losses& loss, const data::Rows& rows,
                                    std::span<const double> hessian, std::vector<double> scores);

/// theta . z of every row.
std::vector<double> scores_of(const data::Rows& rows, std::span<const double> theta);

/// d loss / d score of every row.
std::vector<double> slopes_of(const Losses& loss, const data::Rows& rows,
                              std::span<const double> scores);

/// The mean of loss over rows with these scores.
double mean_loss_of(const Losses& loss, const data::Rows& rows, std::span<const double> scores);

/// (1/n) sum of factor_i z_i.
std::vector<double> mean_of(const data::Rows& rows, std::span<const double> factors);

}  // namespace parley::learn
