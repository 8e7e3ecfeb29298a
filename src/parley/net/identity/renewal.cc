#include "parley/net/identity/renewal.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <utility>

#include "parley/net/identity/x509.h"

namespace parley::net {
namespace {

constexpr const char* kLabel = "PARLEY RENEWAL";
constexpr std::string_view kPurpose = "parley renewal 1\n";  // Nothing else is signed like that.
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;

/// What the old key signs.
Bytes signed_text(std::string_view request) {
  const SigningRequest parsed = request_from(request);
  const int size = parsed ? i2d_X509_REQ(parsed.get(), nullptr) : -1;
  check(size > 0);
  Bytes text(kPurpose.begin(), kPurpose.end());
  text.resize(kPurpose.size() + static_cast<size_t>(size));
  unsigned char* der = text.data() + kPurpose.size();
  i2d_X509_REQ(parsed.get(), &der);
  return text;
}

/// The bytes in the one block with our label; nothing if there is none or there are two.
std::optional<Bytes> signature_in(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::optional<Bytes> found;
  bool twice = false;
  char *name = nullptr, *header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  while (PEM_read_bio(memory.get(), &name, &header, &data, &size) == 1) {
    if (std::string_view(name) == kLabel) {
      twice = found.has_value();
      const ByteView bytes(data, static_cast<size_t>(size));
      found.emplace(bytes.begin(), bytes.end());
    }
    OPENSSL_free(name), OPENSSL_free(header), OPENSSL_free(data);
  }
  ERR_clear_error();
  return twice ? std::nullopt : found;
}

bool is_signed_by(EVP_PKEY* key, const Bytes& text, const Bytes& signature) {
  const Digest digest(EVP_MD_CTX_new());
  const bool good = digest &&
                    EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
                    EVP_DigestVerify(digest.get(), signature.data(), signature.size(), text.data(),
                                     text.size()) == 1;
  ERR_clear_error();
  return good;
}

Error refused(const std::string& what) {
  return {Code::kIntegrity, "the renewal " + what,
          "The party joins anew (`parley join`), and you compare its key by phone."};
}

}  // namespace

std::string renewal_of(const Credentials& today, const Request& fresh) {
  const Key key = key_from(today.key);
  const Bytes text = signed_text(fresh.request);
  const Digest digest(EVP_MD_CTX_new());
  size_t size = 0;
  check(key && digest &&
        EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
        EVP_DigestSign(digest.get(), nullptr, &size, text.data(), text.size()) == 1);
  Bytes signature(size);
  check(EVP_DigestSign(digest.get(), signature.data(), &size, text.data(), text.size()) == 1);
  const Memory memory(BIO_new(BIO_s_mem()));
  check(PEM_write_bio(memory.get(), kLabel, "", signature.data(), static_cast<long>(size)) > 0);
  char* block = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &block);
  return fresh.request + today.certificate + std::string(block, static_cast<size_t>(length));
}

Result<std::optional<Hash>> renewed_key(std::string_view pem, const Asked& asked,
                                        const Authority& authority, const Revocations& revoked,
                                        Clock& clock) {
  if (pem.find(kLabel) == pem.npos) return std::optional<Hash>();
  const auto signature = signature_in(pem);
  const Certificate today = certificate_from(pem);
  if (!signature || !today) return refused("is damaged");
  const Certificate issuer = certificate_from(authority.certificate);
  const int verdict =
      judge(today.get(), issuer.get(), X509_PURPOSE_SSL_CLIENT, clock.unix_seconds());
  if (verdict != X509_V_OK)
    return refused(std::string("comes with a certificate that is not accepted: ") +
                   X509_verify_cert_error_string(verdict));
  if (revoked.has(serial_of(today.get()))) return refused("comes with a revoked certificate");
  const auto identity = identity_of(today.get());
  if (!identity || *identity != asked.identity)
    return refused("comes with another party's certificate");
  EVP_PKEY* key = X509_get0_pubkey(today.get());
  if (!is_signed_by(key, signed_text(asked.request), *signature))
    return refused("is not signed by the key of that certificate");
  return std::optional(fingerprint_of(key));
}

}  // namespace parley::net
