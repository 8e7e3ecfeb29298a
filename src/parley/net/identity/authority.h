// A consortium's authority: it certifies, by its signature, which key belongs to which party. It
// takes no part in jobs, and its key belongs on a machine that is not on the network.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "parley/base/clock.h"
#include "parley/base/result.h"
#include "parley/net/identity/request.h"

namespace parley::net {

inline constexpr const char* kAuthorityKey = "authority.key";
inline constexpr const char* kAuthorityCertificate = "authority.crt";

struct Authority {
  std::string consortium;
  std::string key, certificate;  // PEM
  Hash fingerprint{};            // of the certificate
};
Authority make_authority(const std::string& consortium, int64_t days, Clock& clock);

/// From the folder where `parley certs init` put it; one that has ended is refused.
Result<Authority> read_authority(const std::filesystem::path& folder, Clock& clock);

/// What was signed (the list of it: signed_list.h).
struct Signed {
  Identity identity;
  std::string serial;  // hexadecimal
  std::string until;   // RFC 3339
  Hash key{};          // SHA-256 of the public key
  std::optional<SignKey> sign_key{};
  std::string certificate;  // PEM; not in the list
};
Result<Signed> sign(const Authority& authority, const Asked& asked, int64_t days, Clock& clock);

}  // namespace parley::net
