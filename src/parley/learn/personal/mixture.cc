#include "parley/learn/personal/mixture.h"

#include <cmath>
#include <limits>
#include <map>

#include "parley/base/math/portable.h"
#include "parley/base/result.h"

namespace parley::learn {

double mixture_temperature(const Losses& loss, double smallest_loss) {
  const auto* logistic = std::get_if<Logistic>(&loss);
  return logistic != nullptr ? 4 * logistic->weights.largest() : 8 * smallest_loss;
}

std::vector<double> mixture_weights(std::span<const double> losses, std::span<const double> priors,
                                    size_t rows, double temperature) {
  check(losses.size() == priors.size() && temperature >= 0);
  double smallest = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < losses.size(); ++k)
    if (priors[k] > 0 && losses[k] < smallest) smallest = losses[k];
  check(std::isfinite(smallest));
  std::vector<double> weights(losses.size());
  double sum = 0;
  for (size_t k = 0; k < losses.size(); ++k) {
    const double worse = static_cast<double>(rows) * (losses[k] - smallest);
    const double exponent = worse > 0 ? worse / temperature : worse;  // NaN stays.
    if (priors[k] > 0 && exponent < 600) weights[k] = priors[k] * portable_exp(-exponent);
    sum += weights[k];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> equal_priors(std::span<const int> groups) {
  std::map<int, size_t> sizes;
  for (int group : groups) ++sizes[group];
  std::vector<double> priors;
  for (int group : groups) priors.push_back(1 / static_cast<double>(sizes.size() * sizes[group]));
  return priors;
}

}  // namespace parley::learn
