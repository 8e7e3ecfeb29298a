// Personal models: what an owner can train from its own rows, the public pilot's model and the
// joint model. Candidates are models pulled towards zero, the pilot's model or the joint model,
// each with several strengths. They are compared by cross-validation on the owner's rows and mixed;
// a mixture of linear models is a linear model. An owner for whom the joint model is bad gives it
// little weight, so having tried it costs little.
//
// Privacy: with respect to others' records all of this is post-processing of the joint model and
// public rows. But everything here depends on the owner's own records without protection: models,
// weights, losses and strengths stay with the owner. They may not be sent, published or compared
// with others', nor become the start, pilot, centre, label or feature of any job.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "parley/base/result.h"
#include "parley/data/any_rows.h"
#include "parley/learn/loss.h"
#include "parley/learn/personal/folds.h"

namespace parley::learn {

/// What an owner has. Columns are on comparable scales, as the charter's bounds make them.
struct PersonalInput {
  Losses loss{};
  data::AnyRows rows{};           // the charter's columns, then the owner's own ones
  std::optional<size_t> bias{};   // the column that is always 1
  std::vector<double> pilot{};    // the pilot's model of the charter's columns; empty: none
  std::vector<double> hessian{};  // of the pilot's fitness there, l2 inside; empty: none
  std::vector<double> joint{};    // the joint model; empty: not yet
  /// The joint model has seen the rows it is tested on; tr(H^-1 S)/N of all owners' N rows is added
  /// to the losses of its candidates, S being the covariance of one record's gradient.
  double joint_optimism = 0;
};

/// What a candidate is pulled to. Zero is the owner alone.
enum class Centre { kZero, kPilot, kJoint };
/// How: in the metric I or H, all of the centre but its bias, all of it.
enum class PullShape { kIdentity, kHessian, kOwnBias, kCentreItself };

std::string_view name_of(Centre centre);
std::string_view name_of(PullShape shape);

struct PersonalCandidate {
  Centre centre{};
  PullShape shape{};
  double strength = std::numeric_limits<double>::infinity();  // nu; infinite without own slopes
  double cv_loss = 0;                                         // mean over the owner's rows
  double weight = 0;                                          // in the personal model
  std::vector<double> theta{};                                // fitted to all rows
};

struct PersonalModels {
  std::vector<PersonalCandidate> candidates{};
  std::vector<double> alone{};        // own rows only, with the strength of the smallest CV loss
  std::vector<double> alone_mixed{};  // the mixture of the same candidates
  std::vector<double> own_public{};   // the mixture of them with those pulled to the pilot's model
  std::vector<double> personal{};     // the mixture of all
  FoldPlan plan{};                    // of the cross-validation
};

struct PersonalOptions {
  uint64_t seed = 1;  // of the folds
  int threads = 1;    // the same result on any number
  /// Asked after every fit, one call at a time; false: stop.
  std::function<bool(size_t done, size_t total)> go_on = [](size_t, size_t) { return true; };
};

/// Of the candidates that know own rows only, the one with the smallest loss.
const PersonalCandidate& best_alone(const std::vector<PersonalCandidate>& candidates);

/// An error if the loss is the hinge, which has no curvature; if there are fewer than two rows; if
/// a model or the Hessian is not finite or has too many columns; or if no model has a finite loss.
Result<PersonalModels> personal_models(const PersonalInput& input,
                                       const PersonalOptions& options = {});

}  // namespace parley::learn
