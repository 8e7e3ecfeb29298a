#include "parley/credentials.h"

#include <optional>
#include <utility>
#include <vector>

#include "parley/base/crypto/signature.h"
#include "parley/base/files.h"
#include "parley/charter/toml/accept.h"
#include "parley/net/identity/authority.h"
#include "parley/net/identity/request.h"

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
    made.sign_key = made.had_keys
                        ? TRY(SigningKey::from_pem(TRY(net::read_secret(joined.sign_key_file))))
                        : SigningKey::make();
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
  const auto beside = file.parent_path() / (made.identity.name + ".crt");
  const FileToMake certificate{options.out.empty() ? beside : options.out, made.certificate};
  TRY(must_be_absent(certificate.path));
  TRY(net::record(options.authority, made, options.replace, clock));
  TRY(make_files({&certificate, 1}));
  Signed done{made.identity.uri(), made.key, made.serial, made.until, certificate.path};
  if (made.identity.role == "owner") done.members = options.authority / charter::kMembersFile;
  return done;
}

std::string spoken(const Hash& fingerprint) { return net::spoken(fingerprint); }

}  // namespace parley
