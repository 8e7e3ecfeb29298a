#include "parley/protocol/verify_epsilon.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace parley::protocol {
namespace {

using Json = nlohmann::json;

Error unknown(const std::string& event) {
  return {Code::kIntegrity, "an event that this Parley cannot account for: " + event.substr(0, 200),
          "Verify with the version that trained."};
}

/// A member that must be a number above 0; 0 if it is not.
long double positive(const Json& noise, const char* key) {
  const bool there = noise.is_object() && noise.contains(key) && noise[key].is_number();
  return there ? std::max(0.0L, noise[key].get<long double>()) : 0;
}

/// One order of Canonne, Kamath, Steinke 2020, Proposition 12: alpha = 1 + e^x.
long double epsilon_at(long double x, long double rho, long double delta) {
  const long double alpha = 1 + std::exp(x);
  return rho * alpha + std::log1p(-1 / alpha) - std::log(delta * alpha) / (alpha - 1);
}

/// The least over all orders: the best of a coarse walk, then thirds.
long double converted(long double rho, long double delta) {
  long double best = -10;
  for (long double x = -10; x <= 20; x += 0.125L)
    if (epsilon_at(x, rho, delta) < epsilon_at(best, rho, delta)) best = x;
  long double low = best - 0.25L, high = best + 0.25L;
  for (int i = 0; i < 100; ++i) {
    const long double left = low + (high - low) / 3, right = high - (high - low) / 3;
    (epsilon_at(left, rho, delta) < epsilon_at(right, rho, delta) ? high : low) =
        epsilon_at(left, rho, delta) < epsilon_at(right, rho, delta) ? right : left;
  }
  return std::max(0.0L, epsilon_at(low, rho, delta));
}

}  // namespace

Result<void> SecondAccountant::add(const std::string& event) {
  const Json json = Json::parse(event, nullptr, false);
  if (!json.is_object() || json.size() != 1) return unknown(event);
  const std::string kind = json.begin().key();
  const Json& noise = json.begin().value();
  const long double sensitivity = positive(noise, "sensitivity"), scale = positive(noise, "scale"),
                    variance = positive(noise, "variance");
  if (kind == "laplace" && sensitivity > 0 && scale > 0)
    pure_ += sensitivity / scale;
  else if (kind == "gaussian" && sensitivity > 0 && variance > 0)
    rho_ += sensitivity * sensitivity / (2 * variance);
  else
    return unknown(event);
  return {};
}

double SecondAccountant::epsilon(double delta) const {
  if (rho_ == 0) return static_cast<double>(pure_);
  if (!(delta > 0 && delta < 1)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(pure_ + converted(rho_, delta));
}

bool SecondAccountant::agrees(double epsilon, double delta) const {
  const double ours = this->epsilon(delta);
  if (!std::isfinite(ours) || (rho_ == 0 && delta != 0)) return false;
  return std::abs(epsilon - ours) <= 1e-9 * ours;
}

}  // namespace parley::protocol
