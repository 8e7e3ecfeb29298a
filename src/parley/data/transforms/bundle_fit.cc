// Fits a bundle on public rows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "parley/base/math/portable.h"
#include "parley/data/rows.h"
#include "parley/data/schema.h"
#include "parley/data/transforms/bounds_bundle.h"
#include "parley/data/transforms/principal.h"
#include "parley/data/transforms/transform.h"
#include "parley/data/transforms/whitening.h"

namespace parley::data {
namespace {

/// Jacobi's method takes about 90 p^3 operations: some ten seconds here.
constexpr size_t kRotateMax = 512;

Error cannot(std::string what, std::string hint) {
  return {Code::kInvalid, std::move(what), std::move(hint)};
}

template <class Value>
double mean_over(const Rows& rows, const Value& value) {
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) sum += value(i);
  return sum / static_cast<double>(rows.size());
}

/// Sum of products about the means.
template <class Left, class Right>
double scatter(const Rows& rows, const Left& left, double left_mean, const Right& right,
               double right_mean) {
  double sum = 0;
  for (size_t i = 0; i < rows.size(); ++i) sum += (left(i) - left_mean) * (right(i) - right_mean);
  return sum;
}

auto column_of(const Rows& rows, size_t j) {
  return [&rows, j](size_t i) { return rows.row(i)[j]; };
}

bool varies(const Rows& rows, size_t j) {
  for (size_t i = 1; i < rows.size(); ++i)
    if (rows.row(i)[j] != rows.row(0)[j]) return true;
  return false;
}

/// Mean and deviation of every column; a constant column is only centred.
void fit_standard(const Rows& pilot, Bundle& bundle) {
  const double degrees = static_cast<double>(pilot.size()) - 1;
  for (size_t j = 0; j < pilot.columns(); ++j) {
    const auto column = column_of(pilot, j);
    const double mean = varies(pilot, j) ? mean_over(pilot, column) : pilot.row(0)[j];
    const double deviation = std::sqrt(scatter(pilot, column, mean, column, mean) / degrees);
    bundle.mean.push_back(mean + 0.0);  // -0 is 0.
    bundle.scale.push_back(deviation >= kSmallest ? deviation : 1);
    if (deviation >= kSmallest && varies(pilot, j)) bundle.select.push_back(j);
  }
}

struct Ends {
  double low, high;
};

/// Between which values an encoded column lies, by its public description.
Ends ends_of(const Column& column) {
  if (column.kind == Column::Kind::kNumber)
    return column.log ? Ends{portable_log1p(column.low), portable_log1p(column.high)}
                      : Ends{column.low, column.high};
  const size_t levels = column.levels.size() + (column.other ? 1 : 0);
  return {0, static_cast<double>(std::max<size_t>(levels, 2) - 1)};
}

bool one_hot(const Column& column) {
  return column.kind == Column::Kind::kCategory && column.encode == Column::Encode::kOneHot;
}

/// By public bounds: numbers to [-1, 1], levels of a category as they are.
void fit_bounds(const Schema& schema, Bundle& bundle) {
  for (const Column& column : schema.columns) {
    const bool levels = one_hot(column);
    const auto [low, high] = levels ? Ends{-1, 1} : ends_of(column);
    const size_t count = levels ? column.levels.size() + (column.other ? 1 : 0) : 1;
    for (size_t k = 0; k < count; ++k) {
      bundle.select.push_back(bundle.mean.size());
      bundle.mean.push_back((low + high) / 2 + 0.0);
      bundle.scale.push_back((high - low) / 2);
    }
  }
}

/// The larger, the sooner a column is kept.
std::vector<double> merits(const Rows& pilot, const Bundle& bundle, Bundle::SelectBy by) {
  const auto label = [&](size_t i) { return pilot.label(i); };
  const double centre = mean_over(pilot, label);
  std::vector<double> result(pilot.columns());
  for (size_t j : bundle.select)
    result[j] = by == Bundle::SelectBy::kVariance
                    ? bundle.scale[j]
                    : std::fabs(scatter(pilot, column_of(pilot, j), bundle.mean[j], label, centre) /
                                bundle.scale[j]);
  return result;
}

Result<void> fit_select(const Rows& pilot, const FitOptions& options, Bundle& bundle) {
  if (bundle.select.empty())
    return cannot("no column varies in the pilot", "Use more pilot rows, or other columns.");
  if (options.top == 0) return {};
  if (options.top > bundle.select.size())
    return cannot("only " + std::to_string(bundle.select.size()) +
                      " encoded columns vary in the pilot, not " + std::to_string(options.top),
                  "Keep fewer.");
  const std::vector<double> merit = merits(pilot, bundle, options.by);
  std::stable_sort(bundle.select.begin(), bundle.select.end(),
                   [&](size_t a, size_t b) { return merit[a] > merit[b]; });
  bundle.select.resize(options.top);
  std::sort(bundle.select.begin(), bundle.select.end());
  bundle.select_by = options.by;
  return {};
}

/// Components mix columns, so that a cut of single columns does not bound them: none there.
void fit_cut(const FitOptions& options, Bundle& bundle) {
  const bool rotates = options.components > 0 || options.whiten;
  bundle.cut = options.cut.value_or(options.trees && !rotates ? kCutBesideLeaves : 0);
}

/// The kept columns, standardised, row by row.
std::vector<double> standardised(const Rows& pilot, const Bundle& bundle) {
  std::vector<double> rows;
  rows.reserve(pilot.size() * bundle.select.size());
  for (size_t i = 0; i < pilot.size(); ++i)
    for (size_t j : bundle.select)
      rows.push_back((pilot.row(i)[j] - bundle.mean[j]) / bundle.scale[j]);
  return rows;
}

/// How many components to keep, or why not.
Result<size_t> components_of(const FitOptions& options, const std::vector<double>& variances) {
  const auto varying =
      static_cast<size_t>(std::count_if(variances.begin(), variances.end(), [](double variance) {
        return variance > kSmallestVariance;
      }));
  const size_t wanted = options.components > 0 ? options.components : varying;
  if (wanted > (options.whiten ? varying : variances.size())) return too_few_directions();
  return wanted;
}

Result<void> fit_rotate(const Rows& pilot, const FitOptions& options, Bundle& bundle) {
  if (options.components == 0 && !options.whiten) return {};
  const size_t width = bundle.select.size();
  if (width > kRotateMax)
    return cannot("principal components of " + std::to_string(width) + " columns, more than " +
                      std::to_string(kRotateMax),
                  "Keep fewer columns first, --top " + std::to_string(kRotateMax) + ".");
  Square covariance = scatter_of(standardised(pilot, bundle), std::vector<double>(width));
  for (double& entry : covariance.entries) entry /= static_cast<double>(pilot.size() - 1);
  const PrincipalAxes axes = principal_axes(std::move(covariance));
  const size_t components = TRY(components_of(options, axes.values));
  bundle.rotate = Bundle::Rotate{};
  Bundle::Rotate& rotate = *bundle.rotate;
  rotate.whiten = options.whiten;
  for (size_t k = 0; k < components; ++k) {
    rotate.explained.push_back(std::fmax(axes.values[k], 0) / static_cast<double>(width));
    const double scale = options.whiten ? 1 / std::sqrt(axes.values[k]) : 1;
    for (size_t j = 0; j < width; ++j)
      rotate.matrix.push_back(axes.vectors[k * width + j] * scale + 0.0);
  }
  return {};
}

/// Every kept column, or every whitened component, has variance 1 before: the mean square length is
/// their number. The cut stays at as many deviations as it was.
void fit_length(double length, Bundle& bundle) {
  const bool whitened = bundle.rotate && bundle.rotate->whiten;
  const size_t variances = whitened ? bundle.rotate->explained.size() : bundle.select.size();
  const double factor = std::sqrt(static_cast<double>(variances)) / length;
  for (uint64_t column : bundle.select) bundle.scale[column] *= factor;
  bundle.cut /= factor;
}

/// A record has one leaf in every tree, so that its leaves have this length exactly.
Result<void> fit_leaves(const Trees& trees, double length, Bundle& bundle) {
  check(trees.columns == bundle.encoded.size() && !trees.trees.empty());
  bundle.trees = {trees, length / std::sqrt(static_cast<double>(trees.trees.size()))};
  if (const size_t features = bundle.features().size(); features >= kColumnsMax)
    return cannot(std::to_string(features) + " features, more than 4095",
                  "Grow fewer trees, or keep fewer columns.");
  return {};
}

Result<void> fit_length_and_leaves(const FitOptions& options, Bundle& bundle) {
  if (!options.trees && !options.length) return {};
  const double length = options.length.value_or(kLengthBesideLeaves);
  fit_length(length, bundle);
  if (options.trees) TRY(fit_leaves(*options.trees, length, bundle));
  return {};
}

/// The smallest of `values` that at least 99.9 % of them do not exceed.
double nearly_largest(std::vector<double> values) {
  const size_t at = (values.size() * 999 + 999) / 1000 - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void fit_constants(const Rows& pilot, Bundle& bundle) {
  Transform transform(bundle);
  std::vector<double> z(transform.features()), l1, l2;
  for (size_t i = 0; i < pilot.size(); ++i) {
    transform.apply(pilot.row(i), z);
    double sum = 0, squares = 0;
    for (double value : z) sum += std::fabs(value), squares += value * value;
    l1.push_back(sum), l2.push_back(std::sqrt(squares));
  }
  bundle.max_l1 = nearly_largest(std::move(l1));
  bundle.max_l2 = nearly_largest(std::move(l2));
}

Result<void> check_fourier(const FitOptions& options) {
  if (!options.fourier) return {};
  if (options.trees || options.length)
    return cannot("Fourier features go neither with trees nor with a length",
                  "Their length is about 1 already; take leaves or Fourier features.");
  if (options.fourier->features < 1 || options.fourier->features >= kColumnsMax)
    return cannot("Fourier features must be from 1 to 4095", "For example --fourier 200.");
  if (!(options.fourier->scale >= 1e-6 && options.fourier->scale <= 1e6))
    return cannot("the scale of Fourier features must be from 1e-6 to 1e6",
                  "About the distance at which two records stop being alike, for example 3.");
  return {};
}

Result<void> check_options(const Rows& pilot, const FitOptions& options) {
  if (pilot.size() < 2) return cannot("the pilot has fewer than 2 rows", "Use more pilot rows.");
  if (options.top > 0 && options.by == Bundle::SelectBy::kAll)
    return cannot("top needs a rule", "Keep columns by correlation or by variance.");
  if (options.cut && (options.components > 0 || options.whiten))
    return cannot("a cut does not go with principal components",
                  "It moves single columns: leave it out, or the components.");
  for (const auto& [name, value] : {std::pair{"cut", options.cut}, {"length", options.length}})
    if (value && !(*value >= 1e-6 && *value <= 1e6))
      return cannot(std::string("the ") + name + " must be from 1e-6 to 1e6",
                    "For example --cut 4 --length 2.");
  return check_fourier(options);
}

Bundle bundle_for(const Schema& schema) {
  Bundle bundle;
  bundle.made_from.columns = columns_hash(schema);
  for (const Column& column : schema.columns) bundle.input.push_back(column.name);
  bundle.encoded = schema.encoded();
  return bundle;
}

Bundle bundle_for(const Rows& pilot, const Schema& schema, const Hash& pilot_hash) {
  Bundle bundle = bundle_for(schema);
  bundle.made_from.pilot = pilot_hash;
  bundle.made_from.rows = pilot.size();
  check(bundle.encoded.size() == pilot.columns());
  return bundle;
}

}  // namespace

Bundle bounds_bundle(const Rows& pilot, const Schema& schema, const Hash& pilot_hash) {
  Bundle bundle = bundle_for(pilot, schema, pilot_hash);
  fit_bounds(schema, bundle);
  check(bundle.mean.size() == bundle.encoded.size());
  fit_constants(pilot, bundle);
  return bundle;
}

Bundle bounds_bundle(const Schema& schema) {
  Bundle bundle = bundle_for(schema);
  fit_bounds(schema, bundle);
  const auto columns = static_cast<double>(schema.columns.size());
  bundle.max_l1 = columns;
  bundle.max_l2 = std::sqrt(columns);
  return bundle;
}

double longest_by_bounds(const Schema& schema) {
  return std::sqrt(static_cast<double>(schema.columns.size() + (schema.bias ? 1 : 0)));
}

double longest_encoded(const Schema& schema) {
  double squares = schema.bias ? 1 : 0;
  for (const Column& column : schema.columns) {
    const auto [low, high] = one_hot(column) ? Ends{0, 1} : ends_of(column);
    const double most = std::max(std::fabs(low), std::fabs(high));
    squares += most * most;
  }
  return std::sqrt(squares);
}

Schema encoding_of(const Schema& schema) {
  Schema plain = schema;
  plain.bias = false;
  plain.bundle.reset();
  return plain;
}

Result<Bundle> fit_bundle(const Rows& pilot, const Schema& schema, const Hash& pilot_hash,
                          const FitOptions& options) {
  TRY(check_options(pilot, options));
  Bundle bundle = bundle_for(pilot, schema, pilot_hash);
  fit_standard(pilot, bundle);
  TRY(fit_select(pilot, options, bundle));
  fit_cut(options, bundle);
  TRY(fit_rotate(pilot, options, bundle));
  bundle.fourier = options.fourier;
  TRY(fit_length_and_leaves(options, bundle));
  fit_constants(pilot, bundle);
  return bundle;
}

}  // namespace parley::data
