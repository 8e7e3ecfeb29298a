#include "parley/learner.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "parley/api/daemons.h"
#include "parley/api/internal.h"
#include "parley/base/entropy.h"
#include "parley/net/learner.h"
#include "parley/net/vertical.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/pilot_check.h"
#include "parley/plan/learner/warnings.h"
#include "parley/protocol/make_learner.h"
#include "parley/report/distance.h"
#include "parley/report/evaluation.h"
#include "parley/report/provenance.h"

namespace parley {
namespace {

using Json = nlohmann::ordered_json;

/// What the learner keeps from job to job.
std::filesystem::path receipts_of(const LearnerOptions& options) {
  return options.receipts.empty() ? options.identity / "receipts" : options.receipts;
}

/// The learner's own credentials, as `parley join` and `parley certs sign` name them.
charter::Identity credentials_in(const LearnerOptions& options, const charter::Charter& charter) {
  const std::filesystem::path name = options.identity / charter.learner.name;
  return {.consortium = charter.consortium,
          .certificate = name.string() + ".crt",
          .key = name.string() + ".key",
          .authority = options.identity / "authority.crt",
          .sign_key = {},
          .charters = charter.folder,
          .memory = receipts_of(options)};
}

/// Every interface, at the port where owners will dial.
Result<std::string> listen_on(const charter::Charter& charter) {
  const std::string address = charter.learner.address.first();
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos)
    return Error{Code::kInvalid,
                 "the charter does not say where the learner is",
                 "Add address = \"host:port\" to its table, or give --listen.",
                 {.key = "learner.address"}};
  return "[::]" + address.substr(colon);
}

Error nobody_coordinates() {
  return {Code::kInvalid,
          "has all owners learn, and nobody coordinates",
          "Every owner types `parley owner run`.",
          {.key = "protocol.graph"}};
}

Result<net::Credentials> learners_credentials(const LearnerOptions& options,
                                              const charter::Charter& charter, Clock& clock) {
  net::Credentials credentials =
      TRY(net::read_credentials(credentials_in(options, charter), clock));
  const net::Identity us{charter.consortium, "learner", charter.learner.name};
  if (credentials.identity == us) return credentials;
  return Error{
      Code::kInvalid,
      "the certificate is " + credentials.identity.uri() + ", the charter's learner is " + us.uri(),
      "Use the certificate that was made for this learner."};
}

Result<net::LearnerOptions> session_of(const LearnerOptions& options,
                                       const charter::Charter& charter, uint64_t rounds,
                                       const std::filesystem::path& out, const net::Log& log) {
  return net::LearnerOptions{
      .listen = options.listen.empty() ? TRY(listen_on(charter)) : options.listen,
      .out = out,
      .receipts = receipts_of(options),
      .after_alarm = options.after_alarm,
      .wait = options.wait,
      .opened =
          [&options, log](int port) {
            log({net::log::kListening, "listening on port " + std::to_string(port)});
            if (options.opened) options.opened(port);
          },
      .progress =
          [&options, rounds](size_t round) {
            if (options.progress) options.progress(round, rounds);
          }};
}

}  // namespace

Result<LearnerResult> api::run_learner(const Charter& handle, const LearnerOptions& options,
                                       const Daemon& daemon) {
  charter::Charter agreed = handle.internal().charter;
  const std::filesystem::path folders[] = {agreed.folder};
  TRY(charter::load_bundle(agreed, folders));
  if (!agreed.protocol.learners.graph.empty()) return nobody_coordinates();
  const charter::Charter charter = TRY(plan::learners_job(agreed, options.as));
  const auto pilot = TRY(charter::load_pilot(charter, folders));
  const std::filesystem::path out =
      options.out.empty() ? std::filesystem::path("runs") / to_hex(charter.hash).substr(0, 12)
                          : options.out;
  SystemEntropy entropy;
  const auto dealer = TRY(net::dealer_key(charter, out, entropy));
  const auto learner =
      TRY(protocol::make_learner(charter, pilot.get(), protocol::Receipts::kSigned, dealer));
  SystemClock clock;
  const net::LiveCredentials credentials = TRY(learners_credentials(options, charter, clock));
  const net::Log log = log_of(daemon, options.log);
  for (const std::string& warning : TRY(plan::plan_warnings(charter, pilot.get())))
    log({net::log::kPlanWarning, "warning: " + warning});
  const net::CredentialsWatch watch(
      credentials, credentials_in(options, charter),
      [&] { return learners_credentials(options, charter, clock); }, clock, log);
  net::LearnerOptions session = TRY(session_of(options, charter, learner->rounds(), out, log));
  const auto opened = session.opened;
  session.opened = [&, opened](int port) { opened(port), daemon.ready(); };
  session.alive = daemon.alive;
  session.metrics = daemon.metrics;
  return net::run_learner(charter, *learner, credentials, session, clock, daemon.stop, log);
}

Result<LearnerResult> run_learner(const Charter& charter, const LearnerOptions& options) {
  const api::StopFlag stop(options.stop);
  return api::run_learner(charter, options, {.stop = stop.flag()});
}

std::string LearnerResult::to_text() const {
  std::string text =
      fmt::format("{}: trained in {} rounds, {:.3g} s\n", charter_name, rounds, seconds);
  for (const Owner& owner : owners)
    text += fmt::format("  {} spent epsilon {:.6g}\n", owner.name, owner.epsilon_spent);
  if (pilot_check) text += plan::to_text(*pilot_check) + "\n";
  if (stopped_by_alarm) text += "The job ended there: the model is the pilot's.\n";
  if (evaluation) text += report::to_text(*evaluation);
  if (distance) text += report::to_text(*distance);
  return text + fmt::format("model       {}\ntranscript  {}\n", model_file.string(),
                            transcript_file.string());
}

std::string LearnerResult::to_json() const {
  Json each = Json::array();
  for (const Owner& owner : owners)
    each.push_back({{"name", owner.name},
                    {"answers", owner.answers},
                    {"epsilon_spent", owner.epsilon_spent},
                    {"epsilon_evaluation", owner.epsilon_evaluation}});
  return Json{{"parley", report::provenance()},
              {"charter", to_hex(charter)},
              {"name", charter_name},
              {"rounds", rounds},
              {"pilot_check", pilot_check ? Json::parse(report::to_json(*pilot_check)) : Json()},
              {"stopped_by_alarm", stopped_by_alarm},
              {"evaluation", evaluation ? Json::parse(report::to_json(*evaluation)) : Json()},
              {"distance", distance ? Json::parse(report::to_json(*distance)) : Json()},
              {"seconds", seconds},
              {"model_sha256", to_hex(model)},
              {"transcript_sha256", to_hex(transcript)},
              {"model", model_file.string()},
              {"transcript", transcript_file.string()},
              {"owners", each}}
             .dump(2) +
         "\n";
}

}  // namespace parley
