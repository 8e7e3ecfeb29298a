// The owners' records as Monte Carlo needs them: second moments where the loss is quadratic, else
// packed rows; the fitness of all of them together, and its optimum.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parley/learn/fitness.h"
#include "parley/learn/objective.h"
#include "parley/sim/monte_carlo/pass/packed.h"

namespace parley::sim::monte_carlo {

struct Model {
  learn::Losses loss{};
  double l2 = 0;
  double box = std::numeric_limits<double>::infinity();
  learn::ClipIn clip = learn::ClipIn::kNone;  // none: the papers' literal form
  double limit = 0;                           // of a record's gradient, in that norm
};

/// Scores and slopes of records are computed in single precision unless asked otherwise; sums over
/// more than a thousand rows, the learner's state and everything quadratic in double always.
class Population {
 public:
  Population(Model model, size_t columns, Precision precision = Precision::kSingle,
             int threads = 1);

  /// One more owner. With a loss other than squared, `rows` must outlive this.
  void add(const data::Rows& rows);
  /// Only where nothing else is needed: quadratic().
  void add(const learn::Moments& moments);

  const Model& model() const { return model_; }
  Precision precision() const { return precision_; }
  size_t columns() const { return columns_; }
  size_t owners() const { return moments_.empty() ? packed_.size() : moments_.size(); }
  double rows(size_t owner) const;
  /// n_i / n.
  std::vector<double> shares() const;
  /// Squared loss without a clip: a gradient costs p^2, whatever the number of rows.
  bool quadratic() const;

  const learn::Moments& moments(size_t owner) const { return moments_[owner]; }
  const Packed& packed(size_t owner) const { return packed_[owner]; }

  /// Of the unclipped fitness. The first call must not come from two threads at once.
  const learn::Optimum& optimum() const;
  /// f / f* - 1 of models that lie one after the other.
  std::vector<double> relative(std::span<const double> models) const;

 private:
  Model model_;
  size_t columns_;
  Precision precision_;
  int threads_;
  std::vector<learn::Moments> moments_{};  // by owner; empty unless the loss is squared
  std::vector<Packed> packed_{};           // by owner; empty if quadratic
  learn::Moments pooled_;
  learn::Fitness fitness_;  // of other losses
  mutable std::optional<learn::Optimum> optimum_{};
};

}  // namespace parley::sim::monte_carlo
