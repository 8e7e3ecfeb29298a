// Every mechanism that may touch private data. A line here is a privacy review.
#pragma once

#include <type_traits>
#include <variant>

#include "parley/privacy/mechanism/gaussian.h"
#include "parley/privacy/mechanism/laplace.h"

namespace parley::privacy {

using Mechanisms = std::variant<Laplace, Gaussian>;

template <class M, class... Known>
constexpr bool is_listed(std::type_identity<std::variant<Known...>>) {
  return (std::same_as<M, Known> || ...);
}

/// The only mechanisms a ledger can charge.
template <class M>
concept ListedMechanism = Mechanism<M> && is_listed<M>(std::type_identity<Mechanisms>{});

template <class>
struct DrawnOf;
template <class... Known>
struct DrawnOf<std::variant<Known...>> {
  using type = std::variant<Drawn<Known>...>;
};
/// Noise drawn ahead, of whichever mechanism a job uses.
using DrawnNoise = DrawnOf<Mechanisms>::type;

}  // namespace parley::privacy
