// The registry of losses. A new loss is one file in loss/ and one entry here: names, dispatch, the
// model file and the tests follow from it.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "parley/learn/loss/hinge.h"
#include "parley/learn/loss/huber.h"
#include "parley/learn/loss/logistic.h"
#include "parley/learn/loss/squared.h"

namespace parley::learn {

using Losses = std::variant<Squared, Hinge, Logistic, Huber>;

inline std::string_view name_of(const Losses& loss) {
  return std::visit([](const auto& known) { return known.kName; }, loss);
}

/// The labels are classes, -1 and +1, and the score's sign is the prediction.
inline bool two_classes(const Losses& loss) {
  return std::visit([](const auto& known) { return known.kTwoClasses; }, loss);
}

/// The largest slope over all scores.
inline double lipschitz_of(const Losses& loss) {
  return std::visit([](const auto& known) { return known.lipschitz(); }, loss);
}

/// The largest curvature; learn::kUnbounded where the slope jumps.
inline double smoothness_of(const Losses& loss) {
  return std::visit([](const auto& known) { return known.smoothness(); }, loss);
}

/// The listed loss of that name, with its default constants.
template <size_t kFirst = 0>
std::optional<Losses> loss_named(std::string_view name) {
  if constexpr (kFirst == std::variant_size_v<Losses>) {
    return std::nullopt;
  } else {
    using L = std::variant_alternative_t<kFirst, Losses>;
    return L::kName == name ? std::optional<Losses>(L{}) : loss_named<kFirst + 1>(name);
  }
}

}  // namespace parley::learn
