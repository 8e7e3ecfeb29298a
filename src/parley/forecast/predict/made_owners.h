// Owners made from public rows: each sees all of them, but counts some more and some less.
#pragma once

#include <memory>
#include <span>

#include "parley/base/math/eigen_names.h"
#include "parley/forecast/pilot_statistics.h"

namespace parley::forecast {

/// How the owners to be made differ.
struct MadeFrom {
  std::span<const double> weights{};  // of the owners, adding up to 1
  std::span<const double> rows{};     // of each of them
  /// tau^2, of f itself: what the best model of an owner's rows would miss on all rows if it had
  /// endless ones; as one Newton step sees it. Labels are tilted until it is reached, or, where
  /// even sorted ones would not do, the records' gradients.
  double differ = 0;
  size_t rows_most = 2000;  // of the public rows that are looked at
};

/// Shares are rows x owners, each column with mean 1: how much an owner counts a row.
struct MadeOwners {
  std::shared_ptr<const data::Rows> rows{};
  std::shared_ptr<const ColumnMatrix> shares{};
  std::shared_ptr<const ColumnVector> weights{};
  double differ = 0;  // what was reached of it

  /// How much all of them together count a row.
  ColumnVector pooled() const;
};

/// At most 12, of more owners every so many. Finite rows are gamma weights on the public ones: the
/// mean of n rows has 1/n of one record's covariance. Always the same.
MadeOwners made_owners(const PilotStatistics& statistics, const MadeFrom& from);

/// Means over the owners, by their weights, of what tells them from all together, at a model.
struct Dissimilarity {
  double gradients = 0;  // zeta^2: |grad J_i - grad J|^2
  double optima = 0;     // Gamma: J_i(theta) - min J_i, as one Newton step sees it
};
Dissimilarity dissimilarity(const PilotStatistics& statistics, const MadeOwners& owners,
                            std::span<const double> theta);

}  // namespace parley::forecast
