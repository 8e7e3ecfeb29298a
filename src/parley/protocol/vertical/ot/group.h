// The prime-order group ristretto255 of libsodium: elements and scalars, none of them invalid or
// neutral.
#pragma once

#include <array>

#include "parley/base/bytes.h"
#include "parley/base/entropy.h"
#include "parley/base/result.h"

namespace parley::protocol::ot {

using Element = std::array<uint8_t, 32>;

/// A secret exponent, uniform. Wiped at the end.
class Scalar {
 public:
  static Scalar draw(Entropy& entropy);
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  Scalar(Scalar&& other) noexcept;
  Scalar& operator=(Scalar&& other) noexcept;
  ~Scalar();

  /// This many times the generator.
  Element of_generator() const;
  /// This many times the element. An error for bytes that are no element, and for the neutral one.
  Result<Element> times(const Element& element) const;

 private:
  Scalar() = default;
  std::array<uint8_t, 32> bytes_{};
};

/// The element that 64 hashed or random bytes stand for.
Element element_from(const std::array<uint8_t, 64>& bytes);
Element draw_element(Entropy& entropy);

/// An error for bytes that are no element.
Result<Element> sum(const Element& a, const Element& b);
Result<Element> difference(const Element& a, const Element& b);

/// Is it an element, and not the neutral one?
bool is_element(const Element& bytes);

}  // namespace parley::protocol::ot
