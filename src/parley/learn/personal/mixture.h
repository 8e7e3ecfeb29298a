// Mixes candidates by their cross-validated losses instead of selecting the best one. Candidates
// may be anything that gives a score: linear models, trees.
//
// Exponential weights have an oracle inequality (Leung, Barron 2006, "Information theory and mixing
// least-squares regressions"; Juditsky, Rigollet, Tsybakov 2008, "Learning by mirror averaging"):
// for weights from separate rows the expected loss is at most that of any candidate k plus
// temperature log(1/prior_k) / rows.
#pragma once

#include <span>
#include <vector>

#include "parley/learn/loss.h"

namespace parley::learn {

/// 4 for the logistic loss, times its largest class weight; 8 times the smallest loss for all
/// others. The unit of squared and Huber's loss is that of the labels' squares.
double mixture_temperature(const Losses& loss, double smallest_loss);

/// weight_k proportional to prior_k exp(-rows (loss_k - smallest loss) / temperature); they sum to
/// one. A loss that is not finite has weight 0; at least one must be finite with a prior above 0.
/// At temperature 0 the smallest loss takes all.
std::vector<double> mixture_weights(std::span<const double> losses, std::span<const double> priors,
                                    size_t rows, double temperature);

/// The same mass for every group that occurs, equal parts within: `groups` has one number for each
/// candidate.
std::vector<double> equal_priors(std::span<const int> groups);

}  // namespace parley::learn
