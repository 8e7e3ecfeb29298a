#include "parley/learn/vertical/cells/box_gradient.h"

#include <algorithm>
#include <cmath>

#include "parley/base/result.h"

namespace parley::learn {
namespace {

/// Of a label that is a number: fine enough to be told, coarse enough for kappa to be exact within
/// a hundredth.
constexpr double kFineKappa = 64;

LabelGrid label_of(const data::Target& target, double one) {
  if (!target.levels.empty()) return {.weight = 1};
  LabelGrid grid{.bits = kUsualBits};
  while (grid.bits > kFewestBits && one / grid.largest() < kFineKappa) --grid.bits;
  return grid;
}

/// Up, by more than the roundings of what was computed.
double up(double number) { return std::ceil(number * (1 + 0x1p-40)); }

}  // namespace

RowReach RowReach::of(const data::Schema& schema, int bits) {
  RowReach reach;
  const auto add = [&](double squares, double met) {
    const double largest = std::sqrt(squares);
    reach.squares += squares;
    reach.sum += largest;
    reach.largest = std::max(reach.largest, largest);
    reach.met += met;
  };
  for (const data::Column& column : schema.columns)
    add(largest_square(column), column.kind == data::Column::Kind::kNumber ? 1 : 2);
  if (schema.bias) add(std::ldexp(1, 2 * bits), 1);
  return reach;
}

BoxGradient BoxGradient::of(const data::Schema& schema, double box, int bits, size_t owners,
                            uint64_t rows) {
  BoxGradient grid{.box = box, .bits = bits, .row_bits = cell_bits(schema)};
  grid.reach = RowReach::of(schema, grid.row_bits);
  grid.owners = owners;
  grid.rows = rows;
  const double one = std::ldexp(static_cast<double>(grid.half()), grid.row_bits) / box;
  grid.label = label_of(schema.target, one);
  grid.kappa = static_cast<int64_t>(std::nearbyint(one / grid.label.largest()));
  return grid;
}

std::vector<int64_t> BoxGradient::nearest(std::span<const double> x) const {
  const auto least = -static_cast<double>(half()), most = static_cast<double>(half() - 1);
  std::vector<int64_t> n;
  for (const double each : x) {
    check(std::isfinite(each));
    const double steps = std::nearbyint(each / box * static_cast<double>(half()));
    n.push_back(static_cast<int64_t>(std::clamp(steps, least, most)));
  }
  return n;
}

double BoxGradient::unit() const {
  return box / std::ldexp(static_cast<double>(half()), 2 * row_bits);
}

double BoxGradient::largest_score() const {
  return static_cast<double>(half()) * reach.sum + static_cast<double>(kappa) * label.largest();
}

double BoxGradient::sensitivity() const {
  const double row = std::sqrt(reach.squares), h = static_cast<double>(half());
  if (owners > 2) return up(2 * row * largest_score());
  const double models = std::min(reach.squares * h * std::sqrt(reach.met), 2 * row * h * reach.sum);
  return up(models + 2 * row * static_cast<double>(kappa) * label.largest());
}

bool BoxGradient::fits(double deviation) const {
  const double sum = static_cast<double>(rows) * reach.largest * largest_score();
  return sum + 12 * deviation < 0x1p55;
}

}  // namespace parley::learn
