// 128 oblivious transfers of keys, with which an extension begins (Masny and Rindal 2019, on
// ristretto255, secure against parties that deviate in the random oracle model).
//
// The roles are those of the extension: its *receiver* R holds both keys of every base transfer,
// its *sender* S chooses one of the two, by a bit of its delta.
//   R: y, sends Y = y G                                                             32 bytes
//   S: for every j, with b = delta_j: r_j,1-b is a random element, r_j,b = s_j G - Hg(b, r_j,1-b);
//      sends both                                                                8,192 bytes
//   key of (j, b): a hash of the point y (r_j,b + Hg(b, r_j,1-b)) at R, s_j Y at S, and of all that
//      was sent for j.
// Both elements that S sends look random, so R learns nothing about delta; S knows the discrete
// logarithm of one point only, so it learns one key. (Chou and Orlandi's transfers are not used:
// what is sent there can be changed without notice.)
#pragma once

#include <array>

#include "parley/base/result.h"
#include "parley/protocol/vertical/ot/group.h"
#include "parley/protocol/vertical/ot/hashes.h"

namespace parley::protocol::ot {

inline constexpr size_t kBase = 128;

struct BaseOffer {
  Element y{};
};
struct BaseChoice {
  std::array<std::array<Element, 2>, kBase> r{};
};

/// Both keys of each base transfer: R's.
using KeyPairs = Wiped<std::array<std::array<Block, 2>, kBase>>;

/// R's side.
class BaseReceiver {
 public:
  BaseReceiver(const Direction& direction, Entropy& entropy);
  BaseOffer offer() const { return {y_.of_generator()}; }
  /// An error where S sent something that is no element.
  Result<KeyPairs> keys(const BaseChoice& choice) const;

 private:
  Direction direction_;
  Scalar y_;
};

/// What S has of the base transfers: delta, and the key that each of its bits chose.
struct ChosenKeys {
  Block delta;
  std::array<Block, kBase> keys{};
  ~ChosenKeys() { wipe(this, sizeof *this); }
};

struct BaseSent {
  BaseChoice choice;
  ChosenKeys chosen;
};

/// S's side, one step: draws a delta, which serves no other session.
Result<BaseSent> choose_keys(const Direction& direction, const BaseOffer& offer, Entropy& entropy);

}  // namespace parley::protocol::ot
