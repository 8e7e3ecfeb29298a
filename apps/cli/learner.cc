// parley learner run|resume CHARTER
#include "parley/net/learner.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "interrupt.h"
#include "parley/base/entropy.h"
#include "parley/net/vertical.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/warnings.h"
#include "parley/protocol/make_learner.h"
#include "parley/report/evaluation.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The learner's own papers, as `parley join` and `parley certs sign` name them.
charter::Identity credentials_in(const std::filesystem::path& folder,
                                 const charter::Charter& charter) {
  const std::filesystem::path name = folder / charter.learner.name;
  return {.consortium = charter.consortium,
          .certificate = name.string() + ".crt",
          .key = name.string() + ".key",
          .authority = folder / "authority.crt",
          .sign_key = {}};
}

/// Every interface, at the port where owners will dial.
Result<std::string> listen_on(const charter::Charter& charter) {
  const size_t colon = charter.learner.address.rfind(':');
  if (colon == std::string::npos)
    return Error{Code::kInvalid,
                 "the charter does not say where the learner is",
                 "Add address = \"host:port\" to its table, or give --listen.",
                 {.key = "learner.address"}};
  return "[::]" + charter.learner.address.substr(colon);
}

Error nobody_coordinates() {
  return {Code::kInvalid,
          "has all owners learn, and nobody coordinates",
          "Every owner types `parley owner run`.",
          {.key = "protocol.graph"}};
}

std::string text_of(const net::LearnerResult& result) {
  std::string text = fmt::format("{}: trained in {} rounds, {:.3g} s\n", result.charter_name,
                                 result.rounds, result.seconds);
  for (const auto& owner : result.owners)
    text += fmt::format("  {} spent epsilon {:.6g}\n", owner.name, owner.epsilon_spent);
  if (result.evaluation) text += report::to_text(*result.evaluation);
  return text + fmt::format("model       {}\ntranscript  {}\n", result.model_file.string(),
                            result.transcript_file.string());
}

std::string json_of(const net::LearnerResult& result) {
  Json owners = Json::array();
  for (const auto& owner : result.owners)
    owners.push_back({{"name", owner.name},
                      {"answers", owner.answers},
                      {"epsilon_spent", owner.epsilon_spent},
                      {"epsilon_evaluation", owner.epsilon_evaluation}});
  return Json{{"parley", report::provenance()},
              {"charter", to_hex(result.charter)},
              {"name", result.charter_name},
              {"rounds", result.rounds},
              {"evaluation",
               result.evaluation ? Json::parse(report::to_json(*result.evaluation)) : Json()},
              {"seconds", result.seconds},
              {"model_sha256", to_hex(result.model)},
              {"transcript_sha256", to_hex(result.transcript)},
              {"model", result.model_file.string()},
              {"transcript", result.transcript_file.string()},
              {"owners", owners}}
             .dump(2) +
         "\n";
}

}  // namespace

Result<Output> run(const LearnerOptions& options, ProgressStyle style) {
  charter::Charter agreed = TRY(charter::read_charter(options.charter));
  const std::filesystem::path folders[] = {agreed.folder};
  TRY(charter::load_bundle(agreed, folders));
  if (!agreed.protocol.graph.empty()) return nobody_coordinates();
  const charter::Charter charter = TRY(plan::learners_job(agreed, options.as));
  const auto pilot = TRY(charter::load_pilot(charter, folders));
  const std::filesystem::path out =
      options.out.value_or("runs/" + to_hex(charter.hash).substr(0, 12));
  SystemEntropy entropy;
  const auto dealer = TRY(net::dealer_key(charter, out, options.resume, entropy));
  const auto learner =
      TRY(protocol::make_learner(charter, pilot.get(), protocol::Receipts::kSigned, dealer));
  SystemClock clock;
  const net::Credentials credentials =
      TRY(net::read_credentials(credentials_in(options.identity, charter), clock));
  const net::Identity us{charter.consortium, "learner", charter.learner.name};
  if (credentials.identity != us)
    return Error{Code::kInvalid,
                 "the certificate is " + credentials.identity.uri() +
                     ", the charter's learner is " + us.uri(),
                 "Use the certificate that was made for this learner."};
  heed_interrupts();
  const net::Log log = log_line;
  net::log_refused_handshakes(log);
  for (const std::string& warning : TRY(plan::plan_warnings(charter, pilot.get())))
    log("warning: " + warning);
  Progress progress(style, "rounds", learner->rounds());
  size_t shown = 0;
  const net::LearnerOptions session{
      .listen = options.listen.empty() ? TRY(listen_on(charter)) : options.listen,
      .out = out,
      .receipts = options.receipts.value_or(options.identity / "receipts"),
      .resume = options.resume,
      .wait = std::chrono::seconds(options.wait),
      .opened = [&](int port) { log("listening on port " + std::to_string(port)); },
      .progress = [&](size_t round) { progress.advance(round - std::exchange(shown, round)); }};
  const auto result =
      TRY(net::run_learner(charter, *learner, credentials, session, clock, interrupted, log));
  progress.finish();
  return Output{text_of(result), json_of(result)};
}

}  // namespace parley::cli
