// parley certs init|sign|revoke, parley join and parley renew: a consortium's authority, and a
// party's keys.
#include <CLI/CLI.hpp>

#include "command.h"
#include "parley/report/network/credentials.h"

namespace parley::cli {
namespace {

struct CertsInitOptions {
  std::string consortium;
  std::string address;  // of the learner; empty: not known yet
  std::filesystem::path out = ".";
  int64_t days = 3650;
};

struct CertsSignOptions {
  std::filesystem::path request;
  std::filesystem::path authority = ".";
  int64_t days = 365;
  bool replace = false;
  std::filesystem::path out;  // empty: NAME.crt beside the request
};

struct JoinOptions {
  std::filesystem::path invitation;
  std::string name;
  std::string role = "owner";
  std::filesystem::path out = ".";
};

struct CertsRevokeOptions : RevokeOptions {
  std::string name;
};

struct RenewCommandOptions : RenewOptions {
  std::string name;
  bool install = false;
};

Result<Output> run(const CertsInitOptions& options, ProgressStyle) {
  const AuthorityOptions how{
      .folder = options.out, .address = options.address, .days = options.days};
  const AuthorityMade made = TRY(make_authority(options.consortium, how));
  const report::Authority authority{options.consortium, how, made};
  return Output{report::to_text(authority), report::to_json(authority)};
}

Result<Output> run(const CertsSignOptions& options, ProgressStyle) {
  const Signed made = TRY(sign_request(options.request, {.authority = options.authority,
                                                         .days = options.days,
                                                         .replace = options.replace,
                                                         .out = options.out}));
  return Output{report::to_text(made), report::to_json(made)};
}

Result<Output> run(const JoinOptions& options, ProgressStyle) {
  const Joined joined =
      TRY(join(options.invitation, options.name, {.role = options.role, .folder = options.out}));
  return Output{report::to_text(joined), report::to_json(joined)};
}

Result<Output> run(const CertsRevokeOptions& options, ProgressStyle) {
  const Revoked revoked = TRY(revoke(options.name, options));
  return Output{report::to_text(revoked), report::to_json(revoked)};
}

Result<Output> run(const RenewCommandOptions& options, ProgressStyle) {
  if (options.install) {
    const report::Installed installed{options.name,
                                      TRY(install_renewal(options.name, options.folder))};
    return Output{report::to_text(installed), report::to_json(installed)};
  }
  const Renewal renewal = TRY(renew(options.name, options));
  return Output{report::to_text(renewal), report::to_json(renewal)};
}

void role_option(CLI::App& app, std::string& role) {
  app.add_option("--role", role, "Role of the party")
      ->check(CLI::IsMember({"owner", "learner"}))
      ->capture_default_str();
}

void days_option(CLI::App& app, int64_t& days, const std::string& help) {
  app.add_option("--days", days, help)
      ->check(CLI::Range(int64_t{1}, int64_t{36500}))
      ->capture_default_str();
}

void add_init_authority(const Commands& certs) {
  const auto [app, options] = certs.add<CertsInitOptions>(
      "init", "Create the authority of a consortium, and the invitation to join", run);
  app.add_option("consortium", options.consortium, "Name of the consortium, such as banks.example")
      ->required();
  app.add_option("--address", options.address, "Address of the learner")->type_name("HOST:PORT");
  app.add_option("--out", options.out, "Folder for the files")->capture_default_str();
  days_option(app, options.days, "Validity of the authority in days");
}

void add_sign(const Commands& certs) {
  const auto [app, options] = certs.add<CertsSignOptions>("sign", "Sign a request", run);
  app.add_option("request", options.request, "NAME.csr, made by `parley join`")
      ->required()
      ->type_name("FILE");
  app.add_option("--authority", options.authority, "Folder of the authority")
      ->capture_default_str();
  days_option(app, options.days, "Validity of the certificate in days");
  app.add_flag("--replace", options.replace,
               "Also if the party has a valid certificate, because it has lost the key");
  app.add_option("--out", options.out, "The certificate (default: NAME.crt beside the request)")
      ->type_name("FILE");
}

void add_revoke(const Commands& certs) {
  const auto [app, options] =
      certs.add<CertsRevokeOptions>("revoke", "Revoke every certificate of a party", run);
  app.add_option("name", options.name, "The party's name, such as bank-a")->required();
  role_option(app, options.role);
  app.add_option("--authority", options.authority, "Folder of the authority")
      ->capture_default_str();
}

}  // namespace

void add_certs(Commands root) {
  const Commands certs = root.group("certs", "Issue a consortium's certificates");
  add_init_authority(certs);
  add_sign(certs);
  add_revoke(certs);
}

void add_join(Commands root) {
  const auto [app, options] =
      root.add<JoinOptions>("join", "Create your keys and the request for a certificate", run);
  app.add_option("invitation", options.invitation, "CONSORTIUM.join, from the consortium")
      ->required()
      ->type_name("FILE");
  app.add_option("--name", options.name, "Your name in charters, such as bank-a")->required();
  role_option(app, options.role);
  app.add_option("--out", options.out, "Folder for the files")->capture_default_str();
}

void add_renew(Commands root) {
  const auto [app, options] = root.add<RenewCommandOptions>(
      "renew", "Create new keys, and a request signed by your current key", run);
  app.add_option("--name", options.name, "Your name in charters")->required();
  app.add_option("--out", options.folder, "Folder of your certificate and keys")
      ->capture_default_str();
  auto* sign_key = app.add_flag("--sign-key", options.sign_key,
                                "Also a new key for signing receipts; between jobs only");
  app.add_flag(
         "--install", options.install,
         "Replace keys and certificate by NAME.next.crt, which the authority signed, and its keys")
      ->excludes(sign_key);
}

}  // namespace parley::cli
