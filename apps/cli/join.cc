// parley join INVITATION --name NAME
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/files.h"
#include "parley/charter/toml/canonical.h"
#include "parley/net/identity/authority.h"
#include "parley/net/identity/request.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;
using charter::to_json;
namespace fs = std::filesystem;

/// Everything that is made here, and where it goes.
struct Joined {
  net::Invitation invitation;
  net::Identity identity;
  net::Request request;
  std::optional<SigningKey> sign_key;  // owners only
  fs::path folder;

  std::string file(const std::string& ending) const {
    return (folder / (identity.name + ending)).string();
  }
  std::string authority() const { return (folder / net::kAuthorityCertificate).string(); }
};

Result<Joined> join(const JoinOptions& options) {
  const std::string text = TRY(read_file(options.invitation, net::kPemBytesMax));
  auto invitation = TRY(net::parse_invitation(text, options.invitation.string()));
  const net::Identity wanted{invitation.consortium, options.role, options.name};
  if (const auto identity = net::Identity::parse(wanted.uri()); !identity)
    return Error{Code::kInvalid, "--name: " + identity.error().what, identity.error().hint};
  std::optional<SigningKey> sign_key;
  if (options.role == "owner") sign_key = SigningKey::make();
  return Joined{std::move(invitation), wanted, net::make_request(wanted), std::move(sign_key),
                fs::absolute(options.out).lexically_normal()};
}

/// The authority may be there already, when several parties rehearse in one folder.
Result<void> write(const Joined& joined) {
  std::vector<FileToMake> files = {{joined.file(".key"), joined.request.key, true},
                                   {joined.file(".csr"), joined.request.request}};
  if (joined.sign_key) files.push_back({joined.file(".sign"), joined.sign_key->pem(), true});
  const auto there = read_file(joined.authority(), net::kPemBytesMax);
  if (!there || *there != joined.invitation.authority)
    files.push_back({joined.authority(), joined.invitation.authority});
  TRY(make_directories(joined.folder));
  return make_files(files);
}

/// What goes into the policy. A text of JSON is one of TOML, too.
std::string policy_tables(const Joined& joined) {
  std::string text = fmt::format(
      "[identity]\n"
      "consortium  = \"{}\"\n"
      "certificate = {}\n"
      "key         = {}\n"
      "authority   = {}\n"
      "sign_key    = {}\n",
      joined.identity.consortium, to_json(joined.file(".crt")), to_json(joined.file(".key")),
      to_json(joined.authority()), to_json(joined.file(".sign")));
  if (!joined.invitation.address.empty())
    text += fmt::format("\n[network]\ndial = \"{}\"\n", joined.invitation.address);
  return text;
}

std::string to_text(const Joined& joined) {
  std::string text = fmt::format(
      "Made the keys of {}. They stay here: {}{}\n\n"
      "1. Compare with the consortium by phone:\n"
      "   the authority  {}\n"
      "   your key       {}\n"
      "2. Send {} to the authority of {}; put {}, which comes back, beside it.\n",
      joined.identity.uri(), joined.file(".key"),
      joined.sign_key ? " and " + joined.file(".sign") : "",
      net::spoken(joined.invitation.fingerprint), net::spoken(joined.request.fingerprint),
      joined.file(".csr"), joined.identity.consortium, joined.file(".crt"));
  if (!joined.sign_key) return text;
  return text + fmt::format(
                    "3. Send this line for your [[owner]] block in charters:\n"
                    "   sign_key = \"{}\"\n"
                    "4. Put this into your policy:\n\n{}",
                    parley::to_text(joined.sign_key->public_key()), policy_tables(joined));
}

std::string to_json(const Joined& joined) {
  Json json = {{"format", "parley.join.made/1"},
               {"parley", report::provenance()},
               {"uri", joined.identity.uri()},
               {"address", joined.invitation.address},
               {"authority_fingerprint", to_hex(joined.invitation.fingerprint)},
               {"key_fingerprint", to_hex(joined.request.fingerprint)},
               {"key", joined.file(".key")},
               {"request", joined.file(".csr")},
               {"certificate", joined.file(".crt")},
               {"authority", joined.authority()}};
  if (joined.sign_key) {
    json["sign_key_file"] = joined.file(".sign");
    json["sign_key"] = parley::to_text(joined.sign_key->public_key());
  }
  return json.dump(2) + "\n";
}

}  // namespace

Result<Output> run(const JoinOptions& options, ProgressStyle) {
  const Joined joined = TRY(join(options));
  TRY(write(joined));
  return Output{to_text(joined), to_json(joined)};
}

}  // namespace parley::cli
