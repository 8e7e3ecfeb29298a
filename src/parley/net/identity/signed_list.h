// The certificates that an authority has signed, and which of them are revoked: signed.tsv,
// members.pem and revoked.crl in its folder.
#pragma once

#include <filesystem>
#include <optional>

#include "parley/net/identity/authority.h"

namespace parley::net {

inline constexpr const char* kSignedList = "signed.tsv";

/// Why a party that has a valid certificate for another key may have this one.
struct Instead {
  bool replace = false;          // a person has asked the party by phone
  std::optional<Hash> renews{};  // the request is signed by the key with this fingerprint, too
};

/// Writes into the list beside the authority, and an owner's certificate into members.pem there
/// (members.h). A party that has a certificate for another key, still valid and not revoked, gets
/// no second one without a reason: either its key was lost, or somebody is not who he says he is.
/// For a key, or an owner's signing key, that was revoked there is no reason.
Result<void> record(const std::filesystem::path& folder, const Authority& authority,
                    const Signed& made, const Instead& instead, Clock& clock);

/// Takes back every certificate that the party has: writes the list with the next number, and takes
/// them out of members.pem. How many there were; kInvalid if there is none.
Result<size_t> revoke(const std::filesystem::path& folder, const Authority& authority,
                      const Identity& party, Clock& clock);

}  // namespace parley::net
