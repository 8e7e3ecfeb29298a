// The federated paper's Algorithm 1 to the letter: every party adds noise of its own to every local
// step, and models are averaged every K steps.
//
// NOT PRIVATE as claimed. Equation (2) is the noise that the average needs, but every party draws
// it, so that the average has 1/m of its variance: a claim of 1 is 2.72 for ten parties. For K > 1
// nothing is proved: local steps pass noise through a map that is not linear. And slopes are
// assumed to be bounded, not clipped (theory (R13); the auditor's
// planted "per-party-noise").
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "studies/paper/not_private.h"

namespace parley::paper {

struct FederatedRule {
  int64_t rounds = 200;     // T, all local steps
  int64_t local_steps = 1;  // K
  double lipschitz = 1;     // G
  double epsilon = 1, delta = 1e-5;
  std::function<double(int64_t t)> step{};  // eta_t, from t = 1
};

/// sigma of equation (2), `smallest` being the records of the smallest party.
double claimed_deviation(const FederatedRule& rule, size_t parties, uint64_t smallest);

/// grad J_j at a point.
using PartyGradient = std::function<std::vector<double>(size_t party, std::span<const double> at)>;

/// Hears the parties' models after step t; they are one where t is a multiple of K.
using AfterStep = std::function<void(int64_t t, const std::vector<std::vector<double>>& models)>;

/// The average after the last step; before that parties start at 0.
NotPrivate<std::vector<double>> federated(
    const FederatedRule& rule, size_t parties, uint64_t smallest, size_t dimension,
    const PartyGradient& gradient, Entropy& entropy,
    const AfterStep& after = [](int64_t, const auto&) {});

}  // namespace parley::paper
