#include "parley/base/entropy.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <cstddef>
#include <cstring>

#include "parley/base/bytes.h"

namespace parley {
namespace {

constexpr uint64_t kAlive = 0x7061726c65790001;  // A cleared page does not hold it.
constexpr size_t kPage = 4096;
constexpr int kKeyBytes = 32;

void* private_page() {
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(page != MAP_FAILED);
  check(madvise(page, kPage, MADV_WIPEONFORK) == 0);  // Without it a fork would repeat noise.
  madvise(page, kPage, MADV_DONTDUMP);                // A core file needs no keys.
  return page;
}

/// Looking the cipher up takes as long as encrypting a block, so it is done once.
const EVP_CIPHER* cipher() {
  static const EVP_CIPHER* const kCipher = EVP_CIPHER_fetch(nullptr, "AES-256-CTR", nullptr);
  check(kCipher != nullptr);
  return kCipher;
}

}  // namespace

struct SystemEntropy::State {
  uint64_t alive;
  Block block;
  uint8_t key[kKeyBytes];  // after the words: one run of the cipher fills both
};

SystemEntropy::SystemEntropy() : SystemEntropy(static_cast<State*>(private_page())) {}

SystemEntropy::SystemEntropy(State* state) : Entropy(state->block), state_(state) {
  static_assert(sizeof(State) <= kPage);
}

SystemEntropy::~SystemEntropy() {
  OPENSSL_cleanse(state_, kPage);
  munmap(state_, kPage);
}

void SystemEntropy::renew() {
  OPENSSL_cleanse(state_->block.words, sizeof state_->block.words);
  state_->block.left = 0;
}

void SystemEntropy::refill() {
  // The kernel's own words go into every key, and not by way of a library that keeps a state: of a
  // virtual machine that was cloned or put back, the kernel may be all that differs.
  uint8_t key[kKeyBytes];
  check(getrandom(key, kKeyBytes, 0) == kKeyBytes);
  for (int i = 0; i < kKeyBytes; ++i) key[i] ^= state_->key[i];
  std::memset(state_->key, 0, kKeyBytes);  // All words are zero too: each was wiped.
  auto* bytes = reinterpret_cast<uint8_t*>(state_->block.words);
  constexpr int kBytes = sizeof state_->block.words + kKeyBytes;
  static_assert(offsetof(State, key) == offsetof(State, block) + sizeof(Block));
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  const uint8_t zero[16] = {};  // A key serves one refill, so the counter may start at zero.
  int length = 0;
  check(context != nullptr && EVP_EncryptInit_ex2(context, cipher(), key, zero, nullptr) == 1 &&
        EVP_EncryptUpdate(context, bytes, &length, bytes, kBytes) == 1 && length == kBytes);
  EVP_CIPHER_CTX_free(context);
  OPENSSL_cleanse(key, kKeyBytes);
  state_->block.left = kBlock;
  state_->alive = kAlive;
}

}  // namespace parley
