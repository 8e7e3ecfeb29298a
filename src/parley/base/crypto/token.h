// A private key that never leaves its token (an HSM, a smart card), used through PKCS #11. Where a
// key file would have a key in PEM it has the key's address instead (RFC 7512), on one line:
//
//   pkcs11:token=parley;object=bank-a-tls?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/pin
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "parley/base/bytes.h"
#include "parley/base/result.h"

namespace parley {

class TokenKey {
 public:
  enum class Kind { kEd25519, kP256 };

  static bool is_address(std::string_view text) { return text.starts_with("pkcs11:"); }

  /// Opens the module, logs in with the PIN of the file that the address names, and finds the key
  /// and its public half.
  static Result<std::shared_ptr<const TokenKey>> open(std::string_view address, Kind kind);

  /// Of an Ed25519 key its 32 bytes, of one on P-256 the uncompressed point.
  const Bytes& public_point() const { return point_; }

  /// 64 bytes: of Ed25519 the signature of `bytes`, of P-256 r and s for the digest `bytes`. Empty
  /// if the token refuses. For any thread.
  Bytes sign(ByteView bytes) const;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  Bytes point_;

 public:  // For open() only: Session is not known to others.
  TokenKey(std::unique_ptr<Session> session, Bytes point);
  ~TokenKey();
  TokenKey(const TokenKey&) = delete;
  TokenKey& operator=(const TokenKey&) = delete;
};

}  // namespace parley
