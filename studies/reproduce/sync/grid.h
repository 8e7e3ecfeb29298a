// Mean fitness over the sizes of three equal banks and their common budget, once for all figures
// that show it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "studies/reproduce/sync/job.h"

namespace parley::reproduce::sync {

struct Grid {
  SharedRecords records{};
  std::vector<uint64_t> sizes{};
  std::vector<std::vector<Estimate>> literal{}, sound{};  // by size, then by epsilon; of a further
                                                          // draw of the stand-in none is sound
  uint64_t runs = 0;
};
using SharedGrid = std::shared_ptr<const Grid>;

/// The rule that a user would run, at the same epsilons: on these banks, clipped.
struct Sound {
  double clip = 0;
  std::function<Plan(const Banks& banks)> plan{};
};

/// What was filled before, or null.
SharedGrid known_grid(const Study& study, const std::string& key, uint64_t runs);

/// Fills literal and sound, and remembers it under the key. A record that is longer than
/// `shorten_to` in L1 is shortened first; 0: none is.
Result<SharedGrid> fill_grid(const Study& study, const std::string& key, Grid grid,
                             const Profile& profile, const Sound& sound, double shorten_to = 0);

/// Records no longer than this in L1.
data::Rows shortened(const data::Rows& rows, double length);

Curve over_epsilon(const std::vector<std::vector<Estimate>>& means, size_t size);
Curve over_size(const Grid& grid, const std::vector<std::vector<Estimate>>& means, size_t epsilon);

extern const Axis kBudget, kSize, kMean;

/// The mean as a surface.
Panel surface(std::string title, const Grid& grid, const std::vector<std::vector<Estimate>>& means);
/// The ratio of every mean to the one before it, over budgets and over sizes, to be counted; and
/// the largest of them.
std::vector<Measure> falls_everywhere(const Grid& grid);
/// Curves over epsilon by size, Theorem 2's bound beside each, and the sound rule's last.
Panel budget_curves(const Grid& grid, const std::string& sound_name);
/// Curves over size at three epsilons, likewise.
Panel size_curves(const Grid& grid);

}  // namespace parley::reproduce::sync
