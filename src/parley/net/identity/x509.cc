#include "parley/net/identity/x509.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <ctime>

#include "parley/base/crypto/token.h"
#include "parley/base/crypto/token_evp.h"

namespace parley::net {
namespace {

Memory reading(std::string_view text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_in(const Memory& memory) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<size_t>(size)};
}

// A daemon has nobody to ask.
int no_password(char*, int, int, void*) { return -1; }

int64_t seconds_of(const ASN1_TIME* time) {
  std::tm utc{};
  return ASN1_TIME_to_tm(time, &utc) == 1 ? timegm(&utc) : 0;
}

/// What failed to parse must not be found later by someone who asks why a connection failed.
template <class T>
T quietly(T value) {
  ERR_clear_error();
  return value;
}

using Object = std::unique_ptr<ASN1_OBJECT, Freed<ASN1_OBJECT_free>>;
Object sign_key_object() {
  Object made(OBJ_txt2obj(kSignKeyOid, 1));
  check(made != nullptr);
  return made;
}

/// In DER: an OCTET STRING, and its length.
constexpr uint8_t kKeyHead[] = {V_ASN1_OCTET_STRING, sizeof(SignKey::bytes)};

}  // namespace

Certificate certificate_from(std::string_view pem) {
  auto all = certificates_from(pem);
  return all && all->size() == 1 ? std::move(all->front()) : nullptr;
}

std::optional<std::vector<Certificate>> certificates_from(std::string_view pem) {
  const Memory memory = reading(pem);
  std::vector<Certificate> all;
  ERR_clear_error();
  while (X509* next = PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr))
    all.emplace_back(next);
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  return quietly(ended ? std::optional(std::move(all)) : std::nullopt);
}

SigningRequest request_from(std::string_view pem) {
  const Memory memory = reading(pem);
  return quietly(
      SigningRequest(PEM_read_bio_X509_REQ(memory.get(), nullptr, no_password, nullptr)));
}

Key key_from(std::string_view pem) {
  if (TokenKey::is_address(pem)) {
    const auto on_token = open_token_pkey(pem);
    return quietly(Key(on_token ? *on_token : nullptr));
  }
  const Memory memory = reading(pem);
  return quietly(Key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr)));
}

std::string pem_of(X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_X509(memory.get(), certificate) == 1);
  return text_in(memory);
}

std::string pem_of(X509_REQ* request) {
  const Memory memory(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_X509_REQ(memory.get(), request) == 1);
  return text_in(memory);
}

std::string private_pem_of(EVP_PKEY* key) {
  const Memory memory(BIO_new(BIO_s_secmem()));
  check(PEM_write_bio_PKCS8PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) ==
        1);
  return text_in(memory);
}

std::string serial_text(const ASN1_INTEGER* serial) {
  constexpr int kBytesMin = 16;
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(ASN1_INTEGER_to_BN(serial, nullptr));
  check(number != nullptr);
  Bytes bytes(static_cast<size_t>(std::max(kBytesMin, BN_num_bytes(number.get()))));
  check(BN_bn2binpad(number.get(), bytes.data(), static_cast<int>(bytes.size())) >= 0);
  return (BN_is_negative(number.get()) == 1 ? "-" : "") + to_hex(bytes);
}

std::string serial_of(const X509* certificate) {
  return serial_text(X509_get0_serialNumber(certificate));
}

Hash fingerprint_of(X509* certificate) {
  Hash hash{};
  check(X509_digest(certificate, EVP_sha256(), hash.data(), nullptr) == 1);
  return hash;
}

Hash fingerprint_of(EVP_PKEY* key) {
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(key, &bytes);
  check(size > 0);
  const Hash hash = sha256({bytes, static_cast<size_t>(size)});
  OPENSSL_free(bytes);
  return hash;
}

std::string consortium_of(X509* authority) {
  const std::unique_ptr<NAME_CONSTRAINTS, Freed<NAME_CONSTRAINTS_free>> limits(
      static_cast<NAME_CONSTRAINTS*>(
          X509_get_ext_d2i(authority, NID_name_constraints, nullptr, nullptr)));
  if (X509_check_ca(authority) != 1 || !limits ||
      sk_GENERAL_SUBTREE_num(limits->permittedSubtrees) != 1)
    return "";
  const GENERAL_NAME* name = sk_GENERAL_SUBTREE_value(limits->permittedSubtrees, 0)->base;
  if (name->type != GEN_URI) return "";
  const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
          static_cast<size_t>(ASN1_STRING_length(uri))};
}

void set_common_name(X509_NAME* subject, const std::string& name) {
  check(X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(name.data()),
                                   static_cast<int>(name.size()), -1, 0) == 1);
}

Key make_p256() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  check(key != nullptr);
  return key;
}

bool is_p256(EVP_PKEY* key) {
  char group[32] = {};
  return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, group, sizeof group, nullptr) == 1 &&
         std::string_view(group) == "prime256v1";
}

Validity validity_of(X509* certificate) {
  return {seconds_of(X509_get0_notBefore(certificate)),
          seconds_of(X509_get0_notAfter(certificate))};
}

std::vector<std::string> uris_in(const GENERAL_NAMES* names) {
  std::vector<std::string> uris;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                      static_cast<size_t>(ASN1_STRING_length(uri)));
  }
  return uris;
}

Extension sign_key_extension(const SignKey& key) {
  const std::unique_ptr<ASN1_OCTET_STRING, Freed<ASN1_OCTET_STRING_free>> value(
      ASN1_OCTET_STRING_new());
  Bytes der(std::begin(kKeyHead), std::end(kKeyHead));
  der.insert(der.end(), key.bytes.begin(), key.bytes.end());
  check(value && ASN1_OCTET_STRING_set(value.get(), der.data(), static_cast<int>(der.size())) == 1);
  Extension made(X509_EXTENSION_create_by_OBJ(nullptr, sign_key_object().get(), 0, value.get()));
  check(made != nullptr);
  return made;
}

bool is_sign_key(X509_EXTENSION* extension) {
  return OBJ_cmp(X509_EXTENSION_get_object(extension), sign_key_object().get()) == 0;
}

std::optional<SignKey> sign_key_of(const STACK_OF(X509_EXTENSION) * extensions) {
  const Object object = sign_key_object();
  const int at = X509v3_get_ext_by_OBJ(extensions, object.get(), -1);
  if (at < 0 || X509v3_get_ext_by_OBJ(extensions, object.get(), at) >= 0) return std::nullopt;
  const ASN1_OCTET_STRING* value = X509_EXTENSION_get_data(X509v3_get_ext(extensions, at));
  const ByteView der(ASN1_STRING_get0_data(value), static_cast<size_t>(ASN1_STRING_length(value)));
  SignKey key;
  if (der.size() != sizeof kKeyHead + key.bytes.size() ||
      !std::equal(std::begin(kKeyHead), std::end(kKeyHead), der.begin()))
    return std::nullopt;
  std::copy(der.begin() + sizeof kKeyHead, der.end(), key.bytes.begin());
  return key;
}

std::optional<SignKey> sign_key_of(X509* certificate) {
  return sign_key_of(X509_get0_extensions(certificate));
}

int judge(X509* certificate, X509* authority, int purpose, int64_t now) {
  const std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  check(store && context && X509_STORE_add_cert(store.get(), authority) == 1 &&
        X509_STORE_CTX_init(context.get(), store.get(), certificate, nullptr) == 1);
  X509_STORE_CTX_set_time(context.get(), 0, now);
  check(X509_STORE_CTX_set_purpose(context.get(), purpose) == 1);
  const bool good = X509_verify_cert(context.get()) == 1;
  return quietly(good ? X509_V_OK : X509_STORE_CTX_get_error(context.get()));
}

}  // namespace parley::net
