// The primitives of secure aggregation, from libsodium and OpenSSL: key agreement, sealed messages
// between two owners, and masks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "parley/base/bytes.h"
#include "parley/base/crypto/shamir.h"
#include "parley/base/entropy.h"
#include "parley/base/result.h"

namespace parley::protocol {

/// An X25519 key pair for one aggregation. Wiped at the end.
class AgreementKey {
 public:
  static AgreementKey draw(Entropy& entropy);
  static AgreementKey from(const Secret32& secret);
  AgreementKey(AgreementKey&& other) noexcept;
  AgreementKey& operator=(AgreementKey&& other) noexcept;
  ~AgreementKey();

  const Hash& public_key() const { return public_; }
  const Secret32& secret() const { return secret_; }

  /// A key that only the holders of both secrets know, for one purpose: BLAKE2b of the agreed
  /// point, the label, the context and both public keys, the smaller first. An error for a key of
  /// small order, with which anyone would know it.
  Result<Secret32> agree(const Hash& other, std::string_view label, const Hash& context) const;

 private:
  explicit AgreementKey(const Secret32& secret);
  Secret32 secret_;
  Hash public_{};
};

Secret32 draw_secret(Entropy& entropy);

/// XChaCha20-Poly1305 under a key that seals one message with each number only, whence no other
/// nonce; `context` is authenticated with it.
Bytes seal(const Secret32& key, uint8_t number, const Hash& context, ByteView message);
Result<Bytes> open(const Secret32& key, uint8_t number, const Hash& context, ByteView sealed);

/// Adds to (or takes from) every word a word of AES-256-CTR under the seed, modulo 2^64. A seed
/// masks one vector only.
void add_mask(const Secret32& seed, std::span<uint64_t> words);
void take_mask(const Secret32& seed, std::span<uint64_t> words);

}  // namespace parley::protocol
