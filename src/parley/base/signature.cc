#include "parley/base/signature.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

namespace parley {
namespace {

constexpr std::string_view kPrefix = "ed25519:";
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string encode_base64(const Hash& bytes) {
  std::string text;
  uint32_t bits = 0;
  int held = 0;
  for (const uint8_t byte : bytes) {
    bits = (bits << 8 | byte) & 0xffff;
    for (held += 8; held >= 6; held -= 6) text += kDigits[bits >> (held - 6) & 63];
  }
  return text + kDigits[bits << (6 - held) & 63] + "=";
}

/// The 32 bytes of 43 base64 digits and "=", in the only way to write them.
std::optional<Hash> decode_base64(std::string_view text) {
  if (text.size() != 44 || text.back() != '=') return std::nullopt;
  Hash bytes{};
  uint32_t bits = 0;
  for (size_t i = 0, at = 0, held = 0; i < 43; ++i) {
    const size_t digit = kDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<uint32_t>(digit)) & 0xffff;
    held += 6;
    if (held >= 8) held -= 8, bytes[at++] = static_cast<uint8_t>(bits >> held);
  }
  if ((bits & 3) != 0) return std::nullopt;
  return bytes;
}

std::shared_ptr<void> owned(EVP_PKEY* key) {
  return {key, [](void* held) { EVP_PKEY_free(static_cast<EVP_PKEY*>(held)); }};
}

EVP_PKEY* key_of(const std::shared_ptr<void>& held) { return static_cast<EVP_PKEY*>(held.get()); }

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

}  // namespace

std::string to_text(const SignKey& key) { return std::string(kPrefix) + encode_base64(key.bytes); }

std::optional<SignKey> sign_key_from(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const auto bytes = decode_base64(text.substr(kPrefix.size()));
  return bytes ? std::optional(SignKey{*bytes}) : std::nullopt;
}

bool is_signed(const SignKey& key, ByteView bytes, const Signature& signature) {
  const auto handle = owned(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return handle && context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_of(handle)) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), bytes.data(),
                          bytes.size()) == 1;
}

SigningKey SigningKey::make() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  check(key != nullptr);
  return SigningKey(owned(key));
}

Result<SigningKey> SigningKey::from_pem(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  // No password is asked for: a daemon has nobody to ask.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  EVP_PKEY* key = PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr);
  SigningKey result(owned(key));
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519)
    return Error{Code::kInvalid, "is not an Ed25519 private key in PEM",
                 "Use the .sign file that `parley join` made."};
  return result;
}

std::string SigningKey::pem() const {
  const Memory memory(BIO_new(BIO_s_secmem()), BIO_free);
  check(PEM_write_bio_PKCS8PrivateKey(memory.get(), key_of(key_), nullptr, nullptr, 0, nullptr,
                                      nullptr) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<size_t>(size)};
}

SignKey SigningKey::public_key() const {
  SignKey key;
  size_t size = key.bytes.size();
  check(EVP_PKEY_get_raw_public_key(key_of(key_), key.bytes.data(), &size) == 1);
  return key;
}

Signature SigningKey::sign(ByteView bytes) const {
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  Signature signature{};
  size_t size = signature.size();
  check(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_of(key_)) == 1 &&
        EVP_DigestSign(context.get(), signature.data(), &size, bytes.data(), bytes.size()) == 1);
  return signature;
}

}  // namespace parley
