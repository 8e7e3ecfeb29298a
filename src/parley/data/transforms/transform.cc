#include "parley/data/transforms/transform.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "parley/base/math/portable.h"
#include "parley/base/math/seeded_random.h"

namespace parley::data {
namespace {

constexpr double kTurn = 0x1.921fb54442d18p2;  // 2 pi

}  // namespace

/// Frequencies in turns: feature d takes, from stream d of the seed, a uniform phase and then one
/// normal number per input.
FourierNumbers fourier_numbers(const Bundle::Fourier& fourier, size_t inputs) {
  const size_t features = fourier.features;
  FourierNumbers numbers{std::vector<double>(features * inputs), std::vector<double>(features),
                         std::sqrt(2 / static_cast<double>(features))};
  for (size_t d = 0; d < features; ++d) {
    SeededRandom random(fourier.seed, d);
    numbers.offset[d] = random.uniform();
    for (size_t j = 0; j < inputs; ++j)
      numbers.matrix[j * features + d] = random.normal() / (fourier.scale * kTurn);
  }
  return numbers;
}

Transform::Transform(const Bundle& bundle)
    : inputs_(bundle.encoded.size()),
      select_(bundle.select),
      cut_(bundle.cut > 0 ? bundle.cut : std::numeric_limits<double>::infinity()),
      standard_(bundle.select.size()) {
  for (uint64_t column : select_) {
    mean_.push_back(bundle.mean[column]);
    scale_.push_back(bundle.scale[column]);
  }
  size_t width = select_.size();
  if (const auto& rotate = bundle.rotate) {
    const size_t components = rotate->explained.size();
    rotate_.offset.resize(components);
    for (size_t j = 0; j < width; ++j)
      for (size_t k = 0; k < components; ++k)
        rotate_.matrix.push_back(rotate->matrix[k * width + j]);
    width = components;
    rotated_.resize(width);
  }
  if (const auto& fourier = bundle.fourier) {
    FourierNumbers numbers = fourier_numbers(*fourier, width);
    fourier_ = {std::move(numbers.matrix), std::move(numbers.offset)};
    amplitude_ = numbers.amplitude;
  }
  if (!bundle.trees) return;
  leaves_.emplace(bundle.trees->trees);
  leaf_ = bundle.trees->leaf;
}

size_t Transform::features() const { return column_features() + (leaves_ ? leaves_->levels() : 0); }

size_t Transform::column_features() const {
  if (!fourier_.offset.empty()) return fourier_.offset.size();
  return rotated_.empty() ? standard_.size() : rotated_.size();
}

void Transform::apply(std::span<const double> encoded, std::span<double> z) {
  check(encoded.size() == inputs_ && z.size() == features());
  const size_t own = column_features();
  apply_to_columns(encoded, z.first(own));
  if (leaves_) leaves_->one_hot(encoded, leaf_, z.subspan(own));
}

void Transform::apply_to_columns(std::span<const double> encoded, std::span<double> z) {
  for (size_t j = 0; j < select_.size(); ++j)
    standard_[j] = std::clamp((encoded[select_[j]] - mean_[j]) / scale_[j], -cut_, cut_);
  std::span<const double> now = standard_;
  if (!rotated_.empty()) {
    rotate_.apply(now, rotated_);
    now = rotated_;
  }
  if (fourier_.offset.empty()) {
    std::copy(now.begin(), now.end(), z.begin());
    return;
  }
  fourier_.apply(now, z);
  for (double& value : z) value = amplitude_ * cos_of_turns(value);
}

void Transform::Linear::apply(std::span<const double> x, std::span<double> out) const {
  std::copy(offset.begin(), offset.end(), out.begin());
  const double* row = matrix.data();
  for (const double value : x) {
    for (size_t k = 0; k < out.size(); ++k) out[k] += row[k] * value;
    row += out.size();
  }
}

}  // namespace parley::data
