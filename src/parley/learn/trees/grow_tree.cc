#include "parley/learn/trees/grow_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "parley/base/memory/parallel.h"

namespace parley::learn {
namespace {

constexpr double kSmallestCurvature = 1e-3;
/// Gains below this part of the terms they are the difference of are rounding errors.
constexpr double kSmallestGain = 1e-10;

struct Candidate {
  double gain = 0;
  size_t column = 0, bin = 0;  // bins up to this one go left
};

/// A leaf that may still be split.
struct Open {
  uint64_t at = 1;
  std::vector<uint32_t> rows{};
  Sum sum{};
  std::optional<Histogram> histogram{};  // none at the largest depth
  std::optional<Candidate> best{};
};

class Grower {
 public:
  Grower(const Bins& bins, const Derivatives& derivatives, const TreeLimits& limits, int threads)
      : bins_(bins), derivatives_(derivatives), limits_(limits), threads_(threads) {}

  GrownTree grow(std::vector<uint32_t> rows) {
    node_of_row_.assign(bins_.rows, 1);
    Open root{.rows = std::move(rows)};
    root.sum = sum_of(derivatives_, root.rows);
    root.histogram.emplace(bins_).add(bins_, derivatives_, root.rows, threads_);
    root.best = best_of(root);
    open_.push_back(std::move(root));
    while (open_.size() < limits_.leaves && split_best()) {
    }
    return finish();
  }

 private:
  double curvature_of(const Sum& sum) const {
    return static_cast<double>(sum.curvature) * derivatives_.curvature_unit;
  }
  double slope_of(const Sum& sum) const {
    return static_cast<double>(sum.slope) * derivatives_.slope_unit;
  }
  /// G^2 / (H + l2), what a node's best value gains over 0.
  double gain_of(const Sum& sum) const {
    return slope_of(sum) * slope_of(sum) / (curvature_of(sum) + limits_.l2);
  }
  bool large_enough(const Sum& sum) const {
    return sum.rows >= static_cast<int64_t>(limits_.leaf_rows) &&
           curvature_of(sum) >= kSmallestCurvature;
  }

  std::optional<Candidate> best_in_column(const Open& node, size_t column) const {
    const std::span<const Sum> sums = node.histogram->column(column);
    const double together = gain_of(node.sum);
    std::optional<Candidate> best;
    Sum left;
    for (size_t bin = 0; bin + 1 < sums.size(); ++bin) {
      left += sums[bin];
      Sum right = node.sum;
      right -= left;
      if (!large_enough(left) || !large_enough(right)) continue;
      const double apart = gain_of(left) + gain_of(right), gain = apart - together;
      if (gain > kSmallestGain * apart && (!best || gain > best->gain))
        best = Candidate{gain, column, bin};
    }
    return best;
  }

  std::optional<Candidate> best_of(const Open& node) const {
    std::vector<std::optional<Candidate>> found(bins_.columns());
    in_parallel(worthwhile(threads_, 4 * node.histogram->size()), found.size(),
                [&](size_t, size_t first, size_t last) {
                  for (size_t j = first; j < last; ++j) found[j] = best_in_column(node, j);
                });
    std::optional<Candidate> best;
    for (const auto& candidate : found)
      if (candidate && (!best || candidate->gain > best->gain)) best = candidate;
    return best;
  }

  /// False if no split gains.
  bool split_best() {
    Open* chosen = nullptr;
    for (Open& node : open_)
      if (node.best && (!chosen || node.best->gain > chosen->best->gain)) chosen = &node;
    if (!chosen) return false;
    Open node = std::move(*chosen);
    *chosen = std::move(open_.back());
    open_.pop_back();
    split(std::move(node));
    return true;
  }

  void split(Open node) {
    const auto [gain, column, bin] = *node.best;
    splits_.push_back({node.at, column, bins_.edges[column][bin]});
    const uint8_t* index = bins_.column(column).data();
    for (size_t i = 0; i < bins_.rows; ++i)
      if (node_of_row_[i] == node.at)
        node_of_row_[i] = static_cast<uint8_t>(2 * node.at + (index[i] > bin));
    Open left{.at = 2 * node.at}, right{.at = 2 * node.at + 1};
    for (const uint32_t row : node.rows) (index[row] > bin ? right : left).rows.push_back(row);
    left.sum = sum_of(derivatives_, left.rows);
    right.sum = node.sum;
    right.sum -= left.sum;
    if (static_cast<size_t>(std::bit_width(node.at)) < limits_.depth)
      look_further(std::move(*node.histogram), left, right);
    open_.push_back(std::move(left));
    open_.push_back(std::move(right));
  }

  /// Adds up the smaller child; the other one is the difference from `parent`.
  void look_further(Histogram parent, Open& left, Open& right) const {
    Open& small = left.rows.size() < right.rows.size() ? left : right;
    Open& large = &small == &left ? right : left;
    small.histogram.emplace(bins_).add(bins_, derivatives_, small.rows, threads_);
    parent -= *small.histogram;
    large.histogram = std::move(parent);
    small.best = best_of(small);
    large.best = best_of(large);
  }

  GrownTree finish() {
    std::sort(splits_.begin(), splits_.end(),
              [](const auto& a, const auto& b) { return a.at < b.at; });
    // From left to right: by the node's number at the largest depth, down the left side.
    const auto leftmost = [](uint64_t at) {
      return at << (data::kDepthMax + 1 - static_cast<size_t>(std::bit_width(at)));
    };
    std::sort(open_.begin(), open_.end(),
              [&](const Open& a, const Open& b) { return leftmost(a.at) < leftmost(b.at); });
    GrownTree grown{.tree = {.splits = splits_, .values = {}}, .leaf = std::move(node_of_row_)};
    std::array<uint8_t, 2 * data::kLeavesMax> leaf_of{};
    for (const Open& leaf : open_) {
      leaf_of[leaf.at] = static_cast<uint8_t>(grown.tree.values.size());
      grown.tree.values.push_back(-slope_of(leaf.sum) / (curvature_of(leaf.sum) + limits_.l2));
    }
    for (uint8_t& node : grown.leaf) node = leaf_of[node];
    return grown;
  }

  const Bins& bins_;
  const Derivatives& derivatives_;
  const TreeLimits& limits_;
  int threads_;
  std::vector<Open> open_{};
  std::vector<data::Tree::Split> splits_{};
  std::vector<uint8_t> node_of_row_{};
};

}  // namespace

GrownTree grow_tree(const Bins& bins, const Derivatives& derivatives, std::vector<uint32_t> rows,
                    const TreeLimits& limits, int threads) {
  return Grower(bins, derivatives, limits, threads).grow(std::move(rows));
}

}  // namespace parley::learn
