// parley join INVITATION --name NAME
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/charter/toml/canonical.h"
#include "parley/credentials.h"
#include "parley/report/provenance.h"

namespace parley::cli {
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
      "sign_key    = {}\n",
      consortium_of(joined), to_json(joined.certificate), to_json(joined.key),
      to_json(joined.authority), to_json(joined.sign_key_file));
  if (!joined.address.empty()) text += fmt::format("\n[network]\ndial = \"{}\"\n", joined.address);
  return text;
}

std::string to_text(const Joined& joined) {
  const bool owner = !joined.sign_key.empty();
  std::string text = fmt::format(
      "Made the keys of {}. They stay here: {}{}\n\n"
      "1. Compare with the consortium by phone:\n"
      "   the authority  {}\n"
      "   your key       {}\n"
      "2. Send {} to the authority of {}; put {}, which comes back, beside it.\n",
      joined.uri, joined.key.string(), owner ? " and " + joined.sign_key_file.string() : "",
      spoken(joined.authority_fingerprint), spoken(joined.key_fingerprint), joined.request.string(),
      consortium_of(joined), joined.certificate.string());
  if (!owner) return text;
  return text + fmt::format(
                    "3. Send this line for your [[owner]] block in charters:\n"
                    "   sign_key = \"{}\"\n"
                    "4. Put this into your policy:\n\n{}",
                    joined.sign_key, policy_tables(joined));
}

std::string to_json(const Joined& joined) {
  Json json = {{"format", "parley.join.made/1"},
               {"parley", report::provenance()},
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
  }
  return json.dump(2) + "\n";
}

}  // namespace

Result<Output> run(const JoinOptions& options, ProgressStyle) {
  const Joined joined =
      TRY(join(options.invitation, options.name, {.role = options.role, .folder = options.out}));
  return Output{to_text(joined), to_json(joined)};
}

}  // namespace parley::cli
