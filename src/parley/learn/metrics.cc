#include "parley/learn/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/result.h"
#include "parley/learn/loss/logistic.h"

namespace parley::learn {
namespace {

double squared_error(std::span<const double> predicted, std::span<const double> labels) {
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i)
    sum += (predicted[i] - labels[i]) * (predicted[i] - labels[i]);
  return sum;
}

/// Records of one score: how many of each class.
struct Level {
  double score = 0, negatives = 0, positives = 0;
};

/// From the highest score down.
std::vector<Level> levels_of(std::span<const double> scores, std::span<const double> labels) {
  std::vector<std::pair<double, bool>> records(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) records[i] = {scores[i], labels[i] > 0};
  std::sort(records.begin(), records.end(), std::greater<>());
  std::vector<Level> levels;
  for (const auto& [score, positive] : records) {
    if (levels.empty() || levels.back().score != score) levels.push_back({.score = score});
    (positive ? levels.back().positives : levels.back().negatives) += 1;
  }
  return levels;
}

Level total_of(const std::vector<Level>& levels) {
  Level total;
  for (const Level& level : levels)
    total.negatives += level.negatives, total.positives += level.positives;
  return total;
}

std::optional<double> auc(const std::vector<Level>& levels) {
  const Level total = total_of(levels);
  if (total.positives == 0 || total.negatives == 0) return std::nullopt;
  double above = 0, won = 0;  // positives above; pairs that a positive wins
  for (const Level& level : levels) {
    won += level.negatives * (above + level.positives / 2);
    above += level.positives;
  }
  return won / (total.positives * total.negatives);
}

std::optional<double> precision_at_recall(const std::vector<Level>& levels, double recall) {
  const double positives = total_of(levels).positives;
  if (positives == 0) return std::nullopt;
  Level passed;
  double best = 0;
  for (const Level& level : levels) {
    passed.positives += level.positives, passed.negatives += level.negatives;
    if (passed.positives >= recall * positives)
      best = std::max(best, passed.positives / (passed.positives + passed.negatives));
  }
  return best;
}

}  // namespace

double rmse(std::span<const double> predicted, std::span<const double> labels) {
  check(predicted.size() == labels.size() && !labels.empty());
  return std::sqrt(squared_error(predicted, labels) / static_cast<double>(labels.size()));
}

std::optional<double> r_squared(std::span<const double> predicted, std::span<const double> labels) {
  check(predicted.size() == labels.size() && !labels.empty());
  double mean = 0;
  for (double label : labels) mean += label;
  mean /= static_cast<double>(labels.size());
  double spread = 0;
  for (double label : labels) spread += (label - mean) * (label - mean);
  if (spread == 0) return std::nullopt;
  return 1 - squared_error(predicted, labels) / spread;
}

double accuracy(std::span<const double> scores, std::span<const double> labels) {
  check(scores.size() == labels.size() && !labels.empty());
  size_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) right += (scores[i] > 0) == (labels[i] > 0);
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

double log_loss(std::span<const double> scores, std::span<const double> labels) {
  check(scores.size() == labels.size() && !labels.empty());
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i)
    sum += Logistic{}.value(scores[i], labels[i] > 0 ? 1 : -1);
  return sum / static_cast<double>(labels.size());
}

std::optional<double> auc(std::span<const double> scores, std::span<const double> labels) {
  check(scores.size() == labels.size());
  return auc(levels_of(scores, labels));
}

std::optional<double> precision_at_recall(std::span<const double> scores,
                                          std::span<const double> labels, double recall) {
  check(scores.size() == labels.size() && recall > 0 && recall <= 1);
  return precision_at_recall(levels_of(scores, labels), recall);
}

std::vector<double> influences_on_mean(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (double value : values) mean += value / n;
  std::vector<double> found;
  for (double value : values) found.push_back((value - mean) / n);
  return found;
}

/// For a positive the share of negatives below it, for a negative that of positives above it, both
/// minus AUC and over the rows of their class.
std::vector<double> influences_on_auc(std::span<const double> scores,
                                      std::span<const double> labels) {
  const auto all = auc(scores, labels);
  check(all.has_value());
  std::vector<double> sorted[2];  // negatives, positives
  for (size_t i = 0; i < scores.size(); ++i) sorted[labels[i] > 0].push_back(scores[i]);
  for (auto& each : sorted) std::sort(each.begin(), each.end());
  std::vector<double> found;
  for (size_t i = 0; i < scores.size(); ++i) {
    const bool positive = labels[i] > 0;
    const auto& others = sorted[!positive];
    const auto [first, last] = std::equal_range(others.begin(), others.end(), scores[i]);
    const double below = static_cast<double>((first - others.begin()) + (last - others.begin())) /
                         2 / static_cast<double>(others.size());
    found.push_back(((positive ? below : 1 - below) - *all) /
                    static_cast<double>(sorted[positive].size()));
  }
  return found;
}

std::string_view name_of(Measure measure) {
  constexpr std::string_view kNames[] = {"rmse", "log_loss", "auc"};
  return kNames[static_cast<int>(measure)];
}

double default_worth(Measure measure) { return measure == Measure::kAuc ? .002 : .005; }

std::vector<Metric> metrics_of(Output output, std::span<const double> scores,
                               std::span<const double> labels) {
  std::vector<Metric> found;
  const auto add = [&](std::string_view name, std::optional<double> value) {
    if (value) found.push_back({name, *value});
  };
  if (output == Output::kValue) {
    add("rmse", rmse(scores, labels));
    add("r2", r_squared(scores, labels));
    return found;
  }
  const std::vector<Level> levels = levels_of(scores, labels);
  add("accuracy", accuracy(scores, labels));
  if (output == Output::kLogOdds) add("log_loss", log_loss(scores, labels));
  add("auc", auc(levels));
  add("precision_at_recall_0.8", precision_at_recall(levels, 0.8));
  return found;
}

}  // namespace parley::learn
