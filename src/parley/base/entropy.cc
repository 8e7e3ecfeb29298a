#include "parley/base/entropy.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/mman.h>

#include <cstring>

#include "parley/base/bytes.h"

namespace parley {
namespace {

constexpr uint64_t kAlive = 0x7061726c65790001;  // A cleared page does not hold it.
constexpr int kKeyBytes = 32;
constexpr int kWords = 496;
constexpr uint64_t kRefillsPerSeed = 1 << 14;  // Fresh kernel randomness every 64 MiB.

}  // namespace

struct SystemEntropy::State {
  uint64_t alive;
  uint64_t used;     // words handed out of `words`
  uint64_t refills;  // since the last key from the kernel
  uint8_t key[kKeyBytes];
  uint64_t words[kWords];
};

SystemEntropy::SystemEntropy() {
  static_assert(sizeof(State) <= 4096);
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(page != MAP_FAILED);
  check(madvise(page, 4096, MADV_WIPEONFORK) == 0);  // Without it a fork would repeat noise.
  madvise(page, 4096, MADV_DONTDUMP);                // A core file needs no keys.
  state_ = static_cast<State*>(page);
}

SystemEntropy::~SystemEntropy() {
  OPENSSL_cleanse(state_, 4096);
  munmap(state_, 4096);
}

uint64_t SystemEntropy::word() {
  if (state_->alive != kAlive || state_->used == kWords) refill();
  const uint64_t word = state_->words[state_->used];
  state_->words[state_->used++] = 0;
  return word;
}

void SystemEntropy::refill() {
  if (state_->alive != kAlive || state_->refills == kRefillsPerSeed) {
    check(RAND_priv_bytes(state_->key, kKeyBytes) == 1);
    state_->refills = 0;
  }
  struct {
    uint8_t key[kKeyBytes];
    uint64_t words[kWords];
  } fresh{};
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  const uint8_t zero[16] = {};  // A key serves one refill, so the counter may start at zero.
  int length = 0;
  check(cipher != nullptr &&
        EVP_EncryptInit_ex(cipher, EVP_aes_256_ctr(), nullptr, state_->key, zero) == 1 &&
        EVP_EncryptUpdate(cipher, reinterpret_cast<uint8_t*>(&fresh), &length,
                          reinterpret_cast<const uint8_t*>(&fresh), sizeof fresh) == 1 &&
        length == sizeof fresh);
  EVP_CIPHER_CTX_free(cipher);
  std::memcpy(state_->key, fresh.key, kKeyBytes);
  std::memcpy(state_->words, fresh.words, sizeof fresh.words);
  OPENSSL_cleanse(&fresh, sizeof fresh);
  state_->used = 0;
  ++state_->refills;
  state_->alive = kAlive;
}

}  // namespace parley
