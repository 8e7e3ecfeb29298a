// Every mechanism that may touch private data. A line here is a privacy review.
#pragma once

#include <type_traits>
#include <variant>

#include "parley/privacy/mechanism/gaussian.h"
#include "parley/privacy/mechanism/gaussian_share.h"
#include "parley/privacy/mechanism/laplace.h"
#include "parley/privacy/mechanism/skellam.h"

namespace parley::privacy {

/// For answers that leave as they are.
using Mechanisms = std::variant<Laplace, Gaussian, Skellam>;

/// For answers that leave only as a sum over owners, masked until then: each carries a share of the
/// noise, and is charged for the noise of the sum. Released alone it would be too cheap.
using SharedMechanisms = std::variant<GaussianShare, SkellamShare>;

template <class M, class... Known>
constexpr bool is_listed(std::type_identity<std::variant<Known...>>) {
  return (std::same_as<M, Known> || ...);
}

/// The only mechanisms a ledger can charge for an answer of its owner alone.
template <class M>
concept ListedMechanism = Mechanism<M> && is_listed<M>(std::type_identity<Mechanisms>{});

/// The only mechanisms that can be charged for a part of a sum.
template <class M>
concept SharedMechanism = Mechanism<M> && is_listed<M>(std::type_identity<SharedMechanisms>{});

template <class>
struct DrawnOf;
template <class... Known>
struct DrawnOf<std::variant<Known...>> {
  using type = std::variant<Drawn<Known>...>;
};
/// Noise drawn ahead, of whichever mechanism a job uses.
using DrawnNoise = DrawnOf<Mechanisms>::type;

}  // namespace parley::privacy
