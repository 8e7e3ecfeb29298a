#include "parley/sim/seeded_entropy.h"

#include <openssl/evp.h>

namespace parley::sim {

SeededEntropy::SeededEntropy(uint64_t seed, std::string_view label, uint64_t run)
    : cipher_(EVP_CIPHER_CTX_new()), buffer_(4096), used_(buffer_.size()) {
  const Hash key = TupleBytes().add("parley simulation").add(seed).add(label).add(run).sha256();
  const uint8_t zero[16] = {};
  check(cipher_ != nullptr &&
        EVP_EncryptInit_ex(cipher_, EVP_aes_256_ctr(), nullptr, key.data(), zero) == 1);
}

SeededEntropy::~SeededEntropy() { EVP_CIPHER_CTX_free(cipher_); }

uint64_t SeededEntropy::word() {
  if (used_ == buffer_.size()) {
    const std::vector<uint8_t> zeros(buffer_.size());
    int length = 0;
    check(EVP_EncryptUpdate(cipher_, buffer_.data(), &length, zeros.data(),
                            static_cast<int>(zeros.size())) == 1);
    used_ = 0;
  }
  used_ += 8;
  return read_little_endian(&buffer_[used_ - 8]);
}

}  // namespace parley::sim
