// Ed25519: an owner signs what it says it has spent, and anyone can check that. By libsodium, which
// is twice as fast here as OpenSSL; the file is read and written by OpenSSL.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley {

using Signature = std::array<uint8_t, 64>;

/// A public key, written "ed25519:" and base64.
struct SignKey {
  Hash bytes{};
  bool operator==(const SignKey&) const = default;
};
std::string to_text(const SignKey& key);
std::optional<SignKey> sign_key_from(std::string_view text);

/// Did the holder of `key` sign these bytes?
bool is_signed(const SignKey& key, ByteView bytes, const Signature& signature);

/// A private key. Lives in a file of its owner (PKCS #8, PEM) and never travels.
class SigningKey {
 public:
  static SigningKey make();
  /// The same key for the same seed, for simulations: whoever knows the seed has the key.
  static SigningKey from_seed(const Hash& seed) { return SigningKey(seed); }
  static Result<SigningKey> from_pem(std::string_view pem);

  std::string pem() const;
  SignKey public_key() const;
  /// Ed25519 has no randomness: the same bytes get the same signature.
  Signature sign(ByteView bytes) const;

 private:
  using Seed = std::array<uint8_t, 32>;
  explicit SigningKey(const Seed& seed);
  struct Secret;
  std::shared_ptr<const Secret> secret_;  // Wiped at the end.
};

}  // namespace parley
