// Joining a consortium: the invitation from its authority, and the key and request that a party
// makes for itself. The private key never leaves the party.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/bytes.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/result.h"
#include "parley/net/identity/identity.h"

namespace parley::net {

/// No secret, but to be trusted only after its fingerprint was compared over another channel.
struct Invitation {
  std::string consortium;
  std::string address;    // of the learner; empty: not known yet
  std::string authority;  // its certificate, PEM
  Hash fingerprint{};     // of the authority's certificate
};
std::string to_toml(const Invitation& invitation);
/// The authority must be one, of that consortium, and have the fingerprint that the file gives.
Result<Invitation> parse_invitation(std::string_view toml, const std::string& file_name);

/// A fingerprint in groups that can be read out on the phone.
std::string spoken(const Hash& fingerprint);

struct Request {
  std::string key, request;  // PEM
  Hash fingerprint{};        // of the public key
};
/// A new P-256 key, and the request to certify it as `identity` with, for an owner, the key that
/// signs its receipts.
Request make_request(const Identity& identity, const std::optional<SignKey>& sign_key);
/// The same for a P-256 key that is there already, in a file.
Result<Request> make_request(const Identity& identity, const std::optional<SignKey>& sign_key,
                             const std::filesystem::path& key);

/// Who asks in a request, after everything about it was found in order: signed by its own key,
/// which is on P-256, one URI, an owner's signing key, and no wish besides.
///
/// The request is not signed by the signing key itself. Who asks for another's public key gains
/// nothing: whatever a job believes because of a signature has the charter's hash in it, and a
/// charter that names one key twice is refused (plan::every_sign_key).
struct Asked {
  Identity identity;
  Hash key{};                         // fingerprint of the public key
  std::optional<SignKey> sign_key{};  // of an owner
  std::string request;                // PEM
};
Result<Asked> read_request(std::string_view pem, const std::string& file_name);

}  // namespace parley::net
