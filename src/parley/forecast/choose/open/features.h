// Which features a draft could have: what `parley data prepare` would make of the public rows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/charter/charter.h"
#include "parley/data/rows.h"

namespace parley::forecast {

struct FeatureSet {
  std::string name{};  // as a ranking calls it
  std::optional<data::Bundle> bundle{};
  std::shared_ptr<const data::Rows> rows{};  // the public rows as such features, bias included
  /// Trees were grown on the labels of these rows, which therefore flatter their leaves.
  bool leaves = false;

  size_t columns() const { return rows->columns(); }
};

/// In the order in which they are taken if nothing tells them apart: columns standardised by the
/// pilot, columns by their public bounds, leaves of public trees beside the first, 20 and 10
/// whitened components. A draft with a bundle of its own has that one set. `pilot` are the public
/// rows by the draft's own schema. Sets that cannot be made are left out.
std::vector<FeatureSet> feature_sets(const charter::Charter& draft,
                                     const std::shared_ptr<const data::Rows>& pilot);

/// The leaves' judges: on each half of the public rows, the columns and leaves of trees grown on
/// the other half, and beside them the columns alone. Empty if too few rows are there.
struct LeavesJudge {
  FeatureSet with{}, without{};
};
std::vector<LeavesJudge> leaves_judges(const charter::Charter& draft,
                                       const std::shared_ptr<const data::Rows>& pilot);

}  // namespace parley::forecast
