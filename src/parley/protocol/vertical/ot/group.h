// The prime-order group ristretto255 of libsodium: elements and scalars, none of them invalid or
// neutral.
#pragma once

#include <array>

#include "parley/base/bytes.h"
#include "parley/base/entropy.h"
#include "parley/base/result.h"

namespace parley::protocol::ot {

using Element = std::array<uint8_t, 32>;
using ScalarBytes = std::array<uint8_t, 32>;

/// An exponent, secret and uniform unless it was read or made of short bytes. Wiped at the end.
class Scalar {
 public:
  static Scalar draw(Entropy& entropy);
  /// That 64 hashed bytes stand for: uniform.
  static Scalar from(const std::array<uint8_t, 64>& bytes);
  /// That 16 bytes stand for: a coefficient below 2^128.
  static Scalar from(const std::array<uint8_t, 16>& bytes);
  /// An error for bytes that are not reduced.
  static Result<Scalar> read(const ScalarBytes& bytes);
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  Scalar(Scalar&& other) noexcept;
  Scalar& operator=(Scalar&& other) noexcept;
  ~Scalar();

  /// This many times the generator.
  Element of_generator() const;
  /// This many times the element. An error for bytes that are no element, and for the neutral one.
  Result<Element> times(const Element& element) const;

  /// This plus a product of two others.
  Scalar plus(const Scalar& factor, const Scalar& other) const;
  Scalar inverse() const;
  /// Of one that is public.
  const ScalarBytes& bytes() const { return bytes_; }

 private:
  Scalar() = default;
  ScalarBytes bytes_{};
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
