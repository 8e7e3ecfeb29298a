// RAII types for certificates and keys of OpenSSL, and the operations on them that are needed here.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/crypto/signature.h"
#include "parley/base/result.h"
#include "parley/net/identity/identity.h"

namespace parley::net {

template <auto free_it>
struct Freed {
  template <class T>
  void operator()(T* held) const {
    free_it(held);
  }
};
inline void free_memory(BIO* memory) { BIO_free(memory); }
inline void free_names(GENERAL_NAMES* names) { GENERAL_NAMES_free(names); }
inline void free_extensions(STACK_OF(X509_EXTENSION) * held) {
  sk_X509_EXTENSION_pop_free(held, X509_EXTENSION_free);
}
using Memory = std::unique_ptr<BIO, Freed<free_memory>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using SigningRequest = std::unique_ptr<X509_REQ, Freed<X509_REQ_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Freed<free_names>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;
using Extensions = std::unique_ptr<STACK_OF(X509_EXTENSION), Freed<free_extensions>>;

/// From PEM, or nullptr. A text with two certificates is none: which one would count?
Certificate certificate_from(std::string_view pem);
/// Any number of them, one after the other; nothing if one is damaged.
std::optional<std::vector<Certificate>> certificates_from(std::string_view pem);
SigningRequest request_from(std::string_view pem);
Key key_from(std::string_view pem);
/// The same from files, with what is wrong; nobody but its user may open the key's.
Result<Certificate> read_certificate(const std::filesystem::path& file);
Result<Key> read_key(const std::filesystem::path& file);

std::string pem_of(X509* certificate);
std::string pem_of(X509_REQ* request);
/// PKCS #8, without a password.
std::string private_pem_of(EVP_PKEY* key);

/// In hexadecimal, 16 bytes at least, as the list of what was signed has it.
std::string serial_text(const ASN1_INTEGER* serial);
std::string serial_of(const X509* certificate);
/// SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` gives it.
Hash fingerprint_of(X509* certificate);
/// SHA-256 of the public key (SubjectPublicKeyInfo).
Hash fingerprint_of(EVP_PKEY* key);
/// The consortium that an authority's certificate may speak for; empty if it is no authority's.
std::string consortium_of(X509* authority);
/// The subject of authorities, requests and certificates; for people only.
void set_common_name(X509_NAME* subject, const std::string& name);

Key make_p256();
bool is_p256(EVP_PKEY* key);

/// Seconds since 1970, both inside.
struct Validity {
  int64_t from = 0, until = 0;
};
Validity validity_of(X509* certificate);

/// Every URI among the names.
std::vector<std::string> uris_in(const GENERAL_NAMES* names);
/// Of the one URI; none and two are errors.
Result<Identity> one_identity(const std::vector<std::string>& uris);
Result<Identity> identity_of(X509* certificate);

/// Owners' requests and certificates name the Ed25519 key that signs receipts, in an extension that
/// is not critical: an OCTET STRING of its 32 bytes. Its object identifier is a UUID under 2.25,
/// which needs no registration: 269387b0-66c1-4bc4-a81d-8378ce1c121d.
inline constexpr const char* kSignKeyOid = "2.25.51276683579285669807894157832390185501";
Extension sign_key_extension(const SignKey& key);
bool is_sign_key(X509_EXTENSION* extension);
/// Of the one such extension; nothing if there is none, two, or one of another form.
std::optional<SignKey> sign_key_of(const STACK_OF(X509_EXTENSION) * extensions);
std::optional<SignKey> sign_key_of(X509* certificate);

/// OpenSSL's own judgement: X509_V_OK, or why `authority` does not vouch for `certificate` used as
/// X509_PURPOSE_SSL_CLIENT or _SERVER.
int judge(X509* certificate, X509* authority, int purpose, int64_t now);

}  // namespace parley::net
