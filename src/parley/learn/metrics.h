// Metrics of a finished model: plain functions of scores and labels. For classes the label is -1 or
// +1, and a larger score means +1.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/model.h"

namespace parley::learn {

/// Root of the mean squared difference.
double rmse(std::span<const double> predicted, std::span<const double> labels);

/// 1 - (squared error) / (squared error of the labels' mean); nothing if all labels are equal.
std::optional<double> r_squared(std::span<const double> predicted, std::span<const double> labels);

/// The share of records whose score has the sign of their class; a score of 0 counts as -1.
double accuracy(std::span<const double> scores, std::span<const double> labels);

/// Mean of -log(probability of the class) with probability 1 / (1 + e^-score), in nats.
double log_loss(std::span<const double> scores, std::span<const double> labels);

/// The probability that a random record of +1 has a larger score than one of -1, ties counted half;
/// nothing if there is only one class. O(n log n).
std::optional<double> auc(std::span<const double> scores, std::span<const double> labels);

/// The largest share of true ones among the records above a threshold that lets through at least
/// `recall` of all +1; nothing without any +1. Records of equal score pass together.
std::optional<double> precision_at_recall(std::span<const double> scores,
                                          std::span<const double> labels, double recall);

/// How much each record moves the mean of `values`: the sum of squares is the mean's variance.
std::vector<double> influences_on_mean(std::span<const double> values);

/// How much each record moves the AUC: the sum of squares is its variance (DeLong, DeLong,
/// Clarke-Pearson 1988), and that of differences of two models' influences the variance of the
/// difference. Both classes must be there.
std::vector<double> influences_on_auc(std::span<const double> scores,
                                      std::span<const double> labels);

/// The one metric that owners decide by.
enum class Measure { kRmse, kLogLoss, kAuc };
std::string_view name_of(Measure measure);  // rmse | log_loss | auc
inline bool smaller_is_better(Measure measure) { return measure != Measure::kAuc; }

/// The least gain that an owner calls material, unless it says otherwise. Of RMSE and log loss a
/// share, of AUC a difference.
double default_worth(Measure measure);  // 0.005; AUC 0.002

using parley::Metric;

/// What a model's output stands for.
enum class Output { kValue, kClassScore, kLogOdds };

/// Those that fit: rmse and r2 for a value; accuracy, auc and precision_at_recall_0.8 for a class
/// score, and log_loss where it is log odds. Those that the data does not define are left out.
std::vector<Metric> metrics_of(Output output, std::span<const double> scores,
                               std::span<const double> labels);

}  // namespace parley::learn
