// What a mechanism is: a way to add noise and what one use of it costs. The cost sits next to the
// noise, so that what is accounted and what is drawn cannot drift apart.
#pragma once

#include <openssl/crypto.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/base/result.h"
#include "parley/ledger.h"

namespace parley::ledger {
class Ledger;
}

namespace parley::privacy {

using parley::Track;

/// The price of one release: epsilon on the pure track or rho on the zCDP track, and the
/// mechanism's own delta; both never below the exact value.
struct Cost {
  Track track;
  double amount;
  double delta = 0;
};

template <class M>
concept Mechanism = requires(const M& m, double sensitivity, Entropy& entropy) {
  typename M::Norm;  // in which the sensitivity is measured
  { M::kName } -> std::convertible_to<std::string_view>;
  { m.sample(entropy) } -> std::same_as<int64_t>;         // the noise of one coordinate
  { m.cost(sensitivity) } -> std::same_as<Cost>;          // of releasing a whole vector once
  { m.event(sensitivity) } -> std::same_as<std::string>;  // DpEvent JSON, for any accountant
};

/// Noise drawn before the query it will answer. It cannot be copied; moving from it empties it, and
/// what is not used is wiped.
template <Mechanism M>
class Drawn {
 public:
  Drawn(M mechanism, size_t dimension, Entropy& entropy)
      : mechanism_(std::move(mechanism)), noise_(dimension) {
    // A cost that depends on the number of coordinates is charged for exactly these.
    if constexpr (requires { mechanism_.dimension(); }) check(dimension == mechanism_.dimension());
    for (int64_t& coordinate : noise_) coordinate = mechanism_.sample(entropy);
  }
  Drawn(Drawn&& other) noexcept
      : mechanism_(other.mechanism_), noise_(std::exchange(other.noise_, {})) {}
  Drawn& operator=(Drawn&&) = delete;
  ~Drawn() { OPENSSL_cleanse(noise_.data(), noise_.size() * sizeof(int64_t)); }

  const M& mechanism() const { return mechanism_; }

 private:
  friend class ledger::Ledger;
  M mechanism_;
  std::vector<int64_t> noise_;
};

}  // namespace parley::privacy
