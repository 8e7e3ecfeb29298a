#include "parley/net/doctor/peer.h"

#include "parley/net/transport/frame.h"
#include "parley/net/transport/tls.h"

namespace parley::net {
namespace {

/// Whom the peer's certificate names, as far as that can be read.
std::string shown_by(const Handshake& shaken) {
  const auto identity = identity_of(shaken.peer.get());
  return identity ? identity->uri() : "a certificate that names no party";
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
    case SSL_AD_HANDSHAKE_FAILURE:
      return "Nobody of our name is expected there: is it in the charter that the learner runs?";
    default:
      return "Ask the learner what its log says.";
  }
}

}  // namespace

Seen look_at_tls(const Patient& patient, const Handshake& shaken) {
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    return Error{Code::kUnavailable, patient.dial + " " + what, hint};
  };
  if (!shaken.is_tls)
    return wrong("answers, but not in TLS", "Is this the learner's port, and not another's?");
  const bool refused = shaken.alert && is_about_our_certificate(*shaken.alert);
  if (shaken.peer && shaken.finished && shaken.version != "TLSv1.3")
    return wrong("speaks " + shaken.version + ", and TLS 1.3 is needed",
                 "Is this a learner of Parley, of the same version?");
  if (shaken.peer && shaken.finished) return shaken.version;
  if (shaken.peer && (shaken.verdict != X509_V_OK || refused)) return std::string("spoken");
  if (shaken.alert)
    return wrong(std::string("ends TLS with the alert \"") +
                     SSL_alert_desc_string_long(*shaken.alert) + "\"",
                 "Is this a learner of Parley?");
  return wrong("accepts connections and does not speak TLS: it " + shaken.trouble,
               "Is this the learner's port, and not another's?");
}

Seen look_at_peer(const Credentials& credentials, const Handshake& shaken, Clock& clock) {
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
    case X509_V_ERR_CERT_REVOKED:
      return wrong("the authority has revoked the peer's certificate",
                   "Ask the consortium who the learner is now.");
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
                       to_hex(fingerprint_of(certificate_from(credentials.authority).get())),
                   "Is it the learner of another consortium, or a device on the way that opens "
                   "TLS? Compare the authority's fingerprint with the learner.");
    default:
      return wrong(std::string("the peer's certificate is refused: ") +
                       X509_verify_cert_error_string(shaken.verdict),
                   "The learner needs a new one: `parley certs sign`.");
  }
}

Seen look_at_learner(const Patient& patient, const Handshake& shaken) {
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

Seen look_at_welcome(const Handshake& shaken) {
  if (shaken.alert) {
    const bool refused = is_about_our_certificate(*shaken.alert);
    return Error{refused ? Code::kIntegrity : Code::kUnavailable,
                 std::string("the peer ") +
                     (refused ? "refuses our certificate" : "ends the connection") +
                     " with the alert \"" + SSL_alert_desc_string_long(*shaken.alert) + "\"",
                 what_to_do(*shaken.alert)};
  }
  if (!shaken.welcomed)
    return Error{Code::kUnavailable, "after the handshake the peer " + shaken.trouble,
                 "Ask the learner what its log says."};
  return std::string("our certificate is accepted");
}

Seen look_at_protocol(const Patient& patient, const Handshake& shaken) {
  if (shaken.speaks_ours) return std::string(kProtocol);
  return Error{Code::kUnavailable,
               patient.dial + " does not speak " + std::string(kProtocol) +
                   ": it runs Parley 0.1, or something else",
               "Install the same version of Parley on both sides. A proxy in between must pass TLS "
               "through."};
}

}  // namespace parley::net
