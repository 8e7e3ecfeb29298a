// Who a party is: the URI in its certificate, parley://<consortium>/<role>/<name>. Names in
// messages prove nothing; this one was signed by the consortium's authority.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/result.h"
#include "parley/charter/policy.h"
#include "parley/net/identity/revocation.h"

namespace parley::net {

struct Identity {
  std::string consortium;
  std::string role;  // owner | learner
  std::string name;
  bool operator==(const Identity&) const = default;

  std::string uri() const { return "parley://" + consortium + "/" + role + "/" + name; }
  static Result<Identity> parse(std::string_view uri);
};

/// Of a certificate in PEM: its one URI.
Result<Identity> identity_of(std::string_view certificate);

inline constexpr size_t kPemBytesMax = 64 << 10;

/// What a party shows and what it believes, in PEM.
struct Credentials {
  Identity identity;
  std::string certificate, key, authority;
  Revocations revoked{};  // whoever is on it is not believed
};

/// Reads them. Key and certificate must belong together, the authority must have signed the
/// certificate, and it must be valid now; each failure says which file and what to do. Where files
/// name a sign_key they are an owner's, and so must be the certificate. The list of revoked
/// certificates is read too, and ours must not be on it.
Result<Credentials> read_credentials(const charter::Identity& files, Clock& clock);

/// Where the authority's list of revoked certificates may come: files.revoked, or revoked.crl
/// beside the authority's certificate; and revoked.crl among the charters.
std::vector<std::filesystem::path> revoked_files(const charter::Identity& files);

/// The newest of these lists and of the one that was kept.
Result<Revocations> newest_revocations(const charter::Identity& files, std::string_view authority);

/// Keeps the list in files.memory, so that an older one frees nobody after a restart. Each
/// authority has its own file there: a new authority begins to count anew.
Result<void> keep_revocations(const charter::Identity& files, const Credentials& credentials);

/// A file that nobody but its user may open, such as a private key; otherwise says what to type.
Result<std::string> read_secret(const std::filesystem::path& file);

}  // namespace parley::net
