#include "parley/protocol/verify/verify_epsilon.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace parley::protocol {
namespace {

Error unknown(const std::string& event) {
  return {Code::kIntegrity, "an event that this Parley cannot account for: " + event.substr(0, 200),
          "Verify with the version that trained."};
}

/// A member that must be a number above 0; 0 if it is not.
long double positive(const nlohmann::json& noise, const char* key) {
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

/// Of a sum of discrete Gaussian shares (Kairouz, Liu, Steinke 2021, Theorem 1): `honest` are
/// surely in it and nobody knows them, `present` at most.
long double rho_of_shares(const nlohmann::json& noise) {
  const long double variance = positive(noise, "variance"), honest = positive(noise, "honest"),
                    present = positive(noise, "present"), dimension = positive(noise, "dimension"),
                    sensitivity = positive(noise, "sensitivity");
  if (!(variance > 0 && honest >= 1 && present >= honest && present <= 1e6L && dimension >= 1 &&
        sensitivity > 0))
    return 0;
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  long double tau = 0;
  for (long double k = 1; k < present; ++k)
    tau += 10 * std::exp(-2 * kPi * kPi * variance * k / (k + 1));
  const long double gaussian = sensitivity * sensitivity / (honest * variance);
  const long double e = std::min(std::sqrt(gaussian + tau * dimension / 2),
                                 std::sqrt(gaussian) + tau * std::sqrt(dimension));
  return e * e / 2;
}

/// Of Skellam noise: docs/explanation/mechanisms/skellam.md.
long double rho_of_skellam(const nlohmann::json& noise) {
  const long double variance = positive(noise, "variance"), l2 = positive(noise, "sensitivity"),
                    dimension = positive(noise, "dimension");
  if (!(variance >= 2 && l2 > 0 && dimension >= 1)) return 0;
  const long double l1 = std::min(std::sqrt(dimension) * l2, l2 * l2);
  return (l2 * l2 + l1) * (1 / variance + 9 / (4 * variance * variance)) / 2;
}

}  // namespace

Result<void> SecondAccountant::add(const std::string& event) {
  const nlohmann::json json = nlohmann::json::parse(event, nullptr, false);
  if (!json.is_object() || json.size() != 1) return unknown(event);
  const std::string kind = json.begin().key();
  const nlohmann::json& noise = json.begin().value();
  const long double sensitivity = positive(noise, "sensitivity"), scale = positive(noise, "scale"),
                    variance = positive(noise, "variance");
  if (kind == "laplace" && sensitivity > 0 && scale > 0)
    pure_ += sensitivity / scale;
  else if (kind == "gaussian" && sensitivity > 0 && variance > 0)
    rho_ += sensitivity * sensitivity / (2 * variance);
  else if (kind == "gaussian_shares" && rho_of_shares(noise) > 0)
    rho_ += rho_of_shares(noise);
  else if (kind == "skellam" && rho_of_skellam(noise) > 0)
    rho_ += rho_of_skellam(noise);
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
