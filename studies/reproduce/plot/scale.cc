#include "studies/reproduce/plot/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "parley/base/math/number.h"

namespace parley::reproduce {
namespace {

std::string raised(int exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

/// 1, 10 and 1,000 as they are, what has many zeros as a power.
std::string power_of_ten(int exponent) {
  if (exponent >= 0 && exponent <= 6) return grouped(static_cast<uint64_t>(std::pow(10, exponent)));
  if (exponent >= -3 && exponent < 0) return fmt::format("{:g}", std::pow(10, exponent));
  return "10" + raised(exponent);
}

}  // namespace

std::string times_ten_to(int exponent) { return "×10" + raised(exponent); }

std::string plain(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  if (value == 0) return "0";
  const double size = std::fabs(value);
  const std::string sign = value < 0 ? "−" : "";
  if (size >= std::min(1000., std::pow(10, digits)) && size < 1e7)
    return sign + grouped(static_cast<uint64_t>(std::llround(size)));
  if (size >= 0.001 && size < 1000) return sign + fmt::format("{:.{}g}", size, digits);
  const int exponent = static_cast<int>(std::floor(std::log10(size)));
  return sign + fmt::format("{:.{}g}", size / std::pow(10, exponent), digits) +
         times_ten_to(exponent);
}

Scale::Scale(const Axis& axis, const std::vector<double>& values, double from, double to,
             bool from_zero)
    : log_(axis.log), low_(HUGE_VAL), high_(-HUGE_VAL), from_(from), to_(to) {
  for (double value : values)
    if (has(value)) low_ = std::min(low_, value), high_ = std::max(high_, value);
  if (low_ > high_) low_ = log_ ? 0.1 : 0, high_ = 1;
  widen(from_zero);
  if (log_)
    set_log_ticks();
  else
    set_linear_ticks();
}

bool Scale::has(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

double Scale::place(double value) const {
  const auto inner = [&](double x) { return log_ ? std::log10(x) : x; };
  return (inner(value) - inner(low_)) / (inner(high_) - inner(low_));
}

double Scale::at(double value) const {
  return from_ + (to_ - from_) * std::clamp(place(value), 0., 1.);
}

void Scale::widen(bool from_zero) {
  if (log_) {
    const double margin = std::pow(high_ / low_, 0.04) * (high_ / low_ < 1.5 ? 1.3 : 1);
    low_ /= margin, high_ *= margin;
    return;
  }
  if (from_zero || (low_ >= 0 && low_ < 0.2 * high_)) low_ = std::min(low_, 0.);
  const double span = high_ > low_ ? high_ - low_ : std::max(std::fabs(high_), 1.);
  high_ += 0.04 * span;
  if (low_ != 0) low_ -= 0.04 * span;
}

void Scale::set_linear_ticks() {
  const double raw = (high_ - low_) / 7, unit = std::pow(10, std::floor(std::log10(raw)));
  const double step = unit * (raw / unit <= 1 ? 1 : raw / unit <= 2 ? 2 : raw / unit <= 5 ? 5 : 10);
  for (double k = std::ceil(low_ / step); k * step <= high_ * (1 + 1e-12); ++k)
    ticks_.push_back({k * step, plain(k * step, 6)});
}

void Scale::set_log_ticks() {
  const double decades = std::log10(high_ / low_);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 8)));
  for (int e = static_cast<int>(std::floor(std::log10(low_))); std::pow(10, e) <= high_; ++e)
    for (int digit = 1; digit < 10; ++digit) {
      const double value = digit * std::pow(10, e);
      if (value < low_ || value > high_ || (digit > 1 && decades > 8)) continue;
      const bool between = (decades < 2.2 && (digit == 2 || digit == 5)) || decades < 0.5;
      const bool named = digit == 1 ? e % every == 0 : between;
      ticks_.push_back({value, !named ? "" : digit == 1 ? power_of_ten(e) : plain(value)});
    }
}

}  // namespace parley::reproduce
