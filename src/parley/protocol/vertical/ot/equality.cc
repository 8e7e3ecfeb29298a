#include "parley/protocol/vertical/ot/equality.h"

#include <sodium.h>

namespace parley::protocol::ot {
namespace {

Element point_of(const Direction& direction, std::span<const uint64_t> words) {
  std::array<uint8_t, 64> wide;
  const ByteView rest[] = {{reinterpret_cast<const uint8_t*>(words.data()), words.size_bytes()}};
  session_hash(direction, "test", {}, rest, wide);
  const Element point = element_from(wide);
  wipe(wide.data(), wide.size());
  return point;
}

Hash committed_to(const Direction& direction, const Element& both) {
  Hash hash;
  const ByteView rest[] = {both};
  session_hash(direction, "opened", {}, rest, hash);
  return hash;
}

template <class Bytes32>
bool same(const Bytes32& a, const Bytes32& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

EqualityFirst::EqualityFirst(const Direction& direction, std::span<const uint64_t> words,
                             Entropy& entropy)
    : direction_(direction), scalar_(Scalar::draw(entropy)) {
  const Wiped<Element> point = point_of(direction, words);
  const auto hidden = scalar_.times(point);
  check(bool(hidden));  // A hashed point is neutral with probability 2^-252.
  a_ = *hidden;
}

Result<Element> EqualityFirst::reply(const EqualityAnswer& answer) {
  check(!both_);
  both_ = TRY(scalar_.times(answer.b));
  committed_ = answer.committed;
  return *both_;
}

bool EqualityFirst::conclude(const Element& opened) const {
  check(both_.has_value());
  return same(opened, *both_) && same(committed_to(direction_, opened), committed_);
}

EqualitySecond::EqualitySecond(const Direction& direction, std::span<const uint64_t> words,
                               Entropy& entropy)
    : direction_(direction), scalar_(Scalar::draw(entropy)), point_(point_of(direction, words)) {}

Result<EqualityAnswer> EqualitySecond::answer(const Element& a) {
  check(!both_);
  both_ = TRY(scalar_.times(a));
  return EqualityAnswer{TRY(scalar_.times(point_)), committed_to(direction_, *both_)};
}

std::optional<Element> EqualitySecond::conclude(const Element& reply) const {
  check(both_.has_value());
  if (!same(reply, *both_)) return std::nullopt;
  return both_;
}

}  // namespace parley::protocol::ot
