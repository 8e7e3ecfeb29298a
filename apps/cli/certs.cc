// parley certs init|sign
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/credentials.h"
#include "parley/report/provenance.h"

namespace parley::cli {

Result<Output> run(const CertsInitOptions& options, ProgressStyle) {
  const AuthorityMade made = TRY(
      make_authority(options.consortium,
                     {.folder = options.out, .address = options.address, .days = options.days}));
  const std::string text = fmt::format(
      "The authority of {} is made, for {} days.\n"
      "Keep {} secret: who has it can take part as anybody.\n"
      "Send {} to every party. Each compares this fingerprint with you by phone:\n"
      "  {}\n",
      options.consortium, options.days, made.key.string(), made.invitation.string(),
      spoken(made.fingerprint));
  const nlohmann::ordered_json json = {{"format", "parley.certs.init/1"},
                                       {"parley", report::provenance()},
                                       {"consortium", options.consortium},
                                       {"address", options.address},
                                       {"key", made.key.string()},
                                       {"certificate", made.certificate.string()},
                                       {"invitation", made.invitation.string()},
                                       {"fingerprint", to_hex(made.fingerprint)}};
  return Output{text, json.dump(2) + "\n"};
}

Result<Output> run(const CertsSignOptions& options, ProgressStyle) {
  const Signed made = TRY(sign_request(options.request, {.authority = options.authority,
                                                         .days = options.days,
                                                         .replace = options.replace,
                                                         .out = options.out}));
  const std::string text = fmt::format(
      "{} asked, with the key\n  {}\n"
      "Compare it by phone with what `parley join` printed there; only then send {} back.\n"
      "It is valid until {}.\n",
      made.uri, spoken(made.key_fingerprint), made.certificate.string(), made.until);
  const nlohmann::ordered_json json = {{"format", "parley.certs.sign/1"},
                                       {"parley", report::provenance()},
                                       {"uri", made.uri},
                                       {"key", to_hex(made.key_fingerprint)},
                                       {"serial", made.serial},
                                       {"until", made.until},
                                       {"certificate", made.certificate.string()}};
  return Output{text, json.dump(2) + "\n"};
}

}  // namespace parley::cli
