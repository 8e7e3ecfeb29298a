// A request for new keys that is also signed with the current key: the authority sees that it is
// the same party, and no phone call is needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "parley/net/identity/authority.h"

namespace parley::net {

inline constexpr const char* kNextCertificate = ".next.crt";  // after the party's name

/// Three blocks of PEM: the request, the certificate of today, and its key's signature of the
/// request.
std::string renewal_of(const Credentials& today, const Request& fresh);

/// The fingerprint of the key of today, if such blocks come with the request; nothing if there are
/// none. An error if its certificate is not valid, revoked, or another party's, or if the signature
/// is not of this request.
Result<std::optional<Hash>> renewed_key(std::string_view pem, const Asked& asked,
                                        const Authority& authority, const Revocations& revoked,
                                        Clock& clock);

}  // namespace parley::net
