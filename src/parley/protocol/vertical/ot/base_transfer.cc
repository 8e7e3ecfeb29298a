#include "parley/protocol/vertical/ot/base_transfer.h"

#include <sodium.h>

namespace parley::protocol::ot {
namespace {

/// Hg(b, element) of transfer j.
Element hashed_point(const Direction& direction, uint32_t j, uint32_t b, const Element& element) {
  const uint32_t numbers[] = {j, b};
  const ByteView rest[] = {element};
  std::array<uint8_t, 64> wide;
  session_hash(direction, "point", numbers, rest, wide);
  return element_from(wide);
}

Block key_of(const Direction& direction, uint32_t j, uint32_t b, const Element& y,
             const std::array<Element, 2>& r, const Element& point) {
  const uint32_t numbers[] = {j, b};
  const ByteView rest[] = {y, r[0], r[1], point};
  uint8_t bytes[16];
  session_hash(direction, "base", numbers, rest, bytes);
  return std::bit_cast<Block>(bytes);
}

/// The pair (a, b) in this order if the bit is 0, else turned round, without a branch.
std::array<Element, 2> ordered(const Element& a, const Element& b, uint64_t bit) {
  const auto mask = static_cast<uint8_t>(mask_of(bit));
  std::array<Element, 2> pair{a, b};
  for (size_t i = 0; i < a.size(); ++i) {
    const auto swap = static_cast<uint8_t>((a[i] ^ b[i]) & mask);
    pair[0][i] ^= swap;
    pair[1][i] ^= swap;
  }
  return pair;
}

uint64_t bit_of(const Block& block, uint32_t j) {
  return (j < 64 ? block.low : block.high) >> (j % 64) & 1;
}

}  // namespace

BaseReceiver::BaseReceiver(const Direction& direction, Entropy& entropy)
    : direction_(direction), y_(Scalar::draw(entropy)) {}

Result<KeyPairs> BaseReceiver::keys(const BaseChoice& choice) const {
  const Element y = y_.of_generator();
  KeyPairs keys;
  for (uint32_t j = 0; j < kBase; ++j) {
    const auto& r = choice.r[j];
    for (uint32_t b = 0; b < 2; ++b) {
      if (!is_element(r[b]))
        return Error{Code::kIntegrity, "a base transfer that is no element of the group"};
      const Element base = TRY(sum(r[b], hashed_point(direction_, j, b, r[1 - b])));
      Element point = TRY(y_.times(base));
      keys[j][b] = key_of(direction_, j, b, y, r, point);
      sodium_memzero(point.data(), point.size());
    }
  }
  return keys;
}

Result<BaseSent> choose_keys(const Direction& direction, const BaseOffer& offer, Entropy& entropy) {
  if (!is_element(offer.y))
    return Error{Code::kIntegrity, "an offer of base transfers that is no element of the group"};
  BaseSent sent;
  sent.chosen.delta = draw_block(entropy);
  for (uint32_t j = 0; j < kBase; ++j) {
    const uint64_t bit = bit_of(sent.chosen.delta, j);
    const Scalar s = Scalar::draw(entropy);
    const Element random = draw_element(entropy);
    // Both hashes are made, and one is taken by a mask: time does not depend on delta.
    const Element hashed = ordered(hashed_point(direction, j, 0, random),
                                   hashed_point(direction, j, 1, random), bit)[0];
    const Element mine = TRY(difference(s.of_generator(), hashed));
    sent.choice.r[j] = ordered(mine, random, bit);
    Element point = TRY(s.times(offer.y));
    const Block zero = key_of(direction, j, 0, offer.y, sent.choice.r[j], point);
    const Block one = key_of(direction, j, 1, offer.y, sent.choice.r[j], point);
    sent.chosen.keys[j] = zero ^ ((zero ^ one) & mask_of(bit));
    sodium_memzero(point.data(), point.size());
  }
  return sent;
}

}  // namespace parley::protocol::ot
