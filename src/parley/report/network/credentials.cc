#include "parley/report/network/credentials.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "parley/charter/toml/canonical.h"
#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

/// parley://<consortium>/<role>/<name>
std::string consortium_of(const Joined& joined) {
  const size_t begin = std::string_view("parley://").size();
  return joined.uri.substr(begin, joined.uri.find('/', begin) - begin);
}

/// What goes into the policy. A text of JSON is one of TOML, too.
std::string policy_tables(const Joined& joined) {
  using charter::to_json;
  std::string text = fmt::format(
      "[identity]\n"
      "consortium  = \"{}\"\n"
      "certificate = {}\n"
      "key         = {}\n"
      "authority   = {}\n"
      "members     = {}\n"
      "sign_key    = {}\n",
      consortium_of(joined), to_json(joined.certificate), to_json(joined.key),
      to_json(joined.authority), to_json(joined.members), to_json(joined.sign_key_file));
  if (!joined.address.empty()) text += fmt::format("\n[network]\ndial = \"{}\"\n", joined.address);
  return text;
}

}  // namespace

std::string to_text(const Authority& authority) {
  const AuthorityMade& made = authority.made;
  return fmt::format(
      "The authority of {} is made, for {} days.\n"
      "Keep {} secret: who has it can take part as anybody.\n"
      "Send {} to every party. Each compares this fingerprint with you by phone:\n"
      "  {}\n",
      authority.consortium, authority.options.days, made.key.string(), made.invitation.string(),
      spoken(made.fingerprint));
}

std::string to_json(const Authority& authority) {
  const AuthorityMade& made = authority.made;
  const Json json = {{"format", "parley.certs.init/1"},
                     {"parley", provenance()},
                     {"consortium", authority.consortium},
                     {"address", authority.options.address},
                     {"key", made.key.string()},
                     {"certificate", made.certificate.string()},
                     {"invitation", made.invitation.string()},
                     {"fingerprint", to_hex(made.fingerprint)}};
  return json.dump(2) + "\n";
}

std::string to_text(const Signed& made) {
  std::string text = fmt::format(
      "{} asked, with the key\n  {}\n"
      "{} send {} back.\n"
      "It is valid until {}.\n",
      made.uri, spoken(made.key_fingerprint),
      made.renewal ? "The request is signed by the key that it has had: no phone call is needed;"
                   : "Compare it by phone with what `parley join` printed there; only then",
      made.certificate.string(), made.until);
  if (made.members.empty()) return text;
  return text + fmt::format(
                    "Give every owner {}, which has the certificates of all owners. No owner\n"
                    "takes part with others whose keys are not in it. It holds no secret.\n",
                    made.members.string());
}

std::string to_json(const Signed& made) {
  Json json = {
      {"format", "parley.certs.sign/1"},         {"parley", provenance()}, {"uri", made.uri},
      {"key", to_hex(made.key_fingerprint)},     {"serial", made.serial},  {"until", made.until},
      {"certificate", made.certificate.string()}};
  json["renewal"] = made.renewal;
  if (!made.members.empty()) json["members"] = made.members.string();
  return json.dump(2) + "\n";
}

std::string to_text(const Revoked& revoked) {
  return fmt::format(
      "Revoked {} certificate{} of {}.\n"
      "Give every party {}: it belongs beside authority.crt, and holds no secret.\n"
      "A daemon takes it within a second. Whoever has it speaks with {} no more; whoever has not,\n"
      "still does. Owners also get the new members.pem.\n",
      revoked.certificates, revoked.certificates == 1 ? "" : "s", revoked.uri,
      revoked.list.string(), revoked.uri);
}

std::string to_json(const Revoked& revoked) {
  const Json json = {{"format", "parley.certs.revoke/1"},
                     {"parley", provenance()},
                     {"uri", revoked.uri},
                     {"certificates", revoked.certificates},
                     {"list", revoked.list.string()}};
  return json.dump(2) + "\n";
}

std::string to_text(const Renewal& renewal) {
  std::string text = fmt::format(
      "Made new keys of {}, whose certificate ends at {}. Those in use stay in use.\n\n"
      "1. Send {} to the authority, which needs no phone call for it.\n"
      "2. Put what comes back to {}.\n"
      "3. Type the same command with --install.\n",
      renewal.uri, renewal.until, renewal.request.string(), renewal.certificate.string());
  if (renewal.sign_key.empty()) return text;
  return text +
         fmt::format(
             "4. Not before your jobs have ended: their charters name the key of today. The\n"
             "   next ones name this, once every owner has the authority's new members.pem:\n"
             "   sign_key = \"{}\"\n",
             renewal.sign_key);
}

std::string to_json(const Renewal& renewal) {
  Json json = {{"format", "parley.renew/1"},
               {"parley", provenance()},
               {"uri", renewal.uri},
               {"until", renewal.until},
               {"request", renewal.request.string()},
               {"certificate", renewal.certificate.string()}};
  if (!renewal.sign_key.empty()) json["sign_key"] = renewal.sign_key;
  return json.dump(2) + "\n";
}

std::string to_text(const Installed& installed) {
  return fmt::format("The certificate of {} is in use, until {}.\n", installed.name,
                     installed.until);
}

std::string to_json(const Installed& installed) {
  const Json json = {{"format", "parley.renew.installed/1"},
                     {"parley", provenance()},
                     {"name", installed.name},
                     {"until", installed.until}};
  return json.dump(2) + "\n";
}

std::string to_text(const Joined& joined) {
  const bool owner = !joined.sign_key.empty();
  std::string text = fmt::format(
      "The keys of {} and the request for its certificate are ready. Keys stay here: {}{}\n\n"
      "1. Compare with the consortium by phone:\n"
      "   the authority  {}\n"
      "   your key       {}\n"
      "2. Send {} to the authority of {}; put {}, which comes back, beside it.\n",
      joined.uri, joined.key.string(), owner ? " and " + joined.sign_key_file.string() : "",
      spoken(joined.authority_fingerprint), spoken(joined.key_fingerprint), joined.request.string(),
      consortium_of(joined), joined.certificate.string());
  if (!owner) return text;
  return text + fmt::format(
                    "3. Get members.pem from there, too, whenever an owner joins or renews: {}\n"
                    "4. Send this line for your [[owner]] block in charters:\n"
                    "   sign_key = \"{}\"\n"
                    "5. Put this into your policy:\n\n{}",
                    joined.members.string(), joined.sign_key, policy_tables(joined));
}

std::string to_json(const Joined& joined) {
  Json json = {{"format", "parley.join.made/1"},
               {"parley", provenance()},
               {"uri", joined.uri},
               {"address", joined.address},
               {"authority_fingerprint", to_hex(joined.authority_fingerprint)},
               {"key_fingerprint", to_hex(joined.key_fingerprint)},
               {"key", joined.key.string()},
               {"request", joined.request.string()},
               {"certificate", joined.certificate.string()},
               {"authority", joined.authority.string()}};
  if (!joined.sign_key.empty()) {
    json["sign_key_file"] = joined.sign_key_file.string();
    json["sign_key"] = joined.sign_key;
    json["members"] = joined.members.string();
  }
  return json.dump(2) + "\n";
}

}  // namespace parley::report
