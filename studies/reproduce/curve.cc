#include "studies/reproduce/curve.h"

#include <fmt/format.h>

#include <cmath>

#include "parley/base/math/number.h"

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

Measure between(std::string quantity, const Estimate& estimate, double least, double most) {
  Measure measure = measured(std::move(quantity), estimate);
  measure.least = least, measure.most = most;
  return measure;
}

Measure compared(std::string tally, std::string quantity, const Estimate& estimate, double least,
                 double most) {
  Measure measure = between(std::move(quantity), estimate, least, most);
  measure.tally = std::move(tally), measure.decides = false;
  return measure;
}

double matched(const Study& study, double epsilon, double named, double size) {
  return study.data.empty() || size >= named ? epsilon : epsilon * named / size;
}

std::vector<double> matched(const Study& study, const std::vector<double>& epsilons, double named,
                            double size) {
  std::vector<double> result;
  for (double epsilon : epsilons) result.push_back(matched(study, epsilon, named, size));
  return result;
}

std::string matched_words(const Study& study, double named, double size) {
  if (study.data.empty() || size >= named) return "";
  return fmt::format(
      " The file has {} records for each owner where the claim names {}; every ε was taken {:.3g} "
      "times as large, so that n_i ε, and with it the noise on a mean, is the claim's.",
      grouped(uint64_t(size)), grouped(uint64_t(named)), named / size);
}

Measure slope_of_two(std::string quantity, const Estimate& slope) {
  Measure measure = measured(std::move(quantity), slope);
  measure.kind = Quantity::kExponent;
  measure.paper = -2, measure.least = -2.1, measure.most = -1.9;
  return measure;
}

std::string epsilon_text(double epsilon) { return fmt::format("ε = {:g}", epsilon); }

}  // namespace parley::reproduce
