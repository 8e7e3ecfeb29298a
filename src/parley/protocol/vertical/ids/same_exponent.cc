#include "parley/protocol/vertical/ids/same_exponent.h"

#include <algorithm>
#include <optional>

#include "parley/protocol/vertical/pads.h"

namespace parley::protocol::ot {
namespace {

ByteView view(std::span<const Element> elements) {
  return {reinterpret_cast<const uint8_t*>(elements.data()), elements.size_bytes()};
}

Error not_proved() {
  return {Code::kIntegrity, "a list that was not made with one exponent",
          "The other owner has not kept to the protocol: ask there."};
}

/// What the coefficients follow from.
Hash seed_of(const Direction& direction, const Element& a, const TwoLists& lists) {
  Hash seed;
  const ByteView rest[] = {a, view(lists.given), view(lists.made)};
  session_hash(direction, "one exponent", {}, rest, seed);
  return seed;
}

/// Sum of r_i times element i.
Result<Element> combined(const Hash& seed, std::span<const Element> elements) {
  KeyedEntropy entropy(seed);
  std::optional<Element> total;
  for (const Element& element : elements) {
    std::array<uint8_t, 16> bytes;
    for (size_t half = 0; half < 16; half += 8) {
      uint64_t word = entropy.word();
      for (size_t k = 0; k < 8; ++k, word >>= 8) bytes[half + k] = static_cast<uint8_t>(word);
    }
    const Element part = TRY(Scalar::from(bytes).times(element));
    total = total ? TRY(sum(*total, part)) : part;
  }
  if (!total || !is_element(*total)) return not_proved();
  return *total;
}

struct Points {
  Element a{}, x{}, y{}, t{}, t_x{};
};

Scalar challenge_of(const Direction& direction, const Points& points) {
  std::array<uint8_t, 64> wide;
  const ByteView rest[] = {points.a, points.x, points.y, points.t, points.t_x};
  session_hash(direction, "exponent challenge", {}, rest, wide);
  return Scalar::from(wide);
}

}  // namespace

Result<ExponentProof> prove_exponent(const Direction& direction, const Scalar& secret,
                                     const TwoLists& lists, Entropy& entropy) {
  Points points{.a = secret.of_generator()};
  points.x = TRY(combined(seed_of(direction, points.a, lists), lists.given));
  points.y = TRY(secret.times(points.x));
  const Scalar t = Scalar::draw(entropy);
  points.t = t.of_generator();
  points.t_x = TRY(t.times(points.x));
  const Scalar challenge = challenge_of(direction, points);
  return ExponentProof{challenge.bytes(), t.plus(challenge, secret).bytes()};
}

Result<void> check_exponent(const Direction& direction, const Element& generator_times,
                            const TwoLists& lists, const ExponentProof& proof) {
  if (lists.given.size() != lists.made.size() || lists.made.empty()) return not_proved();
  const Scalar challenge = TRY(Scalar::read(proof.challenge));
  const Scalar response = TRY(Scalar::read(proof.response));
  const Hash seed = seed_of(direction, generator_times, lists);
  Points points{.a = generator_times};
  points.x = TRY(combined(seed, lists.given));
  points.y = TRY(combined(seed, lists.made));
  points.t = TRY(difference(response.of_generator(), TRY(challenge.times(points.a))));
  points.t_x = TRY(difference(TRY(response.times(points.x)), TRY(challenge.times(points.y))));
  if (challenge_of(direction, points).bytes() != proof.challenge) return not_proved();
  return {};
}

}  // namespace parley::protocol::ot
