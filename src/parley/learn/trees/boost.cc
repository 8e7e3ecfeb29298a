#include "parley/learn/trees/boost.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>
#include <vector>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"
#include "parley/data/trees/leaves.h"

namespace parley::learn {
namespace {

Error not_possible(std::string key, std::string what) {
  return {Code::kInvalid, std::move(what), "", {.key = std::move(key)}};
}

Result<void> check_options(const BoostOptions& options) {
  const TreeLimits& limits = options.limits;
  if (!std::holds_alternative<Logistic>(options.loss) &&
      !std::holds_alternative<Squared>(options.loss))
    return not_possible("loss", "trees are grown for logistic and squared loss only");
  if (options.trees < 1 || options.trees > data::kTreesMax)
    return not_possible("trees", "must be from 1 to 1000");
  if (!(options.learning_rate > 0 && options.learning_rate <= 1))
    return not_possible("learning_rate", "must be above 0 and at most 1");
  if (!(options.subsample > 0 && options.subsample <= 1))
    return not_possible("subsample", "must be above 0 and at most 1");
  if (limits.depth < 1 || limits.depth > data::kDepthMax)
    return not_possible("depth", "must be from 1 to 4");
  if (limits.leaves < 2 || limits.leaves > data::kLeavesMax)
    return not_possible("leaves", "must be from 2 to 16");
  if (limits.leaf_rows < 1) return not_possible("leaf_rows", "must be at least 1");
  if (!(limits.l2 >= 0 && limits.l2 <= 1e12)) return not_possible("l2", "must be from 0 to 1e12");
  if (options.patience < 1) return not_possible("patience", "must be at least 1");
  return {};
}

/// Whether it contributes: not the zero record of two classes, whose label is neither.
bool contributes(const Losses& loss, double label) { return !two_classes(loss) || label != 0; }

Result<void> check_labels(const Losses& loss, const data::Rows& rows) {
  for (size_t i = 0; two_classes(loss) && i < rows.size(); ++i)
    if (const double label = rows.label(i); label != 1 && label != -1 && label != 0)
      return Error{Code::kInvalid, "labels of two classes must be -1 and +1"};
  return {};
}

/// The rows that trees are grown on.
std::vector<uint32_t> contributing(const Losses& loss, const data::Rows& rows) {
  std::vector<uint32_t> all;
  for (size_t i = 0; i < rows.size(); ++i)
    if (contributes(loss, rows.label(i))) all.push_back(static_cast<uint32_t>(i));
  return all;
}

double base_of(const Squared&, const data::Rows& rows, std::span<const uint32_t> all) {
  double sum = 0;
  for (const uint32_t row : all) sum += rows.label(row);
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

/// Half a row of either class (Haldane 1956) makes it finite where one class is missing.
double base_of(const Logistic& loss, const data::Rows& rows, std::span<const uint32_t> all) {
  const auto positives = static_cast<double>(
      std::count_if(all.begin(), all.end(), [&](uint32_t row) { return rows.label(row) > 0; }));
  const double negatives = static_cast<double>(all.size()) - positives;
  return portable_log((loss.weights.positive * positives + .5) /
                      (loss.weights.negative * negatives + .5));
}

/// `all`, or a part of it drawn one after the other (Knuth's algorithm S); ascending.
std::vector<uint32_t> subsampled(const std::vector<uint32_t>& all, const BoostOptions& options,
                                 size_t tree) {
  if (options.subsample == 1) return all;
  const double wanted = std::ceil(options.subsample * static_cast<double>(all.size()));
  std::vector<uint32_t> drawn;
  SeededRandom random(options.seed, tree);
  for (size_t i = 0; i < all.size(); ++i) {
    const double missing = wanted - static_cast<double>(drawn.size());
    if (random.uniform() * static_cast<double>(all.size() - i) < missing) drawn.push_back(all[i]);
  }
  return drawn;
}

/// Follows the loss on held-out rows as trees are added.
class Watch {
 public:
  Watch(const data::Rows* rows, const BoostOptions& options, const data::Trees& start)
      : rows_(rows), options_(options) {
    if (!rows_) return;
    scores_.assign(rows_->size(), start.base);
    best_ = mean_loss(options_.loss, scores_, *rows_);
  }

  /// Adds the last tree; false if growing should end.
  bool add(const data::Trees& trees) {
    if (!rows_) return true;
    const data::Trees last{trees.columns, 0, {trees.trees.back()}};
    const std::vector<double> more = data::scores_of(last, *rows_);
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += more[i];
    const double loss = mean_loss(options_.loss, scores_, *rows_);
    if (loss < best_) best_ = loss, best_at_ = trees.trees.size();
    return trees.trees.size() - best_at_ < options_.patience;
  }

  void drop_the_rest(data::Trees& trees) const {
    if (rows_) trees.trees.resize(best_at_);
  }

 private:
  const data::Rows* rows_;
  const BoostOptions& options_;
  std::vector<double> scores_{};
  double best_ = 0;
  size_t best_at_ = 0;
};

/// One run of boosting for one loss.
template <class L>
class Booster {
 public:
  Booster(const L& loss, const data::Rows& rows, const Bins& bins, const BoostOptions& options,
          int threads)
      : loss_(loss),
        rows_(rows),
        bins_(bins),
        options_(options),
        threads_(threads),
        all_(contributing(loss, rows)),
        slopes_(rows.size()),
        curvatures_(rows.size()) {}

  data::Trees run(const data::Rows* held_out) {
    data::Trees trees{bins_.columns(), base_of(loss_, rows_, all_), {}};
    scores_.assign(rows_.size(), trees.base);
    Watch watch(held_out, options_, trees);
    while (trees.trees.size() < options_.trees) {
      GrownTree grown = next(trees.trees.size());
      if (grown.tree.splits.empty()) break;
      trees.trees.push_back(std::move(grown.tree));
      if (!watch.add(trees)) break;
    }
    watch.drop_the_rest(trees);
    return trees;
  }

 private:
  /// The next tree; the scores follow it.
  GrownTree next(size_t number) {
    derive();
    GrownTree grown = grow_tree(bins_, derivatives_, subsampled(all_, options_, number),
                                options_.limits, threads_);
    std::vector<double>& values = grown.tree.values;
    for (double& value : values) value *= options_.learning_rate;
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += values[grown.leaf[i]];
    return grown;
  }

  void derive() {
    constexpr double kPart = std::is_same_v<L, Squared> ? .5 : 1;
    for (size_t i = 0; i < scores_.size(); ++i) {
      slopes_[i] = kPart * loss_.slope(scores_[i], rows_.label(i));
      curvatures_[i] = kPart * loss_.curvature(scores_[i], rows_.label(i));
    }
    derivatives_.slope_unit = to_fixed_point(slopes_, derivatives_.slope);
    derivatives_.curvature_unit = to_fixed_point(curvatures_, derivatives_.curvature);
  }

  const L& loss_;
  const data::Rows& rows_;
  const Bins& bins_;
  const BoostOptions& options_;
  int threads_;
  std::vector<uint32_t> all_;
  std::vector<double> scores_{}, slopes_, curvatures_;
  Derivatives derivatives_{};
};

}  // namespace

Result<data::Trees> boost(const data::Rows& rows, const BoostOptions& options, int threads,
                          const data::Rows* held_out) {
  TRY(check_options(options));
  TRY(check_labels(options.loss, rows));
  if (held_out) {
    TRY(check_labels(options.loss, *held_out));
    check(held_out->columns() == rows.columns());
  }
  const Bins bins = TRY(bins_of(rows, threads));
  if (const auto* logistic = std::get_if<Logistic>(&options.loss))
    return Booster(*logistic, rows, bins, options, threads).run(held_out);
  return Booster(std::get<Squared>(options.loss), rows, bins, options, threads).run(held_out);
}

double mean_loss(const Losses& loss, std::span<const double> scores, const data::Rows& rows) {
  check(scores.size() == rows.size());
  double sum = 0, count = 0;
  std::visit(
      [&](const auto& known) {
        for (size_t i = 0; i < rows.size(); ++i)
          if (contributes(loss, rows.label(i)))
            sum += known.value(scores[i], rows.label(i)), ++count;
      },
      loss);
  return count > 0 ? sum / count : 0;
}

}  // namespace parley::learn
