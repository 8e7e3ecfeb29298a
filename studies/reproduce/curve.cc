#include "studies/reproduce/curve.h"

#include <fmt/format.h>

#include <cmath>

namespace parley::reproduce {

void Curve::add(double at, const Estimate& estimate) {
  x.push_back(at), y.push_back(estimate.value), error.push_back(estimate.error);
}

Estimate Curve::slope_above(double least) const {
  Curve part;
  for (size_t k = 0; k < x.size(); ++k)
    if (y[k] >= least) part.add(x[k], {y[k], error[k]});
  return part.x.size() < 2 ? Estimate{} : part.slope();
}

Estimate Curve::slope_between(size_t first, size_t last) const {
  const auto part = [&](const std::vector<double>& values) {
    return std::span(values).subspan(first, last - first + 1);
  };
  return log_slope(part(x), part(y), part(error));
}

Series Curve::series(std::string name, bool sound) const {
  return {.name = std::move(name), .x = x, .y = y, .error = error, .sound = sound};
}

Series Curve::line(double slope, std::string name) const {
  const size_t middle = x.size() / 2;
  return theory(std::move(name),
                [&](double at) { return y[middle] * std::pow(at / x[middle], slope); });
}

Series Curve::theory(std::string name, const std::function<double(double)>& at) const {
  Series line{.name = std::move(name), .kind = Series::Kind::kTheory, .x = x};
  for (double value : x) line.y.push_back(at(value));
  return line;
}

Measure measured(std::string quantity, const Estimate& estimate) {
  return {.quantity = std::move(quantity), .value = estimate.value, .error = estimate.error};
}

Measure beside(std::string quantity, const Estimate& estimate) {
  Measure measure = measured(std::move(quantity), estimate);
  measure.decides = false;
  return measure;
}

Measure slope_of_two(std::string quantity, const Estimate& slope) {
  Measure measure = measured(std::move(quantity), slope);
  measure.paper = -2, measure.least = -2.1, measure.most = -1.9;
  return measure;
}

std::string epsilon_text(double epsilon) { return fmt::format("ε = {:g}", epsilon); }

}  // namespace parley::reproduce
