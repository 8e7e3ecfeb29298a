#include "parley/learn/trees/bins.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "parley/base/math/seeded_random.h"
#include "parley/base/memory/parallel.h"

namespace parley::learn {
namespace {

constexpr size_t kColumnsAtOnce = 8;  // as many doubles as a cache line has

/// A value and how many rows have it.
struct Value {
  double value = 0;
  size_t rows = 0;
};

/// Distinct values, ascending, or nothing if they are more than bins. Most columns are categories
/// or counts: no sorting then.
std::optional<std::vector<Value>> few_values(std::span<const double> values) {
  std::vector<Value> found;
  for (const double value : values) {
    const auto at = std::lower_bound(found.begin(), found.end(), value,
                                     [](const Value& a, double b) { return a.value < b; });
    if (at != found.end() && at->value == value)
      ++at->rows;
    else if (found.size() == kBinsMax)
      return std::nullopt;
    else
      found.insert(at, {value, 1});
  }
  return found;
}

/// Rows that tell the quantiles: all, or of more than 20,000 one out of each of 20,000 equal parts,
/// at random in its part so that no period in the rows' order shows; 78 rows a bin.
std::vector<double> sampled(std::span<const double> values) {
  constexpr size_t kEnough = 20'000;
  if (values.size() <= kEnough) return {values.begin(), values.end()};
  std::vector<double> sample(kEnough);
  SeededRandom random(0, 0);
  const double part = static_cast<double>(values.size()) / kEnough;
  for (size_t k = 0; k < kEnough; ++k) {
    const auto row = static_cast<size_t>((static_cast<double>(k) + random.uniform()) * part);
    sample[k] = values[std::min(row, values.size() - 1)];
  }
  return sample;
}

std::vector<Value> all_values(std::vector<double> sorted) {
  std::sort(sorted.begin(), sorted.end());
  std::vector<Value> found;
  for (const double value : sorted) {
    if (found.empty() || found.back().value != value) found.push_back({value, 0});
    ++found.back().rows;
  }
  return found;
}

/// At least `low` and below `high`, also where no number lies between the two.
double halfway(double low, double high) {
  const double middle = low + (high - low) / 2;
  return middle < high ? middle : low;
}

/// A bin is full when it has its share of the rows that the bins before it left.
std::vector<double> edges_between(const std::vector<Value>& values) {
  const bool all = values.size() <= kBinsMax;
  std::vector<double> edges;
  size_t in_bin = 0, left = 0;
  for (const Value& value : values) left += value.rows;
  for (size_t k = 0; k + 1 < values.size(); ++k) {
    in_bin += values[k].rows;
    if (!all && in_bin * (kBinsMax - edges.size()) < left) continue;
    edges.push_back(halfway(values[k].value, values[k + 1].value));
    left -= in_bin;
    in_bin = 0;
    if (edges.size() == kBinsMax - 1) break;
  }
  return edges;
}

/// `count` columns from `first` on, one after the other.
std::vector<double> gathered(const data::Rows& rows, size_t first, size_t count) {
  std::vector<double> columns(count * rows.size());
  by_window(rows, 0, rows.size(), [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (size_t j = 0; j < count; ++j) columns[j * rows.size() + i] = rows.row(i)[first + j];
  });
  return columns;
}

/// How many edges lie below: eight halvings without a branch that could be mispredicted.
uint8_t edges_below(const std::array<double, kBinsMax>& edges, double value) {
  size_t below = 0;
  for (size_t step = 128; step > 0; step /= 2) below += (edges[below + step - 1] < value) * step;
  return static_cast<uint8_t>(below);
}

Result<void> bin_column(std::span<const double> values, std::vector<double>& edges,
                        uint8_t* index) {
  edges = TRY(bin_edges(values));
  std::array<double, kBinsMax> padded;
  padded.fill(std::numeric_limits<double>::infinity());
  std::copy(edges.begin(), edges.end(), padded.begin());
  for (size_t i = 0; i < values.size(); ++i) index[i] = edges_below(padded, values[i]);
  return {};
}

}  // namespace

Result<std::vector<double>> bin_edges(std::span<const double> values) {
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    return Error{Code::kInvalid, "trees cannot be grown on a number that is not finite",
                 "Say in the schema what stands for a missing number."};
  const auto few = few_values(values);
  return edges_between(few ? *few : all_values(sampled(values)));
}

Result<Bins> bins_of(const data::Rows& rows, int threads) {
  if (rows.size() < 1 || rows.size() >> 31 != 0)
    return Error{Code::kInvalid,
                 "trees need from 1 to 2^31 - 1 rows, not " + std::to_string(rows.size())};
  Bins bins{.rows = rows.size(),
            .edges = std::vector<std::vector<double>>(rows.columns()),
            .index = std::vector<uint8_t>(rows.size() * rows.columns())};
  const size_t groups = (rows.columns() + kColumnsAtOnce - 1) / kColumnsAtOnce;
  std::vector<Result<void>> done(groups);
  each_in_parallel(threads, groups, [&](size_t group) {
    const size_t first = group * kColumnsAtOnce;
    const size_t count = std::min(kColumnsAtOnce, rows.columns() - first);
    const std::vector<double> columns = gathered(rows, first, count);
    for (size_t j = 0; j < count && done[group]; ++j)
      done[group] = bin_column(std::span(columns).subspan(j * rows.size(), rows.size()),
                               bins.edges[first + j], &bins.index[(first + j) * rows.size()]);
  });
  for (const Result<void>& group : done) TRY(group);
  return bins;
}

}  // namespace parley::learn
