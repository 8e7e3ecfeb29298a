// Certificates that an authority has revoked before they expire: a certificate revocation list (RFC
// 5280) in PEM, which `openssl crl` reads too. It is public and signed by the authority, so it does
// not matter who delivered it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "parley/base/clock.h"
#include "parley/base/result.h"

namespace parley::net {

inline constexpr const char* kRevokedFile = "revoked.crl";  // beside the authority's certificate
inline constexpr size_t kRevokedBytesMax = 4 << 20;

struct Revocations {
  int64_t number = 0;               // the list's; each has one more than the one before, 0 is none
  std::set<std::string> serials{};  // as in the list of what was signed
  std::string pem{};                // the list itself
  int64_t in_files = number;        // lower where the list kept from an earlier run is newer

  bool has(const std::string& serial) const { return serials.contains(serial); }
};

/// `authority` is its certificate, in PEM, whose key must have signed the list.
Result<Revocations> parse_revocations(std::string_view pem, std::string_view authority);

/// Where there is no file, nothing was revoked. One that cannot be read or believed is an error:
/// who damages the list must not free those who are on it.
Result<Revocations> read_revocations(const std::filesystem::path& file, std::string_view authority);

/// The list, signed by the authority's key (both in PEM).
std::string revocation_list(const Revocations& revoked, std::string_view authority,
                            std::string_view key, Clock& clock);

}  // namespace parley::net
