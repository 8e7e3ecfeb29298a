#include "parley/protocol/vertical/ot/hashes.h"

#include <openssl/evp.h>
#include <sodium.h>

#include <algorithm>
#include <string>

namespace parley::protocol::ot {
namespace {

constexpr size_t kPiece = 512;  // Blocks at a time: what lies between two steps stays in the cache.

const EVP_CIPHER* aes_blocks() {
  static const EVP_CIPHER* const kCipher = EVP_CIPHER_fetch(nullptr, "AES-128-ECB", nullptr);
  check(kCipher != nullptr);
  return kCipher;
}

void add_number(crypto_generichash_state& state, uint32_t number) {
  uint8_t bytes[4];
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(number);
    number >>= 8;
  }
  check(crypto_generichash_update(&state, bytes, sizeof bytes) == 0);
}

}  // namespace

void session_hash(const Direction& direction, std::string_view label,
                  std::span<const uint32_t> numbers, std::span<const ByteView> rest,
                  std::span<uint8_t> out) {
  crypto_generichash_state state;
  check(crypto_generichash_init(&state, direction.session.data(), direction.session.size(),
                                out.size()) == 0);
  check(crypto_generichash_update(&state, parley::as_bytes(label).data(), label.size()) == 0);
  add_number(state, direction.receiver);
  add_number(state, direction.sender);
  for (const uint32_t number : numbers) add_number(state, number);
  for (const ByteView bytes : rest)
    check(crypto_generichash_update(&state, bytes.data(), bytes.size()) == 0);
  check(crypto_generichash_final(&state, out.data(), out.size()) == 0);
  sodium_memzero(&state, sizeof state);
}

Block public_key(const Direction& direction, std::string_view label, uint32_t index) {
  uint8_t bytes[16];
  session_hash(direction, label, {&index, 1}, {}, bytes);
  return std::bit_cast<Block>(bytes);
}

void Aes::Free::operator()(void* context) const {
  EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(context));
}

Aes::Aes(const Block& key) : context_(EVP_CIPHER_CTX_new()) {
  auto* context = static_cast<EVP_CIPHER_CTX*>(context_.get());
  const auto bytes = std::bit_cast<std::array<uint8_t, 16>>(key);
  check(context != nullptr &&
        EVP_EncryptInit_ex2(context, aes_blocks(), bytes.data(), nullptr, nullptr) == 1 &&
        EVP_CIPHER_CTX_set_padding(context, 0) == 1);
}

void Aes::encrypt(std::span<const Block> in, std::span<Block> out) const {
  check(in.size() == out.size());
  auto* context = static_cast<EVP_CIPHER_CTX*>(context_.get());
  constexpr size_t kMost = size_t{1} << 26;  // Blocks: OpenSSL counts bytes in an int.
  for (size_t at = 0; at < in.size(); at += kMost) {
    const int bytes = static_cast<int>(std::min(kMost, in.size() - at) * sizeof(Block));
    int length = 0;
    check(EVP_EncryptUpdate(context, reinterpret_cast<uint8_t*>(out.data() + at), &length,
                            reinterpret_cast<const uint8_t*>(in.data() + at), bytes) == 1 &&
          length == bytes);
  }
}

void hash_each(const Aes& pi, std::span<const Block> in, std::span<Block> out) {
  pi.encrypt(in, out);
  for (size_t i = 0; i < in.size(); ++i) out[i] ^= in[i];
}

void hash_transfers(const Aes& pi, std::span<const Block> rows, uint64_t first,
                    std::span<Block> out) {
  check(rows.size() == out.size());
  std::array<Block, kPiece> once, tweaked;
  for (size_t at = 0; at < rows.size(); at += kPiece) {
    const size_t count = std::min(kPiece, rows.size() - at);
    pi.encrypt(rows.subspan(at, count), std::span(once).first(count));
    for (size_t i = 0; i < count; ++i) tweaked[i] = once[i] ^ Block { first + at + i, 0 };
    pi.encrypt(std::span(tweaked).first(count), out.subspan(at, count));
    for (size_t i = 0; i < count; ++i) out[at + i] ^= once[i];
  }
  sodium_memzero(once.data(), sizeof once);
  sodium_memzero(tweaked.data(), sizeof tweaked);
}

void key_stream(const Block& key, uint64_t first, std::span<Block> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = {first + i, 0};
  Aes(key).encrypt(out, out);  // In place, as OpenSSL allows.
}

LeafWords::LeafWords(const Direction& direction, size_t columns) : columns_(columns) {
  for (uint32_t pair = 0; pair < (columns + 1) / 2; ++pair)
    aes_.emplace_back(public_key(direction, "word", pair));
}

void LeafWords::of(std::span<const Block> leaves, WipedVector<uint64_t>& words) const {
  words.resize(leaves.size() * columns_);
  std::array<Block, kPiece> hashed;
  for (size_t at = 0; at < leaves.size(); at += kPiece) {
    const size_t count = std::min(kPiece, leaves.size() - at);
    for (size_t pair = 0; pair < aes_.size(); ++pair) {
      hash_each(aes_[pair], leaves.subspan(at, count), std::span(hashed).first(count));
      uint64_t* to = words.data() + at * columns_ + 2 * pair;
      const bool both = 2 * pair + 1 < columns_;
      for (size_t i = 0; i < count; ++i, to += columns_) {
        to[0] = hashed[i].low;
        if (both) to[1] = hashed[i].high;
      }
    }
  }
  sodium_memzero(hashed.data(), sizeof hashed);
}

}  // namespace parley::protocol::ot
