#include "parley/forecast/choose/open/features.h"

#include <cmath>

#include "parley/data/transforms/bounds_bundle.h"
#include "parley/data/transforms/transform.h"
#include "parley/forecast/pilot_statistics.h"
#include "parley/learn/trees/public_trees.h"

namespace parley::forecast {
namespace {

using charter::Charter;
using SharedRows = std::shared_ptr<const data::Rows>;

/// A standardised column has this deviation, so that l2 and clip mean the same with any number of
/// columns; it was that of the specification's trials.
constexpr double kDeviation = .5;
constexpr double kCut = 4;  // in deviations
/// Below, half of the rows grow no trees worth having.
constexpr size_t kRowsForTrees = 400;

/// The public rows without the bias, as they were encoded.
data::Rows encoded(const Charter& draft, const data::Rows& pilot) {
  const size_t columns = pilot.columns() - (draft.schema.bias ? 1 : 0);
  data::Rows rows(columns);
  for (size_t i = 0; i < pilot.size(); ++i) rows.add(pilot.row(i).first(columns), pilot.label(i));
  return rows;
}

SharedRows applied(const Charter& draft, const data::Bundle& bundle, const data::Rows& rows) {
  data::Transform transform(bundle);
  const size_t features = transform.features();
  auto found = std::make_shared<data::Rows>(features + (draft.schema.bias ? 1 : 0));
  std::vector<double> z(found->columns(), 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    transform.apply(rows.row(i), std::span(z).first(features));
    found->add(z, rows.label(i));
  }
  return found;
}

/// What `fit` gives the columns that vary, at the deviation above.
data::FitOptions with_length(data::FitOptions fit, size_t columns) {
  fit.length = kDeviation * std::sqrt(static_cast<double>(columns));
  return fit;
}

class Maker {
 public:
  Maker(const Charter& draft, const data::Rows& grown_on) : draft_(draft), grown_on_(grown_on) {}

  /// None where it cannot be made.
  std::optional<FeatureSet> make(std::string name, const data::FitOptions& fit,
                                 const data::Rows& rows) const {
    const Hash pilot = draft_.pilot ? draft_.pilot->sha256 : Hash{};
    auto bundle = data::fit_bundle(grown_on_, draft_.schema, pilot, fit);
    if (!bundle) return std::nullopt;
    FeatureSet set{std::move(name), *std::move(bundle), nullptr, fit.trees.has_value()};
    set.rows = applied(draft_, *set.bundle, rows);
    return set;
  }
  FeatureSet by_bounds(std::string name, const data::Rows& rows) const {
    const Hash pilot = draft_.pilot ? draft_.pilot->sha256 : Hash{};
    FeatureSet set{std::move(name), data::bounds_bundle(grown_on_, draft_.schema, pilot), nullptr,
                   false};
    set.rows = applied(draft_, *set.bundle, rows);
    return set;
  }
  data::FitOptions standardised() const {
    auto plain = data::fit_bundle(grown_on_, draft_.schema, {}, {});
    return with_length({.cut = kCut}, plain ? plain->select.size() : 1);
  }
  data::FitOptions components(size_t count) const {
    return with_length({.components = count, .whiten = true}, count);
  }
  /// None where no tree can be grown.
  std::optional<data::FitOptions> leaves() const {
    auto trees = learn::public_trees(grown_on_, charter::loss_of(draft_.model));
    if (!trees) return std::nullopt;
    data::FitOptions fit = standardised();
    fit.trees = *std::move(trees);
    return fit;
  }

 private:
  const Charter& draft_;
  const data::Rows& grown_on_;
};

}  // namespace

std::vector<FeatureSet> feature_sets(const Charter& draft, const SharedRows& pilot) {
  if (draft.preprocess) return {{"the charter's own features", draft.schema.bundle, pilot, false}};
  const data::Rows rows = encoded(draft, *pilot);
  const Maker maker(draft, rows);
  std::vector<FeatureSet> found;
  const auto add = [&](const char* name, const data::FitOptions& fit) {
    if (auto set = maker.make(name, fit, rows)) found.push_back(*std::move(set));
  };
  add("columns, standardised by the pilot", maker.standardised());
  found.push_back(maker.by_bounds("columns, by public bounds", rows));
  if (rows.size() >= kRowsForTrees)
    if (const auto leaves = maker.leaves()) add("columns and leaves of public trees", *leaves);
  add("20 whitened components", maker.components(20));
  add("10 whitened components", maker.components(10));
  return found;
}

std::vector<LeavesJudge> leaves_judges(const Charter& draft, const SharedRows& pilot) {
  std::vector<LeavesJudge> found;
  if (draft.preprocess || pilot->size() < kRowsForTrees) return found;
  const data::Rows all = encoded(draft, *pilot);
  for (size_t half = 0; half < 2; ++half) {
    const auto grown_on = part_of(all, half, 2), judged = part_of(all, 1 - half, 2);
    const Maker maker(draft, *grown_on);
    const auto leaves = maker.leaves();
    if (!leaves) return {};
    auto with = maker.make("with leaves", *leaves, *judged);
    auto without = maker.make("without", maker.standardised(), *judged);
    if (!with || !without) return {};
    found.push_back({*std::move(with), *std::move(without)});
  }
  return found;
}

}  // namespace parley::forecast
