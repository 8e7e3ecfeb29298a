#include "parley/protocol/secagg/secrets.h"

#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>
#include <utility>

namespace parley::protocol {
namespace {

static_assert(sizeof(Secret32) == crypto_scalarmult_SCALARBYTES);
static_assert(sizeof(Hash) == crypto_scalarmult_BYTES);
static_assert(sizeof(Secret32) == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

std::array<unsigned char, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES> nonce(uint8_t number) {
  return {number};
}

/// Looking the cipher up takes as long as masking a short vector.
const EVP_CIPHER* cipher() {
  static const EVP_CIPHER* const kCipher = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
  check(kCipher != nullptr);
  return kCipher;
}

/// Calls use(words) for the stream of the seed, piece after piece as long as a cache holds.
template <class Use>
void each_piece(const Secret32& seed, size_t count, const Use& use) {
  constexpr size_t kPiece = 1024;
  static constexpr uint64_t kZeros[kPiece] = {};
  uint64_t stream[kPiece];
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  const uint8_t counter[16] = {};  // A seed serves one vector.
  check(context != nullptr &&
        EVP_EncryptInit_ex2(context, cipher(), seed.data(), counter, nullptr) == 1);
  for (size_t done = 0; done < count; done += kPiece) {
    const size_t words = std::min(kPiece, count - done);
    const int bytes = static_cast<int>(8 * words);
    int length = 0;
    check(EVP_EncryptUpdate(context, reinterpret_cast<uint8_t*>(stream), &length,
                            reinterpret_cast<const uint8_t*>(kZeros), bytes) == 1 &&
          length == bytes);
    use(done, std::span<const uint64_t>(stream, words));
  }
  EVP_CIPHER_CTX_free(context);
  sodium_memzero(stream, sizeof stream);
}

}  // namespace

Secret32 draw_secret(Entropy& entropy) {
  Secret32 secret;
  for (size_t i = 0; i < secret.size(); i += 8) {
    uint64_t word = entropy.word();
    for (size_t k = 0; k < 8; ++k, word >>= 8) secret[i + k] = static_cast<uint8_t>(word);
  }
  return secret;
}

AgreementKey::AgreementKey(const Secret32& secret) : secret_(secret) {
  check(crypto_scalarmult_base(public_.data(), secret_.data()) == 0);
}

AgreementKey AgreementKey::draw(Entropy& entropy) { return AgreementKey(draw_secret(entropy)); }
AgreementKey AgreementKey::from(const Secret32& secret) { return AgreementKey(secret); }

AgreementKey::AgreementKey(AgreementKey&& other) noexcept
    : secret_(other.secret_), public_(other.public_) {
  sodium_memzero(other.secret_.data(), other.secret_.size());
}

AgreementKey& AgreementKey::operator=(AgreementKey&& other) noexcept {
  std::swap(secret_, other.secret_);
  std::swap(public_, other.public_);
  return *this;
}

AgreementKey::~AgreementKey() { sodium_memzero(secret_.data(), secret_.size()); }

Result<Secret32> AgreementKey::agree(const Hash& other, std::string_view label,
                                     const Hash& context) const {
  Secret32 point;
  if (crypto_scalarmult(point.data(), secret_.data(), other.data()) != 0)
    return Error{Code::kIntegrity, "a key of small order, with which anyone would know the secret"};
  const auto& [first, second] = std::minmax(public_, other);
  const Bytes text = TupleBytes().add(label).add(context).add(first).add(second).bytes();
  Secret32 key;
  check(crypto_generichash(key.data(), key.size(), text.data(), text.size(), point.data(),
                           point.size()) == 0);
  sodium_memzero(point.data(), point.size());
  return key;
}

Bytes seal(const Secret32& key, uint8_t number, const Hash& context, ByteView message) {
  Bytes sealed(message.size() + crypto_aead_xchacha20poly1305_ietf_ABYTES);
  unsigned long long size = 0;
  check(crypto_aead_xchacha20poly1305_ietf_encrypt(sealed.data(), &size, message.data(),
                                                   message.size(), context.data(), context.size(),
                                                   nullptr, nonce(number).data(), key.data()) == 0);
  return sealed;
}

Result<Bytes> open(const Secret32& key, uint8_t number, const Hash& context, ByteView sealed) {
  if (sealed.size() < crypto_aead_xchacha20poly1305_ietf_ABYTES)
    return Error{Code::kIntegrity, "a sealed message that is cut short"};
  Bytes message(sealed.size() - crypto_aead_xchacha20poly1305_ietf_ABYTES);
  unsigned long long size = 0;
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(message.data(), &size, nullptr, sealed.data(),
                                                 sealed.size(), context.data(), context.size(),
                                                 nonce(number).data(), key.data()) != 0)
    return Error{Code::kIntegrity, "a sealed message that was changed, or is not for us"};
  return message;
}

void add_mask(const Secret32& seed, std::span<uint64_t> words) {
  each_piece(seed, words.size(), [&](size_t at, std::span<const uint64_t> stream) {
    for (size_t i = 0; i < stream.size(); ++i) words[at + i] += stream[i];
  });
}

void take_mask(const Secret32& seed, std::span<uint64_t> words) {
  each_piece(seed, words.size(), [&](size_t at, std::span<const uint64_t> stream) {
    for (size_t i = 0; i < stream.size(); ++i) words[at + i] -= stream[i];
  });
}

}  // namespace parley::protocol
