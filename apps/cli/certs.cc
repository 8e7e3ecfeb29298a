// parley certs init|sign
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/base/files.h"
#include "parley/charter/toml/accept.h"
#include "parley/net/identity/authority.h"
#include "parley/net/identity/request.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

Result<void> check_typed(const CertsInitOptions& options) {
  const auto problem = charter::any_domain(options.consortium);
  if (!problem.empty()) return Error{Code::kInvalid, "CONSORTIUM " + problem};
  const auto address = options.address.empty() ? "" : charter::host_and_port(options.address);
  if (!address.empty()) return Error{Code::kInvalid, "--address " + address};
  return {};
}

}  // namespace

Result<Output> run(const CertsInitOptions& options, ProgressStyle) {
  TRY(check_typed(options));
  SystemClock clock;
  const auto authority = net::make_authority(options.consortium, options.days, clock);
  const net::Invitation invitation{options.consortium, options.address, authority.certificate,
                                   authority.fingerprint};
  const std::vector<FileToMake> files = {
      {options.out / net::kAuthorityKey, authority.key, true},
      {options.out / net::kAuthorityCertificate, authority.certificate},
      {options.out / (options.consortium + ".join"), net::to_toml(invitation)}};
  TRY(make_directories(options.out));
  TRY(make_files(files));
  const std::string key = files[0].path.string(), joined = files[2].path.string();
  const std::string text = fmt::format(
      "The authority of {} is made, for {} days.\n"
      "Keep {} secret: who has it can take part as anybody.\n"
      "Send {} to every party. Each compares this fingerprint with you by phone:\n"
      "  {}\n",
      options.consortium, options.days, key, joined, net::spoken(authority.fingerprint));
  const Json json = {{"format", "parley.certs.init/1"},
                     {"parley", report::provenance()},
                     {"consortium", options.consortium},
                     {"address", options.address},
                     {"key", key},
                     {"certificate", files[1].path.string()},
                     {"invitation", joined},
                     {"fingerprint", to_hex(authority.fingerprint)}};
  return Output{text, json.dump(2) + "\n"};
}

Result<Output> run(const CertsSignOptions& options, ProgressStyle) {
  SystemClock clock;
  const auto authority = TRY(net::read_authority(options.authority, clock));
  const std::string request = TRY(read_file(options.request, net::kPemBytesMax));
  const auto asked = TRY(net::read_request(request, options.request.string()));
  const auto made = TRY(net::sign(authority, asked, options.days, clock));
  const auto beside = options.request.parent_path() / (made.identity.name + ".crt");
  const FileToMake file{options.out.empty() ? beside : options.out, made.certificate};
  TRY(must_be_absent(file.path));
  TRY(net::record(options.authority, made, options.replace, clock));
  TRY(make_files({&file, 1}));
  const std::string text = fmt::format(
      "{} asked, with the key\n  {}\n"
      "Compare it by phone with what `parley join` printed there; only then send {} back.\n"
      "It is valid until {}.\n",
      made.identity.uri(), net::spoken(made.key), file.path.string(), made.until);
  const Json json = {{"format", "parley.certs.sign/1"},
                     {"parley", report::provenance()},
                     {"uri", made.identity.uri()},
                     {"key", to_hex(made.key)},
                     {"serial", made.serial},
                     {"until", made.until},
                     {"certificate", file.path.string()}};
  return Output{text, json.dump(2) + "\n"};
}

}  // namespace parley::cli
