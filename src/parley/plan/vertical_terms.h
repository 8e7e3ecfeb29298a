// From a charter over columns in several places to what its owners and the dealer agree on: bounds,
// steps, and the noise that the strictest budget buys. The rules are V-B, V-C and V-A of
// learn/vertical/joint_gradient.h, joint_moments.h and noisy_sharing.h.
//
// Without a dealer (rule statistics) rows are cells, so that a whole row is never longer than R,
// and a label never larger than Y >= R, whatever a peer does. What is released is V-C of whole
// numbers, D = moments_reach(R, Y) = sqrt(8) R Y units. Of the products of its own columns an owner
// adds all noise; to those of two owners, each adds all of it (v/2), so that what other owners,
// however many of them work together, do not know of it is what an owner is charged for: one
// discrete Gaussian. That the sum then has twice as much is post-processing. An owner among three
// and more may use other rows with each peer; D is the same, since only their lengths enter
// (docs/theory/columns.md).
//
// Without a dealer, rule gradients: coefficients on a grid within model.box, sensitivity of
// learn/vertical/cells/box_gradient.h. Every owner adds noise of variance ceil(s2 / (M - c)) to
// every number of every owner's gradient, its own included. So c owners that take off what they
// know still miss s2 of it, in their own gradients too. With M - c = 1, which is the default, an
// owner is charged for one discrete Gaussian, else for a sum of M - c of them.
#pragma once

#include "parley/charter/charter.h"
#include "parley/learn/loss.h"
#include "parley/learn/vertical/cells/box_gradient.h"
#include "parley/learn/vertical/cells/cell_columns.h"
#include "parley/learn/vertical/joint_gradient.h"
#include "parley/learn/vertical/joint_moments.h"
#include "parley/learn/vertical/noisy_sharing.h"
#include "parley/privacy/mechanism/gaussian.h"
#include "parley/privacy/mechanism/gaussian_share.h"

namespace parley::plan {

struct VerticalTerms {
  Hash charter{};
  charter::Rule rule = charter::Rule::kGradients;
  uint32_t rounds = 0;
  learn::JointPlan plan{};
  learn::JointSteps steps{};
  learn::Losses loss{};
  double l2 = 0, box = 1;         // as the charter says
  std::vector<size_t> columns{};  // features of each owner
  size_t label_holder = 0;
  bool intersect = false;   // owners may hold records that others do not
  uint64_t list_max = 0;    // ids that an owner may have, without a dealer
  double sensitivity = 0;   // of what a round releases to whole records, in its units
  privacy::Gaussian noise;  // in it: the dealer's, or what each owner adds
  std::optional<privacy::Gaussian> beside{};       // of rule statistics: off the diagonal
  std::optional<learn::NoisySharingPlan> noisy{};  // of rule noisy_sharing
  std::vector<learn::CellColumns> cells{};         // of each owner; none with a dealer
  std::optional<learn::BoxGradient> grid{};        // of rounds without a dealer
  /// Where more than one owner's noise is counted: what is charged, `noise` being one share.
  std::optional<privacy::GaussianShare> shares{};

  /// How many numbers a round opens to this owner or, under noisy sharing, it publishes.
  size_t numbers(size_t owner) const;
  /// What a round costs, and as which event it is booked.
  privacy::Cost cost() const;
  std::string event() const;
  /// Of all noise in a number of a gradient.
  double deviation() const;
  /// What one unit of a gradient is worth.
  double unit() const { return grid ? grid->unit() : plan.unit(); }
  /// An owner's steps, from zero.
  learn::PartyDescent descent(size_t owner) const;
  /// The fit of rule statistics, which is told how much noise the moments have.
  learn::MomentsFit fit() const;
};

/// The same for all parties. Every owner is charged for the whole sum in every round, since every
/// part of it is about its records; so the noise is what the smallest budget needs. What this
/// version cannot run soundly is refused, naming the key.
Result<VerticalTerms> vertical_terms(const charter::Charter& charter);

/// Of it what does not depend on budgets, with the finest grid: how rows are shortened and rounded,
/// also where nothing is protected. What no rule can run is refused, naming the key.
Result<learn::JointPlan> columns_plan(const charter::Charter& charter);

/// What owners without a dealer send each other in a round, all together, in bytes.
double round_bytes(const VerticalTerms& terms);

/// What owners without a dealer send each other before anything is opened, in bytes, ids not
/// counted: a bound within some hundredths. More than this is refused.
double setup_bytes(const VerticalTerms& terms);
inline constexpr double kSetupBytesMax = 64e9;

/// What every round of the job costs this owner together, as epsilon at its delta.
Result<double> sharing_epsilon(const charter::Charter& charter, const VerticalTerms& terms,
                               size_t owner);

/// Without a dealer: how many owners may pool what they know, all but one unless the charter says.
int64_t colluders_of(const charter::Charter& charter);

/// The longest whole row: R = sqrt(sum of R_m^2) of everyone's longest part.
double row_norm_of(const charter::Charter& charter);

/// What the largest label is under rule statistics, where a feature's largest value is 1: 1 with a
/// dealer, without one as large as the longest row.
double label_reach(const charter::Charter& charter);

/// The grid of rounds without a dealer.
learn::BoxGradient box_gradient(const charter::Charter& charter);

/// B_m: the ball of the model, divided like the rows, so that no party's scores outweigh. Without a
/// dealer the box alone bounds a part.
std::vector<double> part_balls(const charter::Charter& charter);

/// What a party does with its part of the gradients. They are of half the squares, hence half of
/// l2; the tail is the last quarter.
learn::JointSteps joint_steps(const charter::Charter& charter);

/// The columns of one owner, and the label and the bias where it holds the label.
data::Schema part_schema(const charter::Charter& charter, size_t owner);
bool holds_label(const charter::Charter& charter, size_t owner);

}  // namespace parley::plan
