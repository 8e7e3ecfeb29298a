#include "parley/credentials.h"

#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "parley/base/crypto/signature.h"
#include "parley/base/files.h"
#include "parley/charter/toml/accept.h"
#include "parley/net/identity/authority.h"
#include "parley/net/identity/renewal.h"
#include "parley/net/identity/request.h"
#include "parley/net/identity/signed_list.h"
#include "parley/net/identity/x509.h"

namespace parley {
namespace {

namespace fs = std::filesystem;

Result<void> check_names(const std::string& consortium, const AuthorityOptions& options) {
  const auto problem = charter::any_domain(consortium);
  if (!problem.empty()) return Error{Code::kInvalid, "CONSORTIUM " + problem};
  const auto address = options.address.empty() ? "" : charter::host_and_port(options.address);
  if (!address.empty()) return Error{Code::kInvalid, "--address " + address};
  return {};
}

Result<SigningKey> read_sign_key(const fs::path& file) {
  return SigningKey::from_pem(TRY(net::read_secret(file)));
}

/// What a party asks with, and whether its keys were there before.
struct Made {
  std::optional<SigningKey> sign_key{};  // of an owner
  net::Request request{};
  bool had_keys = false;
};

/// Keys that are there are kept if the request is not: who needs another request needs no new keys.
Result<Made> make(const Joined& joined, const net::Identity& wanted) {
  const bool owner = wanted.role == "owner";
  Made made;
  made.had_keys = fs::exists(joined.key) && !fs::exists(joined.request) &&
                  (!owner || fs::exists(joined.sign_key_file));
  if (owner)
    made.sign_key = made.had_keys ? TRY(read_sign_key(joined.sign_key_file)) : SigningKey::make();
  const auto key = made.sign_key ? std::optional(made.sign_key->public_key()) : std::nullopt;
  made.request = made.had_keys ? TRY(net::make_request(wanted, key, joined.key))
                               : net::make_request(wanted, key);
  return made;
}

/// The authority may be there already, when several parties rehearse in one folder.
Result<void> write(const Joined& joined, const net::Invitation& invitation, const Made& made) {
  std::vector<FileToMake> files = {{joined.request, made.request.request}};
  if (!made.had_keys) files.push_back({joined.key, made.request.key, true});
  if (!made.had_keys && made.sign_key)
    files.push_back({joined.sign_key_file, made.sign_key->pem(), true});
  const auto there = read_file(joined.authority, net::kPemBytesMax);
  if (!there || *there != invitation.authority)
    files.push_back({joined.authority, invitation.authority});
  TRY(make_directories(joined.key.parent_path()));
  return make_files(files);
}

// Renewals.

/// The files of a party as `join` names them, and those that follow them.
struct Files {
  Files(const fs::path& folder, const std::string& name)
      : base((fs::absolute(folder) / name).lexically_normal().string()),
        authority(fs::absolute(folder) / net::kAuthorityCertificate) {}
  fs::path at(const char* ending) const { return base + ending; }

  std::string base;
  fs::path authority;
};

/// Which of the two keys is there.
fs::path newest(const fs::path& next, const fs::path& today) {
  return fs::exists(next) ? next : today;
}

Result<net::Credentials> read_credentials_of(const Files& files, const fs::path& certificate,
                                             const fs::path& key, Clock& clock) {
  const net::Identity identity = TRY(net::identity_of(TRY(read_file(certificate))));
  return net::read_credentials({.consortium = identity.consortium,
                                .certificate = certificate,
                                .key = key,
                                .authority = files.authority,
                                .sign_key = {}},
                               clock);
}

/// A next key that was made before, such as on a token, is taken if nothing was asked for it yet.
bool is_waiting(const Files& files, const fs::path& key) {
  return fs::exists(key) && !fs::exists(files.at(".next.csr"));
}

/// The key that an owner's next certificate names: today's, or a new one, which is added to `made`.
Result<SignKey> sign_key_to_name(const Files& files, bool fresh, std::vector<FileToMake>& made) {
  const fs::path next = files.at(".next.sign");
  if (!fresh || is_waiting(files, next))
    return TRY(read_sign_key(fresh ? next : files.at(".sign"))).public_key();
  const SigningKey key = SigningKey::make();
  made.push_back({next, key.pem(), true});
  return key.public_key();
}

Result<net::Request> request_for_next(const Files& files, const net::Identity& identity,
                                      const std::optional<SignKey>& sign_key,
                                      std::vector<FileToMake>& made) {
  const fs::path next = files.at(".next.key");
  if (is_waiting(files, next)) return net::make_request(identity, sign_key, next);
  const net::Request request = net::make_request(identity, sign_key);
  made.push_back({next, request.key, true});
  return request;
}

/// An owner's certificate must name the key that it will sign with.
Result<void> check_sign_key(const net::Credentials& next, const fs::path& file) {
  if (next.identity.role != "owner") return {};
  const auto key = TRY(read_sign_key(file));
  if (net::sign_key_of(net::certificate_from(next.certificate).get()) == key.public_key())
    return {};
  return Error{Code::kIntegrity,
               "is not the key that the new certificate names",
               "Take the certificate that was signed for this request.",
               {.file = file.string()}};
}

/// Receipts of earlier jobs are told by it: to reconcile an old copy of the ledger, the policy
/// names it again.
Result<void> keep_sign_key(const Files& files) {
  if (!fs::exists(files.at(".next.sign"))) return {};
  const std::string pem = TRY(net::read_secret(files.at(".sign")));
  const SignKey key = TRY(SigningKey::from_pem(pem)).public_key();
  const fs::path kept = files.base + ".old-" + to_hex(sha256(key.bytes)).substr(0, 12) + ".sign";
  if (fs::exists(kept)) return {};
  const FileToMake file{kept, pem, true};
  return make_files({&file, 1});
}

/// A daemon must be able to read what root installs for it.
Result<void> give_as(const fs::path& from, const fs::path& to) {
  struct stat before{};
  if (::geteuid() != 0 || ::stat(to.c_str(), &before) != 0) return {};
  if (::chown(from.c_str(), before.st_uid, before.st_gid) == 0) return {};
  return Error{Code::kFailed,
               "cannot be given to the user of " + to.string(),
               "Give it with chown, and type the same again.",
               {.file = from.string()}};
}

Result<void> move_over(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) return {};  // It is there since an earlier attempt, or was not asked for.
  TRY(give_as(from, to));
  std::error_code failed;
  fs::rename(from, to, failed);
  if (!failed) return {};
  return Error{Code::kFailed,
               "cannot be renamed to " + to.string() + ": " + failed.message(),
               "Correct that and type the same again.",
               {.file = from.string()}};
}

std::string end_of(const net::Credentials& credentials) {
  return time_text(net::validity_of(net::certificate_from(credentials.certificate).get()).until);
}

}  // namespace

Result<AuthorityMade> make_authority(const std::string& consortium,
                                     const AuthorityOptions& options) {
  TRY(check_names(consortium, options));
  SystemClock clock;
  const auto authority = net::make_authority(consortium, options.days, clock);
  const net::Invitation invitation{consortium, options.address, authority.certificate,
                                   authority.fingerprint};
  const std::vector<FileToMake> files = {
      {options.folder / net::kAuthorityKey, authority.key, true},
      {options.folder / net::kAuthorityCertificate, authority.certificate},
      {options.folder / (consortium + ".join"), net::to_toml(invitation)}};
  TRY(make_directories(options.folder));
  TRY(make_files(files));
  return AuthorityMade{files[0].path, files[1].path, files[2].path, authority.fingerprint};
}

Result<Joined> join(const fs::path& file, const std::string& name, const JoinOptions& options) {
  const std::string text = TRY(read_file(file, net::kPemBytesMax));
  const auto invitation = TRY(net::parse_invitation(text, file.string()));
  const net::Identity wanted{invitation.consortium, options.role, name};
  if (const auto identity = net::Identity::parse(wanted.uri()); !identity)
    return Error{Code::kInvalid, "--name: " + identity.error().what, identity.error().hint};
  const fs::path folder = fs::absolute(options.folder).lexically_normal();
  Joined joined{.uri = wanted.uri(),
                .address = invitation.address,
                .authority_fingerprint = invitation.fingerprint,
                .key = folder / (name + ".key"),
                .request = folder / (name + ".csr"),
                .certificate = folder / (name + ".crt"),
                .authority = folder / net::kAuthorityCertificate};
  if (wanted.role == "owner") {
    joined.sign_key_file = folder / (name + ".sign");
    joined.members = folder / charter::kMembersFile;
  }
  const Made made = TRY(make(joined, wanted));
  joined.key_fingerprint = made.request.fingerprint;
  if (made.sign_key) joined.sign_key = to_text(made.sign_key->public_key());
  TRY(write(joined, invitation, made));
  return joined;
}

Result<Signed> sign_request(const fs::path& file, const SignOptions& options) {
  SystemClock clock;
  const auto authority = TRY(net::read_authority(options.authority, clock));
  const std::string request = TRY(read_file(file, net::kPemBytesMax));
  const auto asked = TRY(net::read_request(request, file.string()));
  const auto made = TRY(net::sign(authority, asked, options.days, clock));
  const auto revoked =
      TRY(net::read_revocations(options.authority / net::kRevokedFile, authority.certificate));
  const auto renews = TRY(net::renewed_key(request, asked, authority, revoked, clock));
  const net::Instead instead{.replace = options.replace, .renews = renews};
  const auto beside =
      file.parent_path() / (made.identity.name + (renews ? net::kNextCertificate : ".crt"));
  const FileToMake certificate{options.out.empty() ? beside : options.out, made.certificate};
  TRY(must_be_absent(certificate.path));
  TRY(net::record(options.authority, authority, made, instead, clock));
  TRY(make_files({&certificate, 1}));
  Signed done{made.identity.uri(), made.key, made.serial, made.until, certificate.path};
  done.renewal = renews.has_value();
  if (made.identity.role == "owner") done.members = options.authority / charter::kMembersFile;
  return done;
}

Result<Revoked> revoke(const std::string& name, const RevokeOptions& options) {
  SystemClock clock;
  const auto authority = TRY(net::read_authority(options.authority, clock));
  const net::Identity party{authority.consortium, options.role, name};
  if (const auto identity = net::Identity::parse(party.uri()); !identity)
    return Error{Code::kInvalid, "NAME: " + identity.error().what, identity.error().hint};
  const size_t count = TRY(net::revoke(options.authority, authority, party, clock));
  return Revoked{party.uri(), count, options.authority / net::kRevokedFile};
}

Result<Renewal> renew(const std::string& name, const RenewOptions& options) {
  SystemClock clock;
  const Files files(options.folder, name);
  const auto today = TRY(read_credentials_of(files, files.at(".crt"), files.at(".key"), clock));
  const bool owner = today.identity.role == "owner";
  if (options.sign_key && !owner)
    return Error{Code::kInvalid, "a learner has no key for receipts", "Leave --sign-key out."};
  std::vector<FileToMake> made;
  std::optional<SignKey> sign_key;
  if (owner) sign_key = TRY(sign_key_to_name(files, options.sign_key, made));
  const net::Request request = TRY(request_for_next(files, today.identity, sign_key, made));
  made.push_back({files.at(".next.csr"), net::renewal_of(today, request)});
  TRY(make_files(made));
  return Renewal{today.identity.uri(), end_of(today), files.at(".next.csr"),
                 files.at(net::kNextCertificate),
                 options.sign_key ? to_text(*sign_key) : std::string()};
}

Result<std::string> install_renewal(const std::string& name, const fs::path& folder) {
  SystemClock clock;
  const Files files(folder, name);
  const fs::path fresh = files.at(net::kNextCertificate);
  const auto next = TRY(
      read_credentials_of(files, fresh, newest(files.at(".next.key"), files.at(".key")), clock));
  const auto today = TRY(net::identity_of(TRY(read_file(files.at(".crt")))));
  if (next.identity != today)
    return Error{Code::kIntegrity,
                 "is of " + next.identity.uri() + ", and this is " + today.uri(),
                 "Take the certificate that was signed for this party.",
                 {.file = fresh.string()}};
  TRY(check_sign_key(next, newest(files.at(".next.sign"), files.at(".sign"))));
  TRY(keep_sign_key(files));
  TRY(move_over(files.at(".next.sign"), files.at(".sign")));
  TRY(move_over(files.at(".next.key"), files.at(".key")));
  TRY(move_over(fresh, files.at(".crt")));
  std::error_code ignored;
  fs::remove(files.at(".next.csr"), ignored);
  return end_of(next);
}

std::string spoken(const Hash& fingerprint) { return net::spoken(fingerprint); }

}  // namespace parley
