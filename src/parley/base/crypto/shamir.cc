#include "parley/base/crypto/shamir.h"

#include <openssl/crypto.h>

#include <string>

#include "parley/base/bytes.h"

namespace parley {
namespace {

uint8_t multiply(uint8_t a, uint8_t b) {
  unsigned product = 0, factor = a;
  for (int bit = 0; bit < 8; ++bit) {
    product ^= factor & (0u - (b >> bit & 1u));
    factor = factor << 1 ^ (0x11bu & (0u - (factor >> 7)));
  }
  return static_cast<uint8_t>(product);
}

/// a^254, as every non-zero a to the 255th is 1.
uint8_t inverse(uint8_t a) {
  uint8_t power = a, result = 1;
  for (int bit = 1; bit < 8; ++bit) {
    power = multiply(power, power);
    result = multiply(result, power);
  }
  return result;
}

/// Lagrange's factor of share k at 0.
uint8_t factor_at_zero(std::span<const SecretShare> shares, size_t k) {
  uint8_t above = 1, below = 1;
  for (size_t j = 0; j < shares.size(); ++j) {
    if (j == k) continue;
    above = multiply(above, shares[j].x);
    below = multiply(below, static_cast<uint8_t>(shares[j].x ^ shares[k].x));
  }
  return multiply(above, inverse(below));
}

}  // namespace

std::vector<SecretShare> share_secret(const Secret32& secret, size_t threshold, size_t holders,
                                      Entropy& entropy) {
  check(threshold >= 1 && threshold <= holders && holders <= 255);
  // Coefficient after coefficient, 32 bytes each.
  Bytes coefficients;
  for (size_t word = 0; word < 4 * (threshold - 1); ++word)
    append_little_endian(coefficients, entropy.word());
  std::vector<SecretShare> shares(holders);
  for (size_t h = 0; h < holders; ++h) {
    const auto x = static_cast<uint8_t>(h + 1);
    shares[h].x = x;
    for (size_t i = 0; i < secret.size(); ++i) {
      uint8_t value = 0;
      for (size_t c = threshold - 1; c > 0; --c)
        value = multiply(static_cast<uint8_t>(value ^ coefficients[32 * (c - 1) + i]), x);
      shares[h].y[i] = static_cast<uint8_t>(value ^ secret[i]);
    }
  }
  OPENSSL_cleanse(coefficients.data(), coefficients.size());
  return shares;
}

Result<Secret32> join_shares(std::span<const SecretShare> shares, size_t threshold) {
  if (shares.size() < threshold)
    return Error{Code::kUnavailable, std::to_string(shares.size()) + " shares of a secret, where " +
                                         std::to_string(threshold) + " are needed"};
  shares = shares.first(threshold);
  for (size_t k = 0; k < shares.size(); ++k)
    for (size_t j = 0; j <= k; ++j)
      if (shares[k].x == 0 || (j < k && shares[j].x == shares[k].x))
        return Error{Code::kIntegrity, "two shares of a secret from one holder"};
  Secret32 secret{};
  for (size_t k = 0; k < shares.size(); ++k) {
    const uint8_t factor = factor_at_zero(shares, k);
    for (size_t i = 0; i < secret.size(); ++i) secret[i] ^= multiply(factor, shares[k].y[i]);
  }
  return secret;
}

}  // namespace parley
