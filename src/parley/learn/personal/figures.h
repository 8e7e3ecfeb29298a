// The four figures that an owner decides by, on its own held-out rows and in its own metric:
//
//   alone         the best that it makes of its own rows: linear models and boosted trees, mixed
//   own + public  the same with the public rows, which cost nothing
//   joint         the model of the job
//   personal      all of these
//
// All but joint are mixtures by cross-validation on the owner's rows. Each figure adds candidates
// to those of the one before it, so that a gain comes from the added candidates and not from
// mixing.
//
// The benefit of a job is personal against own + public. Against alone the job would also be
// credited with the benefit of the public rows. All of it depends on the owner's records and stays
// with the owner; see personal.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parley/learn/metrics.h"
#include "parley/learn/personal/personal.h"

namespace parley::learn {

struct FiguresInput {
  PersonalInput own{};                        // rows to train on, and models from outside
  data::AnyRows held_out{};                   // rows to judge by, of the same columns
  std::shared_ptr<const data::Rows> pilot{};  // public rows; null: none
  Measure measure = Measure::kRmse;
  double scale = 1;  // target units of one unit of a label: RMSE is in the target's units
};

struct Figure {
  double value = 0, error = 0;  // of the metric, and its standard error
};

/// Of one model over another: positive is better, whatever the metric.
struct FigureGain {
  double value = 0, error = 0;  // paired: both models are judged on the same rows
};

/// By one metric.
struct FourFigures {
  Measure measure = Measure::kRmse;
  Figure alone{}, own_public{};
  std::optional<Figure> joint{};  // none before a job
  Figure personal{};
  Figure linear{};  // the mixture of the linear models alone, as a file holds it
  FigureGain over_alone{}, over_own_public{};  // of personal
};

/// Below so many rows of the smaller class DeLong's error of an AUC is itself too uncertain.
inline constexpr size_t kClassRows = 10;

struct OwnerFigures : FourFigures {
  size_t trained = 0, judged = 0;  // own rows
  size_t smaller_class = 0;        // of the rows judged by, for AUC; else all
  bool few() const { return smaller_class < kClassRows; }
  std::optional<FourFigures> log_loss{};  // beside AUC, where scores are log odds
  double alone_trees_weight = 0;          // of boosted trees in alone
  double trees_weight = 0;                // and in personal
  double joint_weight = 0;                // of models pulled to the joint one
};

/// An error as personal_models() has, or if the held-out rows do not define the metric: none, or
/// for AUC only one class. Boosted trees take part for losses and rows that they know: squared and
/// logistic, dense; on the columns, and on the columns with the score of the owner's own linear
/// model, of the public rows' or of the joint one, so that what trees gain from any good score is
/// not credited to the job.
Result<OwnerFigures> owner_figures(const FiguresInput& input, const PersonalOptions& options = {});

}  // namespace parley::learn
