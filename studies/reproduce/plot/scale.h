// From numbers to places on paper: linear or logarithmic, with ticks at round numbers.
#pragma once

#include <string>
#include <vector>

#include "studies/reproduce/figure.h"

namespace parley::reproduce {

struct Tick {
  double value = 0;
  std::string label{};  // empty: a short tick between the labelled ones
};

class Scale {
 public:
  /// From pixel `from` (the smallest value) to `to`. The range is that of the values that can be
  /// drawn, widened a little; on a linear axis it starts at zero if `from_zero` or if zero is near.
  Scale(const Axis& axis, const std::vector<double>& values, double from, double to,
        bool from_zero = false);

  /// A value outside is drawn at the edge; nothing is drawn for one that has no place.
  double at(double value) const;
  bool has(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double place(double value) const;  // 0 .. 1 within the range
  void widen(bool from_zero);
  void set_linear_ticks();
  void set_log_ticks();

  bool log_;
  double low_, high_, from_, to_;
  std::vector<Tick> ticks_{};
};

/// 0.0117, 12.3, 10,000, 1.7×10⁻⁵: for people.
std::string plain(double value, int digits = 3);
/// ×10⁻⁵
std::string times_ten_to(int exponent);

}  // namespace parley::reproduce
