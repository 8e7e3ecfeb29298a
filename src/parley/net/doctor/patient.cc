#include "parley/net/doctor/patient.h"

#include <utility>

#include "parley/charter/toml/accept.h"
#include "parley/net/doctor/ask_learner.h"
#include "parley/net/identity/authority.h"
#include "parley/plan/learner/jobs.h"

namespace parley::net {
namespace {

Result<Patient> owner(const PatientOptions& options,
                      const std::optional<charter::Charter>& charter) {
  const auto policy = TRY(charter::read_policy(options.policy));
  if (!policy.identity)
    return Error{Code::kInvalid,
                 "the policy has no [identity]",
                 "`parley join` prints what to put there.",
                 {.file = options.policy.string()}};
  Patient patient{.files = *policy.identity, .name = policy.owner};
  const auto peer = policy.peers.find(charter ? charter->learner.name : "");
  patient.dial = (peer != policy.peers.end() ? peer->second : policy.dial).first();
  patient.proxy = policy.proxy;
  if (charter && charter->protocol.learners.graph.empty())  // A neighbour is no learner to attend.
    patient.ask_learner = [policy, charter, ms = patient.deadline_ms](
                              const Credentials& credentials, const std::string& address) {
      return ask_learner(policy, *charter, credentials, address, std::chrono::milliseconds(ms));
    };
  return patient;
}

Patient learner(const PatientOptions& options, const charter::Charter& charter) {
  const auto file = [&](const char* ending) { return options.identity / (options.name + ending); };
  return {.files = {charter.consortium, file(".crt"), file(".key"),
                    options.identity / kAuthorityCertificate, ""},
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

}  // namespace

Result<Patient> patient_of(const PatientOptions& options, std::optional<charter::Charter> charter) {
  const bool is_owner = options.identity.empty();
  check(is_owner || charter);
  if (charter)
    charter = TRY(towards(std::move(*charter), is_owner ? options.learner : options.name));
  Patient patient = is_owner ? TRY(owner(options, charter)) : learner(options, *charter);
  if (!options.dial.empty()) patient.dial = options.dial;
  if (is_owner && patient.dial.empty() && charter) patient.dial = charter->learner.address.first();
  patient.charter = std::move(charter);
  if (is_owner && patient.dial.empty())
    return Error{Code::kInvalid, "nobody knows where the learner is",
                 "Give --dial HOST:PORT, or write it into the policy: [network] dial."};
  const auto problem = patient.dial.empty() ? "" : charter::host_and_port(patient.dial);
  if (!problem.empty()) return Error{Code::kInvalid, "--dial " + problem};
  return patient;
}

}  // namespace parley::net
