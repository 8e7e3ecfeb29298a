#include "parley/base/crypto/signature.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sodium.h>

#include <algorithm>
#include <cstdio>

#include "parley/base/crypto/token.h"

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

using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

}  // namespace

std::string to_text(const SignKey& key) { return std::string(kPrefix) + encode_base64(key.bytes); }

std::optional<SignKey> sign_key_from(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const auto bytes = decode_base64(text.substr(kPrefix.size()));
  return bytes ? std::optional(SignKey{*bytes}) : std::nullopt;
}

bool is_signed(const SignKey& key, ByteView bytes, const Signature& signature) {
  return crypto_sign_verify_detached(signature.data(), bytes.data(), bytes.size(),
                                     key.bytes.data()) == 0;
}

struct SigningKey::Secret {
  Seed seed{};
  std::array<uint8_t, crypto_sign_SECRETKEYBYTES> expanded{};
  SignKey key{};
  std::shared_ptr<const TokenKey> token{};  // then the others are empty
  ~Secret() {
    sodium_memzero(seed.data(), seed.size());
    sodium_memzero(expanded.data(), expanded.size());
  }
};

SigningKey::SigningKey(const Seed& seed) {
  check(sodium_init() >= 0);
  auto secret = std::make_shared<Secret>();
  secret->seed = seed;
  crypto_sign_seed_keypair(secret->key.bytes.data(), secret->expanded.data(), seed.data());
  secret_ = std::move(secret);
}

SigningKey SigningKey::make() {
  check(sodium_init() >= 0);
  Seed seed;
  randombytes_buf(seed.data(), seed.size());
  SigningKey key(seed);
  sodium_memzero(seed.data(), seed.size());
  return key;
}

Result<SigningKey> SigningKey::from_pem(std::string_view pem) {
  if (TokenKey::is_address(pem)) {  // It stays on its token, and the file has its address.
    auto secret = std::make_shared<Secret>();
    secret->token = TRY(TokenKey::open(pem, TokenKey::Kind::kEd25519));
    std::ranges::copy(secret->token->public_point(), secret->key.bytes.begin());
    SigningKey key(Seed{});
    key.secret_ = std::move(secret);
    return key;
  }
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  // No password is asked for: a daemon has nobody to ask.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  const Key key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr),
                EVP_PKEY_free);
  Seed seed;
  size_t size = seed.size();
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_private_key(key.get(), seed.data(), &size) != 1)
    return Error{Code::kInvalid, "is not an Ed25519 private key in PEM",
                 "Use the .sign file that `parley join` made."};
  SigningKey result(seed);
  sodium_memzero(seed.data(), seed.size());
  return result;
}

std::string SigningKey::pem() const {
  check(!secret_->token);
  const Key key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret_->seed.data(),
                                             secret_->seed.size()),
                EVP_PKEY_free);
  const Memory memory(BIO_new(BIO_s_secmem()), BIO_free);
  check(PEM_write_bio_PKCS8PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                      nullptr) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<size_t>(size)};
}

SignKey SigningKey::public_key() const { return secret_->key; }

Signature SigningKey::sign(ByteView bytes) const {
  Signature signature;
  if (secret_->token) {  // One that no longer signs ends us: what was paid for is in the ledger,
                         // and goes out later.
    const Bytes made = secret_->token->sign(bytes);
    if (made.empty())
      std::fputs("parley: the token with the key for receipts does not sign\n", stderr);
    check(made.size() == signature.size());
    std::ranges::copy(made, signature.begin());
    return signature;
  }
  crypto_sign_detached(signature.data(), nullptr, bytes.data(), bytes.size(),
                       secret_->expanded.data());
  return signature;
}

}  // namespace parley
