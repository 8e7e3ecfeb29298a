#include "parley/net/identity/identity.h"

#include <algorithm>
#include <cstdlib>

#include "parley/base/crypto/token.h"
#include "parley/base/crypto/token_evp.h"
#include "parley/base/files.h"
#include "parley/base/printable.h"
#include "parley/charter/toml/accept.h"
#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kScheme = "parley://";

Error wrong(Code code, const fs::path& file, std::string what, std::string hint) {
  return {code, std::move(what), std::move(hint), {.file = file.string()}};
}

Error not_an_identity(std::string_view uri, const std::string& why) {
  return {Code::kIntegrity, in_quotes(uri) + " names no party: " + why,
          "An identity is parley://<consortium>/owner/<name> or parley://<consortium>/learner/"
          "<name>."};
}

/// Put there by the service manager (LoadCredential=), for this process alone. Where it does so
/// with an access list, the mode shows the list's mask as what the group may do.
bool is_credential(const fs::path& file) {
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  return folder != nullptr && *folder != '\0' && file.parent_path() == fs::path(folder);
}

/// What a key file has: the key itself, or its address on a token.
Result<Key> key_in(const std::string& text, const fs::path& file) {
  if (TokenKey::is_address(text)) {
    const auto on_token = open_token_pkey(text);
    if (on_token) return Key(*on_token);
    return wrong(on_token.error().code, file, on_token.error().what, on_token.error().hint);
  }
  Key key = key_from(text);
  if (!key)
    return wrong(Code::kInvalid, file, "is not a private key in PEM without a password",
                 "Use the .key file that `parley join` made.");
  return key;
}

Result<void> check_dates(const fs::path& file, X509* certificate, Clock& clock) {
  const int64_t now = clock.unix_seconds();
  const Validity valid = validity_of(certificate);
  if (now >= valid.from && now <= valid.until) return {};
  const bool early = now < valid.from;
  return wrong(Code::kIntegrity, file,
               std::string(early ? "is not valid yet" : "has expired") + ": valid from " +
                   time_text(valid.from) + " until " + time_text(valid.until) +
                   ", and this machine's clock says " + time_text(now),
               early
                   ? "Set the clock; if it is right, wait."
                   : "If the clock is right, have the request signed again: `parley certs sign`.");
}

Result<void> check_pair(const charter::Identity& files, X509* certificate, EVP_PKEY* key) {
  if (!is_p256(key))
    return wrong(Code::kIntegrity, files.key, "is not a key on P-256",
                 "Use the .key file that `parley join` made.");
  if (EVP_PKEY_eq(X509_get0_pubkey(certificate), key) == 1) return {};
  return wrong(Code::kIntegrity, files.key,
               "does not belong to the certificate in " + files.certificate.string(),
               "Take the certificate that was signed for this key's request, or make both anew "
               "with `parley join`.");
}

Result<void> check_signed(const charter::Identity& files, X509* certificate, X509* authority) {
  if (X509_check_ca(authority) != 1)
    return wrong(Code::kIntegrity, files.authority, "is not the certificate of an authority",
                 "Use the authority.crt that `parley join` wrote.");
  if (X509_verify(certificate, X509_get0_pubkey(authority)) == 1) return {};
  return wrong(Code::kIntegrity, files.certificate,
               "was not signed by the authority in " + files.authority.string(),
               "Compare the authority's fingerprint with the consortium by phone; then have the "
               "request signed there.");
}

Result<void> check_identity(const charter::Identity& files, const Identity& identity) {
  if (identity.consortium != files.consortium)
    return wrong(Code::kIntegrity, files.certificate,
                 "belongs to consortium " + identity.consortium + ", and " + files.consortium +
                     " is asked for",
                 "Correct identity.consortium, or take the certificate of that consortium.");
  const bool owner_wanted = !files.sign_key.empty();  // Only owners sign receipts.
  if (owner_wanted && identity.role != "owner")
    return wrong(Code::kIntegrity, files.certificate,
                 "is a " + identity.role + "'s, " + identity.uri() + ", where an owner's must be",
                 "Join with --role owner, or take the owner's certificate.");
  return {};
}

fs::path kept_file(const charter::Identity& files, std::string_view authority) {
  const Certificate issuer = certificate_from(authority);
  check(issuer != nullptr);
  return files.memory / ("revoked-" + to_hex(fingerprint_of(issuer.get())).substr(0, 12) + ".crl");
}

/// What is left to OpenSSL: purposes, constraints, extensions that nobody knows.
Result<void> check_usable(const charter::Identity& files, const Identity& identity,
                          X509* certificate, X509* authority, Clock& clock) {
  const int purpose = identity.role == "owner" ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER;
  const int verdict = judge(certificate, authority, purpose, clock.unix_seconds());
  if (verdict == X509_V_OK) return {};
  return wrong(
      Code::kIntegrity, files.certificate,
      "cannot be used by " + identity.uri() + ": " + X509_verify_cert_error_string(verdict),
      "Have the request signed again: `parley certs sign`.");
}

Result<void> check_not_revoked(const charter::Identity& files, X509* certificate,
                               const Revocations& revoked) {
  if (!revoked.has(serial_of(certificate))) return {};
  return wrong(
      Code::kIntegrity, files.certificate,
      "was revoked by the authority (its list number " + std::to_string(revoked.number) + ")",
      "Ask the consortium why. New keys by `parley join` in another folder, and the "
      "authority's signature, make this party welcome again.");
}

}  // namespace

Result<Identity> Identity::parse(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return not_an_identity(uri, "it does not begin with parley://");
  const std::string_view path = uri.substr(kScheme.size());
  const size_t first = std::min(path.find('/'), path.size());
  const size_t second = std::min(path.find('/', first + 1), path.size());
  if (second == path.size()) return not_an_identity(uri, "it needs consortium, role and name");
  Identity identity{std::string(path.substr(0, first)),
                    std::string(path.substr(first + 1, second - first - 1)),
                    std::string(path.substr(second + 1))};
  if (const auto problem = charter::any_domain(identity.consortium); !problem.empty())
    return not_an_identity(uri, "the consortium " + problem);
  if (identity.role != "owner" && identity.role != "learner")
    return not_an_identity(uri, "the role must be owner or learner");
  if (const auto problem = charter::any_name(identity.name); !problem.empty())
    return not_an_identity(uri, "the name " + problem);
  return identity;
}

Result<Identity> one_identity(const std::vector<std::string>& uris) {
  if (uris.size() == 1) return Identity::parse(uris[0]);
  return Error{Code::kIntegrity,
               "names " + std::string(uris.empty() ? "no URI" : "more than one URI") +
                   ", so nobody knows whose it is",
               "Use what `parley join` and `parley certs sign` make."};
}

Result<Identity> identity_of(X509* certificate) {
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  return one_identity(uris_in(names.get()));
}

Result<Identity> identity_of(std::string_view certificate) {
  const Certificate parsed = certificate_from(certificate);
  if (!parsed) return Error{Code::kIntegrity, "is not one certificate in PEM"};
  return identity_of(parsed.get());
}

Result<Certificate> read_certificate(const fs::path& file) {
  const std::string pem = TRY(read_file(file, kPemBytesMax));
  Certificate certificate = certificate_from(pem);
  if (!certificate)
    return wrong(Code::kInvalid, file, "is not one certificate in PEM",
                 "It must hold exactly one block -----BEGIN CERTIFICATE-----.");
  return certificate;
}

Result<Key> read_key(const fs::path& file) { return key_in(TRY(read_secret(file)), file); }

Result<std::string> read_secret(const fs::path& file) {
  std::string text = TRY(read_file(file, kPemBytesMax));
  std::error_code failed;
  const auto others =
      is_credential(file) ? fs::perms::others_all : fs::perms::group_all | fs::perms::others_all;
  if ((fs::status(file, failed).permissions() & others) != fs::perms::none || failed)
    return wrong(Code::kInvalid, file, "is secret, and others on this machine can open it",
                 "Type: chmod 600 " + file.string());
  return text;
}

std::vector<fs::path> revoked_files(const charter::Identity& files) {
  std::vector<fs::path> all = {files.revoked.empty() ? files.authority.parent_path() / kRevokedFile
                                                     : files.revoked};
  if (!files.charters.empty()) all.push_back(files.charters / kRevokedFile);
  return all;
}

Result<Revocations> newest_revocations(const charter::Identity& files, std::string_view authority) {
  Revocations newest;
  for (const fs::path& file : revoked_files(files)) {
    Revocations each = TRY(read_revocations(file, authority));
    if (each.number > newest.number) newest = std::move(each);
  }
  newest.in_files = newest.number;
  if (files.memory.empty()) return newest;
  Revocations kept = TRY(read_revocations(kept_file(files, authority), authority));
  if (kept.number <= newest.number) return newest;
  kept.in_files = newest.number;
  return kept;
}

Result<void> keep_revocations(const charter::Identity& files, const Credentials& credentials) {
  const Revocations& revoked = credentials.revoked;
  if (files.memory.empty() || revoked.pem.empty()) return {};
  const fs::path file = kept_file(files, credentials.authority);
  const auto kept = read_revocations(file, credentials.authority);
  if (kept && kept->number >= revoked.number) return {};
  TRY(make_directories(files.memory));
  return write_file(file, revoked.pem);
}

Result<Credentials> read_credentials(const charter::Identity& files, Clock& clock) {
  const Certificate certificate = TRY(read_certificate(files.certificate));
  const Certificate authority = TRY(read_certificate(files.authority));
  const std::string secret = TRY(read_secret(files.key));
  const Key key = TRY(key_in(secret, files.key));
  TRY(check_pair(files, certificate.get(), key.get()));
  TRY(check_signed(files, certificate.get(), authority.get()));
  TRY(check_dates(files.authority, authority.get(), clock));
  TRY(check_dates(files.certificate, certificate.get(), clock));
  Result<Identity> identity = identity_of(certificate.get());
  if (!identity) {
    Error error = identity.error();
    error.where.file = files.certificate.string();
    return error;
  }
  TRY(check_identity(files, *identity));
  TRY(check_usable(files, *identity, certificate.get(), authority.get(), clock));
  const std::string issuer = pem_of(authority.get());
  Revocations revoked = TRY(newest_revocations(files, issuer));
  TRY(check_not_revoked(files, certificate.get(), revoked));
  return Credentials{*identity, pem_of(certificate.get()), secret, issuer, std::move(revoked)};
}

}  // namespace parley::net
