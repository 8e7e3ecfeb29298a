#include "parley/net/doctor/doctor.h"

#include <algorithm>

#include "parley/base/crypto/signature.h"
#include "parley/net/doctor/peer.h"
#include "parley/net/identity/live_credentials.h"
#include "parley/net/identity/members.h"
#include "parley/plan/learner/weights.h"

namespace parley::net {
namespace {

/// Findings, one after the other until one is wrong.
class Examination {
 public:
  /// Looks, unless something before was wrong.
  template <class Look>
  void check_that(std::string name, Look look) {
    Finding& finding = diagnosis_.findings.emplace_back(Finding{std::move(name)});
    if (diagnosis_.wrong() != nullptr) return;
    const Seen said = look();
    finding.said = said ? *said : describe(said.error());
    if (!said) finding.wrong = said.error();
  }
  Diagnosis take() { return std::move(diagnosis_); }

 private:
  Diagnosis diagnosis_{};
};

bool is_owner(const Patient& patient) { return !patient.files.sign_key.empty(); }

Identity expected(const Patient& patient) {
  return {patient.files.consortium, is_owner(patient) ? "owner" : "learner", patient.name};
}

Seen look_at_name(const Patient& patient, const Credentials& credentials) {
  const Identity wanted = expected(patient);
  if (credentials.identity == wanted) return credentials.identity.uri();
  return Error{Code::kIntegrity,
               "is of " + credentials.identity.uri() + ", and " + wanted.uri() + " is meant",
               "Take the certificate of that party, or correct the name.",
               {.file = patient.files.certificate.string()}};
}

Seen look_at_clock(const Credentials& credentials, Clock& clock) {
  const int64_t until = validity_of(certificate_from(credentials.certificate).get()).until;
  return clock.now() + ", and the certificate lasts until " + time_text(until) +
         (renewal_notice(credentials, clock).empty() ? "" : ": have it renewed soon");
}

Seen look_at_sign_key(const Patient& patient, const Credentials& credentials) {
  const std::string file = patient.files.sign_key.string();
  const std::string pem = TRY(read_secret(patient.files.sign_key));
  const auto key = SigningKey::from_pem(pem);
  if (!key) return Error{Code::kInvalid, key.error().what, key.error().hint, {.file = file}};
  const std::string ours = to_text(key->public_key());
  const auto certified = sign_key_of(certificate_from(credentials.certificate).get());
  if (certified != key->public_key())
    return Error{Code::kIntegrity,
                 "is " + ours + ", and our certificate names " +
                     (certified ? to_text(*certified) : "no signing key"),
                 "Move our request away and make it anew with `parley join`, which keeps the keys; "
                 "then have it signed: `parley certs sign`.",
                 {.file = file}};
  if (!patient.charter) return ours;
  for (const charter::Owner& owner : patient.charter->owners)
    if (owner.name == patient.name && owner.sign_key != key->public_key())
      return Error{Code::kIntegrity,
                   "is " + ours + ", and the charter has " +
                       (owner.sign_key ? to_text(*owner.sign_key) : "none") + " for " + owner.name,
                   "Take the key that the charter names, or have the charter corrected, which "
                   "makes it another job.",
                   {.file = file}};
  return ours;
}

Seen look_at_charter(const Patient& patient) {
  const charter::Charter& charter = *patient.charter;
  const auto wrong = [&](const std::string& what) {
    return Error{Code::kIntegrity, "charter " + charter.name + " " + what,
                 "Is it the charter that you mean?"};
  };
  if (charter.consortium != patient.files.consortium)
    return wrong("is of consortium " + charter.consortium + ", and the credentials are of " +
                 patient.files.consortium);
  const bool named = is_owner(patient)
                         ? std::any_of(charter.owners.begin(), charter.owners.end(),
                                       [&](const auto& each) { return each.name == patient.name; })
                         : charter.learner.name == patient.name;
  if (!named) return wrong("does not name " + expected(patient).uri());
  return charter.name + ", " + to_hex(charter.hash);
}

Seen look_at_members(const Patient& patient, Clock& clock) {
  TRY(plan::every_sign_key(*patient.charter));
  TRY(check_members(patient.files, *patient.charter, patient.name, clock));
  return "the authority vouches for the keys of all " +
         std::to_string(patient.charter->owners.size()) + " owners";
}

void examine_credentials(Examination& examination, const Patient& patient, Clock& clock,
                         std::optional<Credentials>& credentials) {
  examination.check_that("credentials", [&]() -> Seen {
    credentials = TRY(read_credentials(patient.files, clock));
    return look_at_name(patient, *credentials);
  });
  examination.check_that("clock", [&] { return look_at_clock(*credentials, clock); });
  if (is_owner(patient))
    examination.check_that("sign key", [&] { return look_at_sign_key(patient, *credentials); });
  if (!patient.charter) return;
  examination.check_that("charter", [&] { return look_at_charter(patient); });
  if (is_owner(patient))
    examination.check_that("members", [&] { return look_at_members(patient, clock); });
}

void examine_connection(Examination& examination, const Patient& patient, Clock& clock,
                        const std::optional<Credentials>& credentials) {
  const bool direct = patient.proxy.empty();
  Socket socket;
  Handshake shaken;
  examination.check_that(direct ? "address" : "proxy",
                         [&] { return resolve(direct ? patient.dial : patient.proxy.substr(7)); });
  examination.check_that("reachable", [&]() -> Seen {
    const Deadline deadline(patient.deadline_ms);
    socket = TRY(reach(patient.dial, patient.proxy, deadline));
    return patient.dial + " accepts connections";
  });
  examination.check_that("tls", [&] {
    const std::string host = split_address(patient.dial).host;
    shaken = shake_hands(socket, host, *credentials, patient.deadline_ms, clock);
    return look_at_tls(patient, shaken);
  });
  examination.check_that("peer", [&] { return look_at_peer(*credentials, shaken, clock); });
  examination.check_that("learner", [&] { return look_at_learner(patient, shaken); });
  examination.check_that("protocol", [&] { return look_at_protocol(patient, shaken); });
  examination.check_that("welcome", [&] { return look_at_welcome(shaken); });
  if (!patient.ask_learner) return;
  examination.check_that("job", [&]() -> Seen {
    TRY(patient.ask_learner(*credentials, patient.dial));
    return std::string("the learner takes part in it");
  });
}

}  // namespace

const Error* Diagnosis::wrong() const {
  for (const Finding& finding : findings)
    if (finding.wrong) return &*finding.wrong;
  return nullptr;
}

Diagnosis diagnose(const Patient& patient, Clock& clock) {
  Examination examination;
  std::optional<Credentials> credentials;
  examine_credentials(examination, patient, clock, credentials);
  if (!patient.dial.empty()) examine_connection(examination, patient, clock, credentials);
  return examination.take();
}

}  // namespace parley::net
