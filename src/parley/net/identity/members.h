// Which signing key belongs to which owner: the certificates of a consortium's owners, in one
// public file. A charter names the keys of its owners. Its author could put a key of their own in
// place of another owner's, and then read and sign that owner's messages; so every owner requires
// the certificate of every key. Certificates are signed by the authority, so the file itself need
// not be trusted.
#pragma once

#include <string>
#include <string_view>

#include "parley/base/clock.h"
#include "parley/base/result.h"
#include "parley/charter/policy.h"
#include "parley/net/identity/revocation.h"

namespace parley::net {

inline constexpr size_t kMembersBytesMax = 16 << 20;

/// The authority's file with the certificate of an owner in it, in place of this owner's earlier
/// ones, and without those that have ended.
Result<std::string> with_member(std::string_view members, std::string_view certificate,
                                Clock& clock);

/// The same file without the certificates on the list.
Result<std::string> without_revoked(std::string_view members, const Revocations& revoked);

/// Is every sign_key of the charter the one in a certificate of its owner, which our own authority
/// has signed and not revoked, and which is valid now? Ours is files.certificate, the others' are
/// in files.members. Every owner of the charter must have a sign_key.
Result<void> check_members(const charter::Identity& files, const charter::Charter& charter,
                           const std::string& us, Clock& clock);

}  // namespace parley::net
