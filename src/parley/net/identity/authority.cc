#include "parley/net/identity/authority.h"

#include <openssl/bn.h>

#include <algorithm>

#include "parley/net/identity/request.h"
#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

constexpr int64_t kDay = 86400;
constexpr int64_t kSlack = 3600;  // Clocks of the others may be an hour behind.
constexpr int kSerialBits = 128;

void set_serial(X509* certificate) {
  const std::unique_ptr<BIGNUM, Freed<BN_free>> serial(BN_new());
  check(serial && BN_rand(serial.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
        BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr);
}

void set_validity(X509* certificate, const Validity& valid) {
  check(ASN1_TIME_set(X509_getm_notBefore(certificate), valid.from) != nullptr &&
        ASN1_TIME_set(X509_getm_notAfter(certificate), valid.until) != nullptr);
}

/// Values are made of names that were checked: nothing in them means anything to the parser.
void add(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

Certificate blank(const Validity& valid, EVP_PKEY* key) {
  Certificate certificate(X509_new());
  check(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
        X509_set_pubkey(certificate.get(), key) == 1);
  set_serial(certificate.get());
  set_validity(certificate.get(), valid);
  return certificate;
}

Certificate leaf(const Asked& asked, X509* authority, EVP_PKEY* asked_key, const Validity& valid) {
  Certificate made = blank(valid, asked_key);
  X509* certificate = made.get();
  const bool serves = asked.identity.role == "learner";
  set_common_name(X509_get_subject_name(certificate), asked.identity.name);
  check(X509_set_issuer_name(certificate, X509_get_subject_name(authority)) == 1);
  add(certificate, authority, NID_basic_constraints, "critical,CA:FALSE");
  add(certificate, authority, NID_key_usage, "critical,digitalSignature");
  add(certificate, authority, NID_ext_key_usage, serves ? "serverAuth,clientAuth" : "clientAuth");
  add(certificate, authority, NID_subject_alt_name, "URI:" + asked.identity.uri());
  add(certificate, authority, NID_subject_key_identifier, "hash");
  add(certificate, authority, NID_authority_key_identifier, "keyid");
  if (asked.sign_key)
    check(X509_add_ext(certificate, sign_key_extension(*asked.sign_key).get(), -1) == 1);
  return made;
}

}  // namespace

Authority make_authority(const std::string& consortium, int64_t days, Clock& clock) {
  const Key key = make_p256();
  const int64_t now = clock.unix_seconds();
  const Certificate made = blank({now - kSlack, now + days * kDay}, key.get());
  X509* certificate = made.get();
  set_common_name(X509_get_subject_name(certificate), "Parley authority");
  check(X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1);
  add(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  // Whatever it signs, nobody's TLS accepts a name of another consortium from it.
  add(certificate, certificate, NID_name_constraints, "critical,permitted;URI:" + consortium);
  add(certificate, certificate, NID_subject_key_identifier, "hash");
  check(X509_sign(certificate, key.get(), EVP_sha256()) > 0);
  return {consortium, private_pem_of(key.get()), pem_of(certificate), fingerprint_of(certificate)};
}

Result<Authority> read_authority(const std::filesystem::path& folder, Clock& clock) {
  const std::filesystem::path file = folder / kAuthorityCertificate;
  const Certificate certificate = TRY(read_certificate(file));
  const Key key = TRY(read_key(folder / kAuthorityKey));
  const auto wrong = [&](const std::string& what, const std::string& hint) {
    return Error{Code::kIntegrity, what, hint, {.file = file.string()}};
  };
  std::string consortium = consortium_of(certificate.get());
  if (consortium.empty())
    return wrong("is not the certificate of an authority", "Use what `parley certs init` made.");
  if (EVP_PKEY_eq(X509_get0_pubkey(certificate.get()), key.get()) != 1)
    return wrong(std::string("does not belong to ") + kAuthorityKey,
                 "Use what `parley certs init` made.");
  const Validity valid = validity_of(certificate.get());
  if (clock.unix_seconds() < valid.from || clock.unix_seconds() >= valid.until)
    return wrong("is valid from " + time_text(valid.from) + " until " + time_text(valid.until) +
                     ", and this machine's clock says " + clock.now(),
                 "If the clock is right, the consortium needs a new authority.");
  return Authority{std::move(consortium), private_pem_of(key.get()), pem_of(certificate.get()),
                   fingerprint_of(certificate.get())};
}

Result<Signed> sign(const Authority& authority, const Asked& asked, int64_t days, Clock& clock) {
  if (asked.identity.consortium != authority.consortium)
    return Error{Code::kIntegrity,
                 "the request is of " + asked.identity.uri() + ", and this is the authority of " +
                     authority.consortium,
                 "Send it to the authority of " + asked.identity.consortium + "."};
  const Certificate issuer = certificate_from(authority.certificate);
  const Key key = key_from(authority.key);
  const SigningRequest parsed = request_from(asked.request);
  check(issuer && key && parsed);
  const int64_t now = clock.unix_seconds();
  const Validity whole = validity_of(issuer.get());
  const Validity valid{std::max(now - kSlack, whole.from),
                       std::min(now + days * kDay, whole.until)};
  const Certificate made = leaf(asked, issuer.get(), X509_REQ_get0_pubkey(parsed.get()), valid);
  check(X509_sign(made.get(), key.get(), EVP_sha256()) > 0);
  return Signed{asked.identity, serial_of(made.get()), time_text(valid.until),
                asked.key,      asked.sign_key,        pem_of(made.get())};
}

}  // namespace parley::net
