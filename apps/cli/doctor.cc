// parley doctor [POLICY]
#include "parley/net/doctor/doctor.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "overrides.h"
#include "parley/charter/toml/accept.h"
#include "parley/net/doctor/ask_learner.h"
#include "parley/net/identity/authority.h"
#include "parley/net/transport/transport.h"
#include "parley/plan/learner/jobs.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

Result<net::Patient> owner(const DoctorOptions& options,
                           const std::optional<charter::Charter>& charter) {
  const auto policy = TRY(charter::read_policy(options.policy));
  if (!policy.identity)
    return Error{Code::kInvalid,
                 "the policy has no [identity]",
                 "`parley join` prints what to put there.",
                 {.file = options.policy.string()}};
  net::Patient patient{.files = *policy.identity, .name = policy.owner};
  const auto peer = policy.peers.find(charter ? charter->learner.name : "");
  patient.dial = peer != policy.peers.end() ? peer->second : policy.dial;
  patient.proxy = policy.proxy;
  if (charter && charter->protocol.learners.graph.empty())  // A neighbour is no learner to attend.
    patient.ask_learner = [policy, charter, ms = patient.deadline_ms](
                              const net::Credentials& credentials, const std::string& address) {
      return net::ask_learner(policy, *charter, credentials, address,
                              std::chrono::milliseconds(ms));
    };
  return patient;
}

net::Patient learner(const DoctorOptions& options, const charter::Charter& charter) {
  const auto file = [&](const char* ending) { return options.identity / (options.name + ending); };
  return {.files = {charter.consortium, file(".crt"), file(".key"),
                    options.identity / net::kAuthorityCertificate, ""},
          .name = options.name};
}

/// Where every owner learns, as towards the one that is dialled.
Result<charter::Charter> towards(charter::Charter charter, const std::string& learner) {
  if (charter.central()) return charter;
  if (charter.protocol.learners.graph.empty()) return plan::learners_job(charter, learner);
  for (const charter::Owner& owner : charter.owners)
    if (owner.name == learner) charter.learner = {learner, owner.address};
  if (!charter.learner.name.empty()) return charter;
  return Error{Code::kInvalid, "every owner learns: which one is to be dialled?",
               "Name one of the charter's owners with --learner."};
}

Result<net::Patient> patient_of(const DoctorOptions& options) {
  std::optional<charter::Charter> charter;
  const bool is_owner = options.identity.empty();
  if (!options.charter.empty())
    charter = TRY(towards(TRY(charter::read_charter(options.charter, TRY(overrides(options.set)))),
                          is_owner ? options.learner : options.name));
  net::Patient patient = is_owner ? TRY(owner(options, charter)) : learner(options, *charter);
  if (!options.dial.empty()) patient.dial = options.dial;
  if (is_owner && patient.dial.empty() && charter) patient.dial = charter->learner.address;
  patient.charter = std::move(charter);
  if (is_owner && patient.dial.empty())
    return Error{Code::kInvalid, "nobody knows where the learner is",
                 "Give --dial HOST:PORT, or write it into the policy: [network] dial."};
  const auto problem = patient.dial.empty() ? "" : charter::host_and_port(patient.dial);
  if (!problem.empty()) return Error{Code::kInvalid, "--dial " + problem};
  return patient;
}

std::string state_of(const net::Finding& finding) {
  return finding.wrong ? "wrong" : finding.said.empty() ? "not tried" : "ok";
}

std::string to_text(const net::Diagnosis& diagnosis) {
  const Error* wrong = diagnosis.wrong();
  std::string text = wrong ? "Wrong: " + describe(*wrong) + "\n" : "Everything is in order.\n";
  if (wrong && !wrong->hint.empty()) text += wrong->hint + "\n";
  text += "\n";
  for (const net::Finding& finding : diagnosis.findings)
    text += fmt::format("{:<9}  {}\n", state_of(finding),
                        finding.wrong || finding.said.empty()
                            ? finding.check
                            : fmt::format("{:<9}  {}", finding.check, finding.said));
  return text;
}

std::string to_json(const net::Diagnosis& diagnosis, int exit) {
  const Error* wrong = diagnosis.wrong();
  Json json = {{"format", "parley.doctor/1"},
               {"parley", report::provenance()},
               {"ok", wrong == nullptr},
               {"exit", exit},
               {"checks", Json::array()}};
  if (wrong)
    json["wrong"] = {
        {"code", name_of(wrong->code)}, {"what", describe(*wrong)}, {"hint", wrong->hint}};
  for (const net::Finding& finding : diagnosis.findings)
    json["checks"].push_back(
        {{"check", finding.check}, {"state", state_of(finding)}, {"said", finding.said}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<Output> run(const DoctorOptions& options, ProgressStyle) {
  const auto patient = TRY(patient_of(options));
  SystemClock clock;
  net::log_refused_handshakes(nullptr);  // The diagnosis says it better.
  const auto diagnosis = net::diagnose(patient, clock);
  const int exit = diagnosis.wrong() ? exit_status(diagnosis.wrong()->code) : 0;
  return Output{to_text(diagnosis), to_json(diagnosis, exit), "", exit};
}

}  // namespace parley::cli
