// Chooses features, l2, mechanism and protocol for a draft that leaves its protocol open, from
// coarse to fine. A criterion selects features and l2; forecasts compare the remaining designs,
// protocol by protocol.
//
//   feature sets x l2 x clips --criterion--> a few designs --forecasts--> finalists --> winner
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"
#include "parley/forecast/choose/choose.h"
#include "parley/forecast/choose/tune.h"
#include "parley/forecast/pilot/metric.h"
#include "parley/forecast/pilot/statistics.h"
#include "parley/plan/noise.h"

namespace parley::forecast {

// --- Alternatives: features and protocols (alternatives.cc)

/// Features that a draft could have: what `parley data prepare` would make of the public rows.
struct FeatureSet {
  std::string name{};  // as a ranking calls it
  std::optional<data::Bundle> bundle{};
  std::shared_ptr<const data::Rows> rows{};  // the public rows as such features, bias included
  /// Leaves of trees that were grown on these rows' labels: their in-sample loss is too low.
  bool leaves = false;

  size_t columns() const { return rows->columns(); }
};

/// In the order in which they are taken if nothing tells them apart: columns standardised by the
/// pilot, columns by their public bounds, leaves of public trees beside the first, 20 and 10
/// whitened components. A draft with a bundle of its own has that one set. `pilot` are the public
/// rows by the draft's own schema. Sets that cannot be made are left out.
std::vector<FeatureSet> feature_sets(const charter::Charter& draft,
                                     const std::shared_ptr<const data::Rows>& pilot);

/// To compare leaves on rows that the trees have not seen: each half of the public rows with leaves
/// of trees grown on the other half, and with the columns alone. Empty if there are too few rows.
struct LeavesCheck {
  FeatureSet with{}, without{};
};
/// Only what has leaves.
std::vector<std::shared_ptr<const data::Rows>> unseen_leaves(
    const charter::Charter& draft, const std::shared_ptr<const data::Rows>& pilot);
std::vector<LeavesCheck> leaves_checks(const charter::Charter& draft,
                                       const std::shared_ptr<const data::Rows>& pilot);

/// A protocol that a draft could have, as the charter that it would be.
struct ProtocolOption {
  enum class Kind { kOwnNoise, kSecureSums, kFederated, kAsync };  // the simplest first
  Kind kind{};
  std::string name{};             // as a ranking calls it
  bool accepted = true;           // else it needs a delta that nobody has accepted
  bool wanted = true;             // else it is only there to be compared with
  charter::Charter charter{};     // the draft with this protocol
  std::vector<Choice> choices{};  // what makes it so

  /// Variance of one coordinate of the owners' mean gradient, for a clip of 1, weights by rows.
  double variance(int64_t rounds) const;
  bool l1() const { return charter.privacy.mechanism == charter::MechanismName::kLaplace; }
};

/// Those that the draft's text allows, each owner's own noise always the first. Gaussian noise
/// where all owners accept a delta (the draft's, or `options.delta`), else Laplace noise, and what
/// a delta would allow besides, not accepted.
std::vector<ProtocolOption> protocol_options(const Draft& draft, const ForecastOptions& options);

/// The federated option with another max_row_norm.
Result<ProtocolOption> with_row_norm(const Draft& draft, const ProtocolOption& option, double norm);

// --- Designs: the criterion, and what forecasts say (designs.cc)
// The criterion is the expected loss of a design on new rows, from the public rows alone:
//
//   L_mid of the clipped optimum + dS/(2N) + noise + unfinished optimisation
//
// L_mid is the midpoint of in-sample and leave-one-out loss (pilot/metric.h).

/// Features and l2: what the public rows say about the best model of that kind.
struct Design {
  const FeatureSet* features = nullptr;
  double l2 = 0;
  PilotStatistics statistics{};
  PilotMetric metric{};          // the user's; its `loss` is L_mid
  std::vector<double> losses{};  // L_mid's part of every row
  double left_out = 0;           // the mean loss of rows left out

  /// Of a model with this loss on new rows.
  double metric_at(double loss) const { return metric.at(loss - metric.loss); }
};
using SharedDesign = std::shared_ptr<const Design>;

/// The model's other keys are the charter's. An error where rows give no metric.
Result<SharedDesign> design_of(const charter::Charter& charter, const FeatureSet& features,
                               double l2, int threads);

/// A design with a clip, in the norm of the option's mechanism.
struct ClippedDesign {
  SharedDesign design{};
  double clip = 0;
  double bias = 0;        // of the loss, by the clip
  double noise_gain = 0;  // (1/2) tr(H_f H_c^-2)

  /// In units of the loss, for Newton steps 1/k of so many rounds.
  double criterion(const ProtocolOption& option, int64_t rounds) const;
  /// The least over the rounds that are worth it.
  double criterion(const ProtocolOption& option) const;
};
/// The clip leaves this share of gradients as they are. None where the clipped Hessian vanishes.
std::optional<ClippedDesign> clipped_design(const SharedDesign& design,
                                            const ProtocolOption& option, double share);

/// Standard error of the difference of two designs' losses on the public rows, row by row.
double paired_error(const Design& one, const Design& other);

/// p > n0/20, or fewer than 2 p public rows of the smaller class: the choice may be far from the
/// best there.
bool too_few_rows(const Design& design);

/// A design under a protocol, with everything else chosen by its own forecast, and the loss that is
/// then expected on new rows.
struct Finalist {
  SharedDesign design{};
  ProtocolOption option{};
  Candidate candidate{};
  std::vector<Choice> choices{};  // of federated jobs; of others explain() makes them
  double loss = 0;
};

struct FinalistQuestion {
  const Draft& draft;
  const Given& given;
  const ForecastOptions& options;
};

/// `correction` is added to the loss: the optimism of leaves on rows that trees have seen. None
/// where the protocol cannot train this design.
std::optional<Finalist> finalist(const FinalistQuestion& question, const SharedDesign& design,
                                 const ProtocolOption& option, double correction);

/// Ties (within the standard error of the public rows, or a tenth of the gain that counts) go to
/// the features that come first, the larger l2, fewer rounds, the simpler protocol.
size_t winner(const std::vector<Finalist>& finalists,
              const std::vector<const FeatureSet*>& in_order);

// --- The choice (open.cc)

struct OpenChoice {
  std::vector<Choice> choices{};
  std::vector<Advice::Ranked> ranking{};
  std::optional<data::Bundle> bundle{};      // none: the draft has its own
  std::shared_ptr<const data::Rows> rows{};  // the public rows as the chosen features
  std::vector<std::shared_ptr<const data::Rows>> unseen{};  // of leaves, see ForecastOptions
  std::vector<Warning> warnings{};
};

Result<OpenChoice> choose_open(const Draft& draft, const std::shared_ptr<const data::Rows>& pilot,
                               const Given& given, const ForecastOptions& options);

}  // namespace parley::forecast
