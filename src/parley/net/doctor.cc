#include "parley/net/doctor.h"

#include <algorithm>

#include "parley/base/signature.h"
#include "parley/net/doctor_dial.h"

namespace parley::net {
namespace {

constexpr int64_t kDay = 86400;
constexpr int64_t kRenewDays = 30;
using Said = Result<std::string>;

/// Findings, one after the other until one is wrong.
class Examination {
 public:
  /// Looks, unless something before was wrong.
  template <class Look>
  void check_that(std::string name, Look look) {
    Finding& finding = diagnosis_.findings.emplace_back(Finding{std::move(name)});
    if (diagnosis_.wrong() != nullptr) return;
    const Said said = look();
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

Said look_at_name(const Patient& patient, const Papers& papers) {
  const Identity wanted = expected(patient);
  if (papers.identity == wanted) return papers.identity.uri();
  return Error{Code::kIntegrity,
               "is of " + papers.identity.uri() + ", and " + wanted.uri() + " is meant",
               "Take the certificate of that party, or correct the name.",
               {.file = patient.files.certificate.string()}};
}

Said look_at_clock(const Papers& papers, Clock& clock) {
  const int64_t until = validity_of(certificate_from(papers.certificate).get()).until;
  const int64_t days = (until - clock.unix_seconds()) / kDay;
  return clock.now() + ", and the certificate lasts until " + time_text(until) +
         (days < kRenewDays ? ": have it renewed soon" : "");
}

Said look_at_sign_key(const Patient& patient) {
  const std::string file = patient.files.sign_key.string();
  const std::string pem = TRY(read_secret(patient.files.sign_key));
  const auto key = SigningKey::from_pem(pem);
  if (!key) return Error{Code::kInvalid, key.error().what, key.error().hint, {.file = file}};
  const std::string ours = to_text(key->public_key());
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

Said look_at_charter(const Patient& patient) {
  const charter::Charter& charter = *patient.charter;
  const auto wrong = [&](const std::string& what) {
    return Error{Code::kIntegrity, "charter " + charter.name + " " + what,
                 "Is it the charter that you mean?"};
  };
  if (charter.consortium != patient.files.consortium)
    return wrong("is of consortium " + charter.consortium + ", and the papers are of " +
                 patient.files.consortium);
  const bool named = is_owner(patient)
                         ? std::any_of(charter.owners.begin(), charter.owners.end(),
                                       [&](const auto& each) { return each.name == patient.name; })
                         : charter.learner.name == patient.name;
  if (!named) return wrong("does not name " + expected(patient).uri());
  return charter.name + ", " + to_hex(charter.hash);
}

Result<Socket> reach(const Patient& patient) {
  if (patient.proxy.empty()) return connect_to(patient.dial, patient.deadline_ms);
  Socket socket = TRY(connect_to(patient.proxy.substr(7), patient.deadline_ms));  // http://
  TRY(connect_through(socket, patient.dial, patient.deadline_ms));
  return socket;
}

/// Does the alert say that our certificate is not welcome? (RFC 8446, 6.2)
bool is_about_us(int alert) {
  return (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN) ||
         alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_ACCESS_DENIED ||
         alert == SSL_AD_CERTIFICATE_REQUIRED;
}

Said look_at_tls(const Patient& patient, const Handshake& shaken) {
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    return Error{Code::kUnavailable, patient.dial + " " + what, hint};
  };
  if (!shaken.is_tls)
    return wrong("answers, but not in TLS", "Is this the learner's port, and not another's?");
  if (shaken.finished) return shaken.version;
  if (shaken.verdict != X509_V_OK || (shaken.alert && is_about_us(*shaken.alert)))
    return std::string("spoken");
  if (shaken.alert)
    return wrong(std::string("ends TLS with the alert \"") +
                     SSL_alert_desc_string_long(*shaken.alert) + "\"",
                 "Is this a learner of Parley?");
  return wrong("accepts connections and does not speak TLS: it " + shaken.trouble,
               "Is this the learner's port, and not another's?");
}

/// Whom the peer's certificate names, as far as that can be read.
std::string shown_by(const Handshake& shaken) {
  const auto identity = identity_of(shaken.peer.get());
  return identity ? identity->uri() : "a certificate that names no party";
}

Said look_at_peer(const Papers& papers, const Handshake& shaken, Clock& clock) {
  const auto wrong = [](const std::string& what, const std::string& hint) {
    return Error{Code::kIntegrity, what, hint};
  };
  switch (shaken.verdict) {
    case X509_V_OK:
      return "valid until " + time_text(validity_of(shaken.peer.get()).until);
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return wrong("the peer's certificate is valid from " + time_text(shaken.dates.from) +
                       " until " + time_text(shaken.dates.until) +
                       ", and this machine's clock says " + clock.now(),
                   "Check this machine's clock; if it is right, the learner needs a new one.");
    case X509_V_ERR_INVALID_PURPOSE:
      return wrong("the peer shows the certificate of " + shown_by(shaken) +
                       ", which is not meant for a learner",
                   "Somebody else listens at the learner's address.");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return wrong("the peer shows " + shown_by(shaken) +
                       ", not certified by our authority, whose fingerprint is " +
                       to_hex(fingerprint_of(certificate_from(papers.authority).get())),
                   "Is it the learner of another consortium, or a device on the way that opens "
                   "TLS? Compare the authority's fingerprint with the learner.");
    default:
      return wrong(std::string("the peer's certificate is refused: ") +
                       X509_verify_cert_error_string(shaken.verdict),
                   "The learner needs a new one: `parley certs sign`.");
  }
}

Said look_at_learner(const Patient& patient, const Handshake& shaken) {
  const Identity found = TRY(identity_of(shaken.peer.get()));
  Identity wanted{patient.files.consortium, "learner", found.name};
  if (patient.charter) wanted.name = patient.charter->learner.name;
  if (found == wanted) return found.uri();
  return Error{Code::kIntegrity,
               "the peer is " + found.uri() + ", and " +
                   (patient.charter ? wanted.uri() : "a learner of " + wanted.consortium) +
                   " is expected",
               "Check the address, and the learner's name in the charter."};
}

std::string what_to_do(int alert) {
  switch (alert) {
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "By the learner's clock our certificate has ended: compare both clocks, or have it "
             "renewed.";
    case SSL_AD_UNKNOWN_CA:
      return "The learner trusts another authority: compare the authorities' fingerprints.";
    case SSL_AD_BAD_CERTIFICATE:
      return "Perhaps it is not valid yet by the learner's clock: compare both clocks.";
    default:
      return "Ask the learner what its log says.";
  }
}

Said look_at_welcome(const Handshake& shaken) {
  if (shaken.alert)
    return Error{Code::kIntegrity,
                 std::string("the peer refuses our certificate with the alert \"") +
                     SSL_alert_desc_string_long(*shaken.alert) + "\"",
                 what_to_do(*shaken.alert)};
  if (!shaken.welcomed)
    return Error{Code::kUnavailable, "after the handshake the peer " + shaken.trouble,
                 "Ask the learner what its log says."};
  return std::string("our certificate is accepted");
}

Said look_at_http2(const Patient& patient, const Handshake& shaken) {
  if (shaken.http2) return std::string("spoken");
  return Error{Code::kUnavailable, patient.dial + " does not speak HTTP/2",
               "Is this a learner of Parley? A proxy in between must pass TLS through."};
}

void examine_papers(Examination& examination, const Patient& patient, Clock& clock,
                    std::optional<Papers>& papers) {
  examination.check_that("papers", [&]() -> Said {
    papers = TRY(read_papers(patient.files, clock));
    return look_at_name(patient, *papers);
  });
  examination.check_that("clock", [&] { return look_at_clock(*papers, clock); });
  if (is_owner(patient))
    examination.check_that("sign key", [&] { return look_at_sign_key(patient); });
  if (patient.charter) examination.check_that("charter", [&] { return look_at_charter(patient); });
}

void examine_connection(Examination& examination, const Patient& patient, Clock& clock,
                        const std::optional<Papers>& papers) {
  const bool direct = patient.proxy.empty();
  Socket socket;
  Handshake shaken;
  examination.check_that(direct ? "address" : "proxy",
                         [&] { return resolve(direct ? patient.dial : patient.proxy.substr(7)); });
  examination.check_that("reachable", [&]() -> Said {
    socket = TRY(reach(patient));
    return patient.dial + " accepts connections";
  });
  examination.check_that("tls", [&] {
    const std::string host = split_address(patient.dial).host;
    shaken = shake_hands(socket, host, *papers, patient.deadline_ms, clock);
    return look_at_tls(patient, shaken);
  });
  examination.check_that("peer", [&] { return look_at_peer(*papers, shaken, clock); });
  examination.check_that("learner", [&] { return look_at_learner(patient, shaken); });
  examination.check_that("welcome", [&] { return look_at_welcome(shaken); });
  examination.check_that("http/2", [&] { return look_at_http2(patient, shaken); });
  if (!patient.ask_learner) return;
  examination.check_that("job", [&]() -> Said {
    TRY(patient.ask_learner(*papers, patient.dial));
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
  std::optional<Papers> papers;
  examine_papers(examination, patient, clock, papers);
  if (!patient.dial.empty()) examine_connection(examination, patient, clock, papers);
  return examination.take();
}

}  // namespace parley::net
