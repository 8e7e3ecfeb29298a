// From released moments to rows that have them.
#include <algorithm>
#include <cmath>

#include "parley/base/math/noise_floor.h"
#include "parley/base/math/number.h"
#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"
#include "parley/data/transforms/paid_moments.h"
#include "parley/data/transforms/principal.h"

namespace parley::data {
namespace {

/// The joint law of the numbers of w after the first.
struct Normal {
  std::vector<double> mean;
  PrincipalAxes axes;
};

Result<void> check_same(std::span<const PaidMoments> owners, const Schema& schema) {
  const size_t q = moment_columns(schema);
  if (owners.empty()) return Error{Code::kInvalid, "no moments are given"};
  for (const PaidMoments& each : owners) {
    if (each.columns != columns_hash(schema) || each.upper.size() != q * (q + 1) / 2)
      return Error{Code::kInvalid,
                   each.owner + "'s moments are of other columns than the charter's",
                   "Release them anew for this charter, which costs again."};
    if (each.charter != owners[0].charter)
      return Error{Code::kInvalid, "the moments of " + each.owner + " and " + owners[0].owner +
                                       " were paid under different charters"};
    const auto same = std::count_if(owners.begin(), owners.end(),
                                    [&](const auto& other) { return other.owner == each.owner; });
    if (same > 1) return Error{Code::kInvalid, each.owner + "'s moments are given twice"};
  }
  return {};
}

Normal joint_law(std::span<const PaidMoments> owners, size_t q) {
  double rows = 0, diagonal = 0, beside = 0;
  for (const PaidMoments& each : owners) rows += static_cast<double>(each.rows);
  Square joint{q};
  for (const PaidMoments& each : owners) {
    const double part = static_cast<double>(each.rows) / rows;
    diagonal += part * part * each.deviation * each.deviation;
    beside += part * part * each.beside * each.beside;
    size_t next = 0;
    for (size_t j = 0; j < q; ++j)
      for (size_t k = j; k < q; ++k) joint(j, k) += part * each.upper[next++];
  }
  const double size = std::fmax(joint(0, 0), .5);  // 1, but for noise and shrunk records
  Normal law{.mean = {}, .axes = {}};
  for (size_t j = 1; j < q; ++j) law.mean.push_back(std::clamp(joint(0, j) / size, -1.0, 1.0));
  Square covariance{q - 1};
  for (size_t j = 1; j < q; ++j)
    for (size_t k = j; k < q; ++k)
      covariance(j - 1, k - 1) = covariance(k - 1, j - 1) =
          joint(j, k) / size - law.mean[j - 1] * law.mean[k - 1];
  law.axes = principal_axes(covariance);
  const double deviation = std::sqrt(std::fmax(diagonal, beside));
  const double floor = std::fmax(noise_floor(deviation, 1, q - 1), 1e-12);
  for (double& value : law.axes.values) value = std::fmax(value, floor);
  return law;
}

std::vector<double> drawn(const Normal& law, SeededRandom& random) {
  std::vector<double> w = law.mean;
  for (size_t k = 0; k < w.size(); ++k) {
    const double length = std::sqrt(law.axes.values[k]) * random.normal();
    for (size_t j = 0; j < w.size(); ++j) w[j] += length * law.axes.vectors[k * w.size() + j];
  }
  return w;
}

std::string in_csv(const std::string& text) {
  std::string result = "\"";
  for (char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string level_of(const std::vector<std::string>& levels, size_t place) {
  if (place < levels.size()) return in_csv(levels[place]);
  std::string other = "other";  // Anything that is no level.
  while (std::find(levels.begin(), levels.end(), other) != levels.end()) other += "*";
  return in_csv(other);
}

double between(double w, double low, double high) {
  return std::clamp((low + high) / 2 + w * (high - low) / 2, low, high);
}

std::string number_of(const Column& column, double w) {
  if (!column.log) return shortest(between(w, column.low, column.high));
  const double inner = between(w, portable_log1p(column.low), portable_log1p(column.high));
  return shortest(std::clamp(portable_exp(inner) - 1, column.low, column.high));
}

/// One cell from the part of w that encodes it, which it takes off.
std::string cell_of(const Column& column, std::span<const double>& w, SeededRandom& random) {
  const size_t levels = column.levels.size() + (column.other ? 1 : 0);
  if (column.kind == Column::Kind::kNumber || column.encode == Column::Encode::kInteger) {
    const double here = w.front();
    w = w.subspan(1);
    if (column.kind == Column::Kind::kNumber) return number_of(column, here);
    const double last = static_cast<double>(levels - 1);
    return level_of(column.levels, size_t(std::rint(between(here, 0, std::fmax(last, 0)))));
  }
  std::vector<double> shares;
  double sum = 0;
  for (size_t k = 0; k < levels; ++k) {
    shares.push_back(std::fmax((w[k] + 1) / 2, 0));
    sum += shares.back();
  }
  for (double& share : shares) share = sum > 0 ? share / sum : 1 / static_cast<double>(levels);
  w = w.subspan(levels);
  return level_of(column.levels, size_t(random.choice(shares)));
}

std::string target_of(const Target& target, double w, SeededRandom& random) {
  if (target.levels.empty()) return shortest(between(w, target.low, target.high));
  return in_csv(target.levels[random.uniform() < (1 + w) / 2 ? 1 : 0]);
}

uint64_t seed_of(std::span<const PaidMoments> owners) {
  TupleBytes all;
  for (const PaidMoments& each : owners) all.add(to_json(each));
  return read_little_endian(all.sha256().data());
}

}  // namespace

std::vector<PaidMoments> with_more_noise(std::span<const PaidMoments> owners, uint64_t seed) {
  std::vector<PaidMoments> again(owners.begin(), owners.end());
  SeededRandom random(seed, 7);
  for (PaidMoments& each : again) {
    size_t next = 0;
    for (size_t q = size_t(std::sqrt(2 * each.upper.size())); q > 0; --q)
      for (size_t k = 0; k < q; ++k)
        each.upper[next++] += (k == 0 ? each.deviation : each.beside) * random.normal();
  }
  return again;
}

Result<std::string> drawn_pilot(std::span<const PaidMoments> owners, const Schema& schema,
                                uint64_t count) {
  TRY(check_same(owners, schema));
  const Normal law = joint_law(owners, moment_columns(schema));
  SeededRandom random(seed_of(owners), 0);
  std::string text;
  for (const Column& column : schema.columns) text += in_csv(column.name) + ",";
  text += in_csv(schema.target.column) + "\n";
  for (uint64_t i = 0; i < count; ++i) {
    const std::vector<double> w = drawn(law, random);
    std::span<const double> rest(w);
    for (const Column& column : schema.columns) text += cell_of(column, rest, random) + ",";
    text += target_of(schema.target, rest.front(), random) + "\n";
  }
  return text;
}

}  // namespace parley::data
