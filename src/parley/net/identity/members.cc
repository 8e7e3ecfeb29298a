#include "parley/net/identity/members.h"

#include <map>
#include <optional>

#include "parley/base/files.h"
#include "parley/net/identity/identity.h"
#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

namespace fs = std::filesystem;
constexpr const char* kAskForIt =
    "Ask the consortium's authority for its members.pem, the public list of all owners' "
    "certificates, and put it there.";

/// By URI. Who put two of one owner into the file means either.
using Members = std::multimap<std::string, Certificate>;

Result<Members> members_in(std::string_view pem) {
  auto certificates = certificates_from(pem);
  if (!certificates)
    return Error{Code::kIntegrity, "is not a list of certificates in PEM", kAskForIt};
  Members members;
  for (Certificate& each : *certificates)
    if (const auto identity = identity_of(each.get()))
      members.emplace(identity->uri(), std::move(each));
  return members;
}

Result<Members> read_members(const fs::path& file) {
  const auto pem = read_file(file, kMembersBytesMax);
  auto members = pem ? members_in(*pem) : pem.error();
  if (members) return members;
  Error error = members.error();
  error.hint = kAskForIt, error.where.file = file.string();
  return error;
}

/// Who signs, and what it has taken back.
struct Trusted {
  Certificate authority;
  Revocations revoked;
};

/// Why this certificate of the owner does not show that the charter's key is its own.
std::optional<Error> objection(const charter::Owner& owner, X509* certificate,
                               const Trusted& trusted, int64_t now) {
  X509* authority = trusted.authority.get();
  const int verdict = judge(certificate, authority, X509_PURPOSE_SSL_CLIENT, now);
  const Validity valid = validity_of(certificate);
  if (verdict != X509_V_OK)
    return Error{Code::kIntegrity,
                 owner.name +
                     "'s certificate is not accepted: " + X509_verify_cert_error_string(verdict) +
                     " (valid from " + time_text(valid.from) + " until " + time_text(valid.until) +
                     ", and this machine's clock says " + time_text(now) + ")",
                 "If it has ended, the authority signs " + owner.name +
                     "'s request again, and every owner gets the new members.pem; the charter "
                     "stays as it is."};
  if (trusted.revoked.has(serial_of(certificate)))
    return Error{Code::kIntegrity, owner.name + "'s certificate was revoked by the authority",
                 "Its keys are in wrong hands, or it has left. With new keys it needs a new "
                 "certificate and a new sign_key in the charter; get the authority's new "
                 "members.pem then."};
  const auto key = sign_key_of(certificate);
  if (key == owner.sign_key) return std::nullopt;
  if (!key)
    return Error{Code::kIntegrity, owner.name + "'s certificate names no signing key",
                 "An earlier version made it: " + owner.name +
                     " makes its request anew with `parley join`, the authority signs it, and "
                     "every owner gets the new members.pem."};
  return Error{Code::kIntegrity,
               "the charter's sign_key of " + owner.name + " is not the one in its certificate",
               "Ask " + owner.name +
                   " by phone which is right: whoever has the charter's could read and sign in "
                   "its place. If it has a new key, get the authority's new members.pem."};
}

/// None of them shows it, for this reason.
Result<void> check_owner(const charter::Owner& owner, const std::string& uri,
                         const Members& members, const Trusted& trusted, int64_t now) {
  const auto [begin, end] = members.equal_range(uri);
  std::optional<Error> why =
      Error{Code::kIntegrity, "no certificate says which key is " + owner.name + "'s",
            std::string(kAskForIt) + " If " + uri + " is not in it, there is no such owner."};
  for (auto each = begin; each != end && why; ++each)
    why = objection(owner, each->second.get(), trusted, now);
  if (why) return *why;
  return {};
}

}  // namespace

Result<std::string> with_member(std::string_view members, std::string_view certificate,
                                Clock& clock) {
  const Certificate fresh = certificate_from(certificate);
  check(fresh != nullptr);
  const Identity owner = TRY(identity_of(fresh.get()));
  const Members before = TRY(members_in(members));
  std::string after;
  for (const auto& [uri, each] : before)
    if (uri != owner.uri() && validity_of(each.get()).until >= clock.unix_seconds())
      after += pem_of(each.get());
  return after + pem_of(fresh.get());
}

Result<std::string> without_revoked(std::string_view members, const Revocations& revoked) {
  const Members before = TRY(members_in(members));
  std::string after;
  for (const auto& [uri, each] : before)
    if (!revoked.has(serial_of(each.get()))) after += pem_of(each.get());
  return after;
}

Result<void> check_members(const charter::Identity& files, const charter::Charter& charter,
                           const std::string& us, Clock& clock) {
  Certificate authority = TRY(read_certificate(files.authority));
  auto revoked = TRY(newest_revocations(files, pem_of(authority.get())));
  const Trusted trusted{std::move(authority), std::move(revoked)};
  const Members members = TRY(read_members(files.members));
  Members own;
  Certificate ours = TRY(read_certificate(files.certificate));
  if (const auto identity = identity_of(ours.get())) own.emplace(identity->uri(), std::move(ours));
  for (const charter::Owner& owner : charter.owners) {
    const bool is_us = owner.name == us;
    const std::string uri = Identity{charter.consortium, "owner", owner.name}.uri();
    const auto checked =
        check_owner(owner, uri, is_us ? own : members, trusted, clock.unix_seconds());
    if (checked) continue;
    Error error = checked.error();
    error.where.file = (is_us ? files.certificate : files.members).string();
    return error;
  }
  return {};
}

}  // namespace parley::net
