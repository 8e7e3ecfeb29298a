// Words handed to a sampler: the golden stream, and scripts of a test's own.
#pragma once

#include <openssl/evp.h>

#include <numeric>
#include <vector>

#include "parley/base/bytes.h"
#include "parley/base/entropy.h"

namespace parley::test {

/// A source that is asked for one word at a time.
class OneByOne : public Entropy {
 protected:
  OneByOne() : Entropy(block_) {}
  virtual uint64_t next() = 0;

 private:
  void refill() final {
    block_.words[kBlock - 1] = next();
    block_.left = 1;
  }
  Block block_;
};

/// RFC 8439 ChaCha20, key 00..1f, nonce and counter 0: the word source of the golden sequences.
class GoldenWords final : public OneByOne {
 public:
  GoldenWords() : stream_(1 << 16) {
    uint8_t key[32];
    std::iota(key, key + 32, uint8_t{0});
    const uint8_t counter_and_nonce[16] = {};
    const std::vector<uint8_t> zeros(stream_.size());
    EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
    int length = 0;
    check(EVP_EncryptInit_ex(cipher, EVP_chacha20(), nullptr, key, counter_and_nonce) == 1 &&
          EVP_EncryptUpdate(cipher, stream_.data(), &length, zeros.data(),
                            static_cast<int>(zeros.size())) == 1);
    EVP_CIPHER_CTX_free(cipher);
  }
  size_t used() const { return used_; }

 private:
  uint64_t next() override { return read_little_endian(&stream_.at(8 * used_++)); }
  std::vector<uint8_t> stream_;
  size_t used_ = 0;
};

/// Words handed in by a test.
class ScriptedWords final : public OneByOne {
 public:
  explicit ScriptedWords(std::vector<uint64_t> words) : words_(std::move(words)) {}
  size_t used() const { return used_; }

 private:
  uint64_t next() override { return words_.at(used_++); }
  std::vector<uint64_t> words_;
  size_t used_ = 0;
};

}  // namespace parley::test
