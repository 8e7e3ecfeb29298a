// Shamir's secret sharing of 32-byte secrets over GF(2^8), byte by byte: any `threshold` shares
// give the secret, fewer say nothing about it. The field is that of AES (x^8 + x^4 + x^3 + x + 1),
// its arithmetic without branches or tables, so that time does not depend on a secret.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "parley/base/entropy.h"
#include "parley/base/result.h"

namespace parley {

using Secret32 = std::array<uint8_t, 32>;

struct SecretShare {
  uint8_t x = 0;  // 1 to 255: whose it is
  Secret32 y{};
  bool operator==(const SecretShare&) const = default;
};

/// Shares 1 to `holders`.
std::vector<SecretShare> share_secret(const Secret32& secret, size_t threshold, size_t holders,
                                      Entropy& entropy);

/// The secret of at least `threshold` shares, of which the first are used. An error where they are
/// too few, or two of one holder.
Result<Secret32> join_shares(std::span<const SecretShare> shares, size_t threshold);

}  // namespace parley
