#include "parley/protocol/vertical/ot/group.h"

#include <sodium.h>

#include <algorithm>

namespace parley::protocol::ot {
namespace {

static_assert(sizeof(Element) == crypto_core_ristretto255_BYTES);

Error not_an_element() {
  return {Code::kIntegrity, "32 bytes that are no element of the group, or its neutral one"};
}

std::array<uint8_t, 64> draw_64(Entropy& entropy) {
  std::array<uint8_t, 64> bytes;
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = entropy.word();
    for (size_t k = 0; k < 8; ++k, word >>= 8) bytes[i + k] = static_cast<uint8_t>(word);
  }
  return bytes;
}

}  // namespace

Scalar Scalar::draw(Entropy& entropy) {
  std::array<uint8_t, 64> wide = draw_64(entropy);
  Scalar scalar = from(wide);
  sodium_memzero(wide.data(), wide.size());
  return scalar;
}

Scalar Scalar::from(const std::array<uint8_t, 64>& bytes) {
  Scalar scalar;
  crypto_core_ristretto255_scalar_reduce(scalar.bytes_.data(), bytes.data());
  return scalar;
}

Scalar Scalar::from(const std::array<uint8_t, 16>& bytes) {
  Scalar scalar;
  std::copy(bytes.begin(), bytes.end(), scalar.bytes_.begin());
  return scalar;
}

Result<Scalar> Scalar::read(const ScalarBytes& bytes) {
  std::array<uint8_t, 64> wide{};
  std::copy(bytes.begin(), bytes.end(), wide.begin());
  Scalar scalar = from(wide);
  if (scalar.bytes_ != bytes)
    return Error{Code::kIntegrity, "32 bytes that are no reduced exponent"};
  return scalar;
}

Scalar::Scalar(Scalar&& other) noexcept : bytes_(other.bytes_) {
  sodium_memzero(other.bytes_.data(), other.bytes_.size());
}

Scalar& Scalar::operator=(Scalar&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Scalar::~Scalar() { sodium_memzero(bytes_.data(), bytes_.size()); }

Element Scalar::of_generator() const {
  Element out;
  check(crypto_scalarmult_ristretto255_base(out.data(), bytes_.data()) == 0);
  return out;
}

Result<Element> Scalar::times(const Element& element) const {
  Element out;
  if (crypto_scalarmult_ristretto255(out.data(), bytes_.data(), element.data()) != 0)
    return not_an_element();
  return out;
}

Scalar Scalar::plus(const Scalar& factor, const Scalar& other) const {
  Scalar product, out;
  crypto_core_ristretto255_scalar_mul(product.bytes_.data(), factor.bytes_.data(),
                                      other.bytes_.data());
  crypto_core_ristretto255_scalar_add(out.bytes_.data(), bytes_.data(), product.bytes_.data());
  return out;
}

Scalar Scalar::inverse() const {
  Scalar out;
  check(crypto_core_ristretto255_scalar_invert(out.bytes_.data(), bytes_.data()) == 0);
  return out;
}

Element element_from(const std::array<uint8_t, 64>& bytes) {
  Element out;
  check(crypto_core_ristretto255_from_hash(out.data(), bytes.data()) == 0);
  return out;
}

Element draw_element(Entropy& entropy) { return element_from(draw_64(entropy)); }

Result<Element> sum(const Element& a, const Element& b) {
  Element out;
  if (crypto_core_ristretto255_add(out.data(), a.data(), b.data()) != 0) return not_an_element();
  return out;
}

Result<Element> difference(const Element& a, const Element& b) {
  Element out;
  if (crypto_core_ristretto255_sub(out.data(), a.data(), b.data()) != 0) return not_an_element();
  return out;
}

bool is_element(const Element& bytes) {
  return crypto_core_ristretto255_is_valid_point(bytes.data()) == 1 &&
         sodium_is_zero(bytes.data(), bytes.size()) == 0;
}

}  // namespace parley::protocol::ot
