#include "parley/sim/seeded_entropy.h"

#include <openssl/evp.h>

namespace parley::sim {
namespace {

/// Looking the cipher up takes longer than encrypting a block.
const EVP_CIPHER* cipher() {
  static const EVP_CIPHER* const kCipher = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
  check(kCipher != nullptr);
  return kCipher;
}

}  // namespace

SeededEntropy::SeededEntropy(uint64_t seed, std::string_view label, uint64_t run)
    : Entropy(block_), cipher_(EVP_CIPHER_CTX_new()) {
  const Hash key = TupleBytes().add("parley simulation").add(seed).add(label).add(run).sha256();
  const uint8_t zero[16] = {};
  check(cipher_ != nullptr &&
        EVP_EncryptInit_ex2(cipher_, cipher(), key.data(), zero, nullptr) == 1);
}

SeededEntropy::~SeededEntropy() { EVP_CIPHER_CTX_free(cipher_); }

void SeededEntropy::refill() {  // In place: every word was set to zero when it was used.
  auto* bytes = reinterpret_cast<uint8_t*>(block_.words);
  int length = 0;
  check(EVP_EncryptUpdate(cipher_, bytes, &length, bytes, sizeof block_.words) == 1);
  for (uint64_t& word : block_.words)  // Little-endian on every machine.
    word = read_little_endian(reinterpret_cast<const uint8_t*>(&word));
  block_.left = kBlock;
}

}  // namespace parley::sim
